// axolotl 0.18.0: core/builders/rl.py and causal.py, core/trainers, loaders/model.py; trl 1.8.0, which it pins.
#include "preference.hpp"

#include <algorithm>
#include <array>

#include "../../condition.hpp"

namespace oomplan::ingestion::axolotl {
namespace {

struct Trainer {
  std::string_view name{};
  RecipeKind kind{};
};

constexpr auto trainers = std::to_array<Trainer>({{"dpo", RecipeKind::dpo},
                                                  {"kto", RecipeKind::kto},
                                                  {"orpo", RecipeKind::reference_free},
                                                  {"cpo", RecipeKind::reference_free},
                                                  {"reward", RecipeKind::reward}});

const Input* find(const Inputs& inputs, std::string_view key) {
  const auto found = std::ranges::find(inputs, key, &Input::key);
  return found == inputs.end() ? nullptr : &*found;
}

void cannot(std::string_view feature, const Origin& origin, Draft& draft) {
  draft.plan.unmodelled.push_back({std::string(feature), origin.source, origin.where});
}

/// No layer of a stack: its rules are those of this one version.
Origin trl(const Stack& stack, std::string_view where) {
  return stack.origin("axolotl", "trl 1.8.0's " + std::string(where));
}

bool adapts(const TrainingPlan& plan) { return plan.adapter.kind.value != Adapter::none; }

// train.py: setup_reference_model loads another model where there is no adapter, whoever takes it.
void plan_reference(const Arguments& a, const Stack& stack, Draft& draft) {
  TrainingPlan& plan = draft.plan;
  const auto precomputed = a.get<bool>("precompute_ref_log_probs");
  const bool before = is(precomputed, true) && plan.recipe.kind.value == RecipeKind::dpo;
  plan.recipe.reference_rows = {0, trl(stack, "precompute_ref_batch_size")};
  plan.batch.completion_length = {0, assumed("all of the longest row but its first token may be a completion")};
  if (adapts(plan)) {
    plan.recipe.reference = {before ? Reference::precomputed : Reference::adapter_off,
                             before ? precomputed.origin : plan.adapter.kind.origin};
    if (!before) derive(plan.recipe.reference.origin, "so that the policy without it is the reference");
    return;
  }
  plan.recipe.reference = {Reference::model, stack.origin("axolotl", "setup_reference_model")};
  if (before) cannot("a reference that stays loaded once it has scored the rows", precomputed.origin, draft);
}

// trl/trainer/dpo_trainer.py and kto_trainer.py: trained weights beside a quantized base go to bf16.
void lower_adapter(const Stack& stack, TrainingPlan& plan) {
  if (!adapts(plan) || plan.quantization.kind.value == Quantization::none) return;
  plan.adapter.dtype = {AdapterDType::bf16, trl(stack, "trainer, beside a quantized model")};
}

void plan_scored(const Arguments& a, const Stack& stack, Draft& draft) {
  plan_reference(a, stack, draft);
  lower_adapter(stack, draft.plan);
}

void plan_kto(const Arguments& a, const Stack& stack, Draft& draft) {
  TrainingPlan& plan = draft.plan;
  plan_scored(a, stack, draft);
  plan.recipe.second_term = {true, trl(stack, "KTOConfig")};
  if (!adapts(plan))
    cannot("KTO without an adapter, whose reference TRL loads in a dtype of its own", plan.recipe.trainer.origin,
           draft);
}

void plan_reference_free(const Arguments& a, const Stack& stack, Draft& draft) {
  TrainingPlan& plan = draft.plan;
  const bool simpo = plan.recipe.trainer.value == "cpo";
  const auto alpha = a.get<double>("cpo_alpha");
  plan.recipe.second_term = {!simpo || alpha.value.value_or(1.0) != 0.0,
                             simpo && alpha.value ? alpha.origin : trl(stack, simpo ? "CPOConfig" : "ORPOTrainer")};
  if (simpo && !adapts(plan))
    cannot("SimPO without an adapter, for which Axolotl loads a reference that nobody takes",
           plan.recipe.trainer.origin, draft);
}

/// Asks for a class with a head of scores; `key` is either name of the key.
void allow_class(const Inputs& inputs, std::string_view key, Draft& draft) {
  const Node* node = find_value(inputs, key);
  if (node == nullptr || !node->text.ends_with("ForSequenceClassification")) return;
  std::erase_if(draft.plan.unmodelled, [&](const Unmodelled& gap) { return gap.key == key; });
}

// loaders/adapter.py: the adapter is one of SEQ_CLS, which trains the head too (peft/peft_model.py).
void plan_reward(const Inputs& inputs, Draft& draft) {
  allow_class(inputs, "model_type", draft);
  allow_class(inputs, "type_of_model", draft);
  auto& saved = draft.plan.adapter.modules_to_save;
  if (!adapts(draft.plan) || std::ranges::count(saved.value, "score") > 0) return;
  saved.value.emplace_back("score");
  derive(saved.origin, "and the head, which an adapter of a model of scores trains");
}

// monkeypatch/trainer/utils.py, put in TRL's place before its trainers are imported.
void plan_kernel(const Stack& stack, Draft& draft) {
  TrainingPlan& plan = draft.plan;
  if (plan.recipe.loss.value != Loss::full_logits)
    cannot("a loss of the model's own in preference training", plan.recipe.loss.origin, draft);
  plan.recipe.loss = {Loss::full_logits, trl(stack, "trainer, which takes the model's logits")};
  const bool scores = plan.recipe.kind.value != RecipeKind::reward;
  plan.kernels.patched_log_softmax = {scores, stack.origin("axolotl", "_apply_trl_trainer_utils_patches")};
}

// TRL's configs checkpoint where nobody says anything: the builder passes on what is not null.
void plan_checkpoints(const Inputs& inputs, const Stack& stack, TrainingPlan& plan) {
  const Node* said = find_value(inputs, "gradient_checkpointing");
  if (said != nullptr && said->kind == Node::Kind::null)
    plan.checkpointing.on = {true, trl(stack, "_BaseConfig, as gradient_checkpointing is null")};
}

}  // namespace

bool is_rl(const Inputs& inputs) {
  const Node* rl = find_value(inputs, "rl");
  return rl != nullptr && is_set(*rl);
}

void plan_preference(const Arguments& a, const Inputs& inputs, const Stack& stack, Draft& draft) {
  TrainingPlan& plan = draft.plan;
  const auto* trainer = std::ranges::find(trainers, plan.recipe.trainer.value, &Trainer::name);
  if (trainer == trainers.end()) return;
  plan.recipe.kind = {trainer->kind, plan.recipe.trainer.origin};
  if (trainer->kind == RecipeKind::dpo) plan_scored(a, stack, draft);
  if (trainer->kind == RecipeKind::kto) plan_kto(a, stack, draft);
  if (trainer->kind == RecipeKind::reference_free) plan_reference_free(a, stack, draft);
  if (trainer->kind == RecipeKind::reward) plan_reward(inputs, draft);
  plan_kernel(stack, draft);
  plan_checkpoints(inputs, stack, plan);
  plan.batch.padding_mask = {true, assumed("rows of a batch differ in length and are padded")};
}

void check_preference(const Inputs& inputs, Draft& draft, const Document& document) {
  const TrainingPlan& plan = draft.plan;
  if (plan.recipe.kind.value == RecipeKind::kto && plan.batch.micro_batch_size.value == 1) {
    conflict(draft, plan.batch.micro_batch_size.origin, document,
             "micro_batch_size: TRL's KTOTrainer refuses a batch of one row, whose completion has no other prompt");
  }
  const Input* asks = find(inputs, "reward_model");
  const Node* type = find_value(inputs, "model_type");
  if (type == nullptr || !is_set(*type)) type = find_value(inputs, "type_of_model");
  if (plan.recipe.kind.value != RecipeKind::reward || asks == nullptr || type == nullptr || !is_set(*type)) return;
  if (type->text.ends_with("ForSequenceClassification")) return;
  conflict(draft, origin_of(*asks), document,
           "reward_model: TRL's RewardTrainer wants a model of scores: model_type: AutoModelForSequenceClassification");
}

}  // namespace oomplan::ingestion::axolotl
