
#include <algorithm>
#include <array>
#include <span>

#include "../../condition.hpp"
#include "../../evaluation.hpp"
#include "../../key_versions.hpp"
#include "../../versions.hpp"
#include "derive.hpp"

namespace oomplan::ingestion::hf {
namespace {

using Names = std::span<const std::string_view>;

// Of each trainer's config, fields that other trainers than SFT have too, or that only it has. Numbers within the loss,
// fields of encoder-decoders, or read here.
constexpr auto dpo_own = std::to_array<std::string_view>(
    {"beta", "disable_dropout", "discopop_tau", "f_alpha_divergence_coef", "f_divergence_type", "ld_alpha",
     "label_smoothing", "loss_type", "loss_weights", "ref_model_mixup_alpha", "ref_model_sync_steps", "use_weighting"});
// Of trl 0.15 to 0.28, fields that it gave up since, of which comes no memory or, of the lengths, shorter rows.
constexpr auto dpo_former =
    std::to_array<std::string_view>({"base_model_attribute_name", "label_pad_token_id", "max_completion_length",
                                     "max_prompt_length", "padding_value", "reference_free", "tools"});
constexpr auto orpo_own = std::to_array<std::string_view>({"beta", "disable_dropout", "max_completion_length"});
constexpr auto cpo_own = std::to_array<std::string_view>(
    {"alpha", "beta", "cpo_alpha", "disable_dropout", "label_smoothing", "max_completion_length", "simpo_gamma"});
constexpr auto kto_own =
    std::to_array<std::string_view>({"beta", "desirable_weight", "disable_dropout", "ref_model_mixup_alpha",
                                     "ref_model_sync_steps", "undesirable_weight"});
constexpr auto reward_own = std::to_array<std::string_view>({"center_rewards_coefficient", "disable_dropout"});

template <std::size_t A, std::size_t B>
constexpr std::array<std::string_view, A + B> joined(const std::array<std::string_view, A>& first,
                                                     const std::array<std::string_view, B>& second) {
  std::array<std::string_view, A + B> out{};
  std::ranges::copy(second, std::ranges::copy(first, out.begin()).out);
  return out;
}

// Of those, what vLLM is told reaches a server elsewhere; rollout.cpp reads how transformers generates.
constexpr auto of_rollouts = std::to_array<std::string_view>({"beta",
                                                              "cache_implementation",
                                                              "chat_template_kwargs",
                                                              "disable_dropout",
                                                              "ds3_gather_for_generation",
                                                              "epsilon",
                                                              "epsilon_high",
                                                              "generation_batch_size",
                                                              "generation_kwargs",
                                                              "log_completions",
                                                              "log_multimodal",
                                                              "log_unique_prompts",
                                                              "mask_truncated_completions",
                                                              "max_completion_length",
                                                              "max_prompt_length",
                                                              "min_p",
                                                              "num_completions_to_print",
                                                              "num_generations",
                                                              "num_generations_eval",
                                                              "num_iterations",
                                                              "repetition_penalty",
                                                              "reward_funcs",
                                                              "reward_model_name_or_path",
                                                              "reward_weights",
                                                              "steps_per_generation",
                                                              "sync_ref_model",
                                                              "temperature",
                                                              "top_k",
                                                              "top_p",
                                                              "transformers_continuous_batching_config",
                                                              "use_transformers_continuous_batching",
                                                              "use_transformers_paged",
                                                              "use_vllm",
                                                              "vllm_enable_sleep_mode",
                                                              "vllm_gpu_memory_utilization",
                                                              "vllm_group_port",
                                                              "vllm_max_model_length",
                                                              "vllm_mode",
                                                              "vllm_model_impl",
                                                              "vllm_server_base_url",
                                                              "vllm_server_host",
                                                              "vllm_server_port",
                                                              "vllm_server_timeout",
                                                              "vllm_structured_outputs_regex",
                                                              "vllm_tensor_parallel_size"});
constexpr auto grpo_own = joined(of_rollouts, std::to_array<std::string_view>({"cast_lm_head_to_fp32",
                                                                               "delta",
                                                                               "entropy_coef",
                                                                               "entropy_coef_delta",
                                                                               "entropy_coef_max",
                                                                               "entropy_coef_min",
                                                                               "entropy_target",
                                                                               "importance_sampling_level",
                                                                               "log_completions_hub_repo",
                                                                               "max_tool_calling_iterations",
                                                                               "multi_objective_aggregation",
                                                                               "off_policy_mask_threshold",
                                                                               "sapo_temperature_neg",
                                                                               "sapo_temperature_pos",
                                                                               "scale_rewards",
                                                                               "top_entropy_quantile",
                                                                               "use_adaptive_entropy",
                                                                               "use_bias_correction_kl",
                                                                               "vespo_k_neg",
                                                                               "vespo_k_pos",
                                                                               "vespo_lambda_neg",
                                                                               "vespo_lambda_pos",
                                                                               "vllm_importance_sampling_cap",
                                                                               "vllm_importance_sampling_clip_max",
                                                                               "vllm_importance_sampling_clip_min",
                                                                               "vllm_importance_sampling_correction",
                                                                               "vllm_importance_sampling_mode"}));
constexpr auto rloo_own =
    joined(of_rollouts, std::to_array<std::string_view>({"normalize_advantages", "reward_clip_range"}));

constexpr auto gkd_own =
    std::to_array<std::string_view>({"beta", "disable_dropout", "lmbda", "max_new_tokens", "seq_kd",
                                     "teacher_model_init_kwargs", "teacher_model_name_or_path", "temperature"});

constexpr auto cpo_losses = std::to_array<std::string_view>({"sigmoid", "hinge", "ipo", "simpo", "alphapo"});
constexpr auto kto_losses = std::to_array<std::string_view>({"kto", "apo_zero_unpaired"});
constexpr auto grpo_losses =
    std::to_array<std::string_view>({"grpo", "dapo", "bnpo", "dr_grpo", "luspo", "cispo", "sapo", "vespo"});
constexpr auto of_rewards = std::to_array<std::string_view>({"SEQ_CLS"});

// Arguments of SFTConfig about rows that other trainers' configs lack, and those that some have.
constexpr auto of_sft =
    std::to_array<std::string_view>({"assistant_only_loss", "completion_only_loss", "eval_packing", "packing",
                                     "packing_strategy", "pad_to_multiple_of", "padding_free"});
constexpr auto dpo_has = std::to_array<std::string_view>({"pad_to_multiple_of", "padding_free"});
constexpr auto multiple_has = std::to_array<std::string_view>({"pad_to_multiple_of"});

/// A trainer by its name, and what its plan is made of.
struct Trainer {
  std::string_view name{};
  std::string_view config{};
  RecipeKind kind{};
  Names own{};
  Names losses{};             ///< That are played; of others its loss_type stays a gap.
  Names has{};                ///< Of SFT's arguments about rows.
  std::string_view padded{};  ///< Why its rows are; empty: as any trainer's.
  void (*plan)(const Arguments& hf, const Inputs& inputs, const Stack& stack, Draft& draft) = nullptr;
  void (*check)(const Arguments& hf, const Inputs& inputs, Draft& draft, const Document& document) = nullptr;
};

bool is_one_of(const Node* node, Names names) { return node != nullptr && std::ranges::count(names, node->text) > 0; }

void forget(Names keys, Draft& draft) {
  std::erase_if(draft.plan.unmodelled, [&](const Unmodelled& gap) { return std::ranges::count(keys, gap.key) > 0; });
}

void forget_own(const Trainer& trainer, const Inputs& inputs, Draft& draft) {
  constexpr std::array<std::string_view, 1> loss{"loss_type"};
  constexpr std::array<std::string_view, 1> task{"lora_task_type"};
  forget(trainer.own, draft);
  if (is_one_of(find_value(inputs, "loss_type"), trainer.losses)) forget(loss, draft);
  if (trainer.kind == RecipeKind::reward && is_one_of(find_value(inputs, "lora_task_type"), of_rewards))
    forget(task, draft);
}

Setting<Reference> reference_of(const Arguments& hf, const Stack& stack, const TrainingPlan& plan) {
  const auto precomputed = hf.get<bool>("precompute_ref_log_probs");
  if (is(precomputed, true)) return {Reference::precomputed, precomputed.origin};
  if (plan.adapter.kind.value != Adapter::none) {
    Setting<Reference> out{Reference::adapter_off, plan.adapter.kind.origin};
    derive(out.origin, "so that the policy without it is the reference");
    return out;
  }
  return {Reference::model, stack.origin("trl", "the trainer, which loads the model a second time")};
}

// _precompute_ref_logps goes through both datasets.
Setting<std::int64_t> reference_rows(const Arguments& hf, const Stack& stack, const TrainingPlan& plan) {
  if (!hf.on("precompute_ref_log_probs")) return {0, stack.origin("trl", "precompute_ref_log_probs")};
  const Setting<std::int64_t>& training = plan.batch.micro_batch_size;
  const Setting<std::int64_t>& evaluation = plan.evaluation.rows;
  Setting<std::int64_t> out =
      plan.evaluation.evaluates.value && evaluation.value > training.value ? evaluation : training;
  give(out, hf.get<std::int64_t>("precompute_ref_batch_size"));
  return out;
}

/// As HfArgumentParser reads a flag.
bool is_flag(const Node& node, bool wanted) {
  const std::optional<FactValue> value = find_codec("argparse_boolean")->read(node);
  const bool* flag = value ? std::get_if<bool>(&*value) : nullptr;
  return flag != nullptr && *flag == wanted;
}

void note(const Inputs& inputs, std::string_view key, bool wanted, std::string_view feature, Draft& draft) {
  const auto found = std::ranges::find(inputs, key, &Input::key);
  if (found == inputs.end() || !is_flag(*found->value, wanted)) return;
  draft.plan.unmodelled.push_back({std::string(feature), std::string(key), origin_of(*found).where});
}

/// Before 1.0, whose trainers score by a head of their own.
bool is_former(std::string_view trl) { return is_older(trl, "1.0"); }

// DPOTrainer.tokenize_row: each part is cut by itself, prompts before 0.14 only where the config asks.
void cut_rows(std::string_view trl, const Inputs& inputs, TrainingPlan& plan) {
  const Node* prompt = find_value(inputs, "max_prompt_length");
  const auto said = std::ranges::find(inputs, "max_completion_length", &Input::key);
  const std::int64_t completion = said == inputs.end() ? 0 : said->value->as_integer().value_or(0);
  if (completion <= 0) return;
  plan.batch.completion_length = {completion, origin_of(*said)};
  const std::int64_t usual = is_older(trl, "0.14") ? 0 : 512;
  const std::int64_t longest = prompt == nullptr ? usual : prompt->as_integer().value_or(0);
  auto& length = plan.batch.sequence_length;
  if (longest <= 0 || completion >= length.value || longest >= length.value - completion) return;
  length.value = longest + completion;
  derive(length.origin, "and what max_prompt_length and max_completion_length leave of a row");
}

// trl 0.11: examples/scripts/dpo.py evaluates when training is done, whatever the config says.
void plan_last_evaluation(const Arguments& hf, const Stack& stack, TrainingPlan& plan) {
  if (plan.evaluation.evaluates.value) return;
  plan.evaluation.evaluates = {true, stack.origin("trl", "dpo.py, which evaluates when training is done")};
  plan.evaluation.rows = stack.plan().evaluation.rows;
  give(plan.evaluation.rows, hf.get<std::int64_t>("per_device_eval_batch_size"));
}

// trl 0.9 to 0.28: trainer/dpo_trainer.py, concatenated_forward.
void plan_former_dpo(std::string_view trl, const Inputs& inputs, const Stack& stack, Draft& draft) {
  TrainingPlan& plan = draft.plan;
  const Origin origin = stack.origin("trl", "DPOTrainer.concatenated_forward");
  plan.recipe.outputs_kept = {!is_older(trl, "0.19"), origin};
  if (!is_older(trl, "0.18") || is_older(trl, "0.12")) plan.recipe.use_cache = {false, origin};
  const Node* length = find_value(inputs, "max_length");
  const bool unlimited = length == nullptr || length->kind == Node::Kind::null;
  if (is_older(trl, "0.12") && unlimited) {
    plan.batch.sequence_length = {512, stack.origin("trl", "DPOTrainer, where max_length is null")};
  } else if (is_older(trl, "0.14") && unlimited) {
    plan.batch.sequence_length = {0, stack.origin("trl", "DPOConfig, whose max_length is null")};
  }
  if (!is_older(trl, "0.12")) cut_rows(trl, inputs, plan);
  note(inputs, "precompute_ref_log_probs", true, "scores from before the first step in this version of TRL", draft);
  note(inputs, "use_weighting", true, "weights of pairs in this version of TRL", draft);
}

void plan_reference(const Arguments& hf, const Inputs& /*inputs*/, const Stack& stack, Draft& draft) {
  TrainingPlan& plan = draft.plan;
  plan.recipe.reference = reference_of(hf, stack, plan);
  plan.recipe.reference_rows = reference_rows(hf, stack, plan);
  plan.batch.completion_length = {0, assumed("all of the longest row but its first token may be a completion")};
}

void plan_dpo(const Arguments& hf, const Inputs& inputs, const Stack& stack, Draft& draft) {
  plan_reference(hf, inputs, stack, draft);
  const std::string_view trl = version_in(stack, "trl");
  if (!is_former(trl)) return;
  forget(dpo_former, draft);
  plan_former_dpo(trl, inputs, stack, draft);
  if (is_older(trl, "0.12") && !is_older(trl, "0.11")) plan_last_evaluation(hf, stack, draft.plan);
}

// These trainers load no model in 4 or 8 bits: a script of one's own does, and what it makes of it is its own affair.
void plan_reference_free(const Arguments& hf, const Inputs& inputs, const Stack& stack, Draft& draft) {
  TrainingPlan& plan = draft.plan;
  const auto alpha = hf.get<double>("cpo_alpha");
  const bool shaped = is_one_of(find_value(inputs, "loss_type"), std::array<std::string_view, 1>{"alphapo"});
  const bool cpo = plan.recipe.trainer.value == "cpo";
  const Origin usual = stack.origin("trl", cpo ? "CPOConfig" : "ORPOTrainer, whose loss has it always");
  plan.recipe.second_term = {!cpo || (!shaped && alpha.value.value_or(1.0) != 0.0),
                             cpo && alpha.value ? alpha.origin : usual};
  plan.recipe.loss = {Loss::full_logits, stack.origin("trl", "the trainer, which is given the model's logits")};
  if (is(hf.get<std::int64_t>("max_length"), std::int64_t{0})) {
    plan.batch.sequence_length = {512, stack.origin("trl", "the trainer, where max_length is null")};
  }
  note(inputs, "load_in_4bit", true, "a quantized model in this trainer", draft);
  note(inputs, "load_in_8bit", true, "a quantized model in this trainer", draft);
}

void plan_kto(const Arguments& hf, const Inputs& inputs, const Stack& stack, Draft& draft) {
  plan_reference(hf, inputs, stack, draft);
  const auto found = std::ranges::find(inputs, "loss_type", &Input::key);
  const bool without = found != inputs.end() && found->value->text == "apo_zero_unpaired";
  draft.plan.recipe.second_term = {!without, without ? origin_of(*found) : stack.origin("trl", "KTOConfig")};
}

// peft/peft_model.py: PeftModelForSequenceClassification trains the head too.
void plan_reward(const Arguments& /*hf*/, const Inputs& inputs, const Stack& stack, Draft& draft) {
  TrainingPlan& plan = draft.plan;
  plan.recipe.loss = {Loss::full_logits, stack.origin("trl", "RewardTrainer, which is given the model's scores")};
  auto& saved = plan.adapter.modules_to_save.value;
  const bool adapts = plan.adapter.kind.value != Adapter::none;
  if (!adapts || !is_one_of(find_value(inputs, "lora_task_type"), of_rewards) || std::ranges::count(saved, "score") > 0)
    return;
  saved.emplace_back("score");
  derive(plan.adapter.modules_to_save.origin, "and the head, which lora_task_type: SEQ_CLS trains");
}

void plan_grpo(const Arguments& /*hf*/, const Inputs& inputs, const Stack& stack, Draft& draft) {
  plan_rollouts(inputs, stack, draft);
  note(inputs, "cast_lm_head_to_fp32", true, "a head that is cast to fp32", draft);
  note(inputs, "disable_dropout", true, "GRPO with its dropout taken out", draft);
  note(inputs, "sync_ref_model", true, "a reference that follows the policy", draft);
  note(inputs, "use_liger_kernel", true, "Liger's kernels in this trainer", draft);
}

// peft/peft_model.py: PeftModelForCausalLM asks the model for what only one that generates has.
void check_reward(const Arguments& hf, const Inputs& inputs, Draft& draft, const Document& document) {
  const Node* task = find_value(inputs, "lora_task_type");
  const bool causal = task == nullptr || task->text == "CAUSAL_LM" || task->kind == Node::Kind::null;
  if (draft.plan.adapter.kind.value == Adapter::none || !causal) return;
  conflict(draft, hf.get<bool>("use_peft").origin, document,
           "use_peft: peft takes no model of rewards for lora_task_type CAUSAL_LM, the default; it is SEQ_CLS here");
}

bool has_loss(const Input* loss, Names wanted) {
  if (loss == nullptr) return false;
  const auto is_wanted = [&](const Node& one) { return std::ranges::count(wanted, one.text) > 0; };
  return is_wanted(*loss->value) || std::ranges::any_of(loss->value->items, is_wanted);
}

// Its loss is of a difference in which a part cancels out; of the other losses none is.
void check_divergence(const Input* loss, const Inputs& inputs, Draft& draft, const Document& document) {
  constexpr auto others = std::to_array<std::string_view>(
      {"nca_pair", "bco_pair", "sppo_hard", "aot", "aot_unpaired", "apo_zero", "apo_down"});
  const Input* divergence = asking(inputs, {"f_divergence_type"});
  const bool usual = divergence == nullptr || divergence->value->text == "reverse_kl";
  if (usual || is_older(framework_version(draft.plan, "trl"), "1.13") || !has_loss(loss, others)) return;
  conflict(draft, origin_of(*divergence), document,
           "f_divergence_type: TRL's DPOTrainer refuses all but reverse_kl beside this loss_type");
}

// trl 1.16: trainer/dpo_trainer.py, DPOTrainer.__init__; before 1.0 it took 1e-3 itself.
void check_dpo(const Arguments& /*hf*/, const Inputs& inputs, Draft& draft, const Document& document) {
  constexpr auto exo = std::to_array<std::string_view>({"exo_pair"});
  constexpr auto sorted = std::to_array<std::string_view>({"aot", "aot_unpaired"});
  const Input* loss = asking(inputs, {"loss_type"});
  const Node* smoothing = find_value(inputs, "label_smoothing");
  const Input* weighting = asking(inputs, {"use_weighting"});
  if (is_former(framework_version(draft.plan, "trl"))) return;
  check_divergence(loss, inputs, draft, document);
  if (weighting != nullptr && is_flag(*weighting->value, true) && has_loss(loss, sorted)) {
    conflict(draft, origin_of(*weighting), document,
             "use_weighting: TRL's DPOTrainer has no weights of pairs for aot and aot_unpaired, which sort them");
  }
  const bool smooth = smoothing != nullptr && smoothing->as_number().value_or(1) != 0;
  if (smooth || !has_loss(loss, exo)) return;
  conflict(draft, origin_of(*loss), document,
           "loss_type: TRL's DPOTrainer refuses exo_pair where label_smoothing is 0, the default; its paper has 1e-3");
}

void check_batch(Draft& draft, const Document& document) {
  const TrainingPlan& plan = draft.plan;
  if (!plan.recipe.second_term.value || plan.batch.micro_batch_size.value > 1) return;
  conflict(draft, plan.batch.micro_batch_size.origin, document,
           "per_device_train_batch_size: TRL's KTOTrainer refuses a batch of one row, whose completion has no other "
           "prompt");
}

void check_sampling(const Inputs& inputs, Draft& draft, const Document& document) {
  const auto found = std::ranges::find(inputs, "train_sampling_strategy", &Input::key);
  if (found == inputs.end() || found->value->text == "sequential" || !draft.plan.recipe.second_term.value) return;
  conflict(draft, origin_of(*found), document,
           "train_sampling_strategy: TRL's KTOTrainer wants sequential where its loss has the KL divergence");
}

void check_kto(const Arguments& /*hf*/, const Inputs& inputs, Draft& draft, const Document& document) {
  check_batch(draft, document);
  check_sampling(inputs, draft, document);
}

// How rows come, in the words of TRL's SFTConfig.
void check_fields(const Trainer& trainer, const Inputs& inputs, Draft& draft, const Document& document) {
  for (const Input& input : inputs) {
    const bool unknown = std::ranges::count(of_sft, input.key) > 0 && std::ranges::count(trainer.has, input.key) == 0;
    if (!unknown) continue;
    conflict(draft, origin_of(input), document,
             std::string(input.key) + ": " + std::string(trainer.config) + " has no such argument");
  }
}

constexpr std::string_view pairs = "chosen and rejected rows differ in length and are padded";
constexpr std::string_view singles = "rows of a batch differ in length and are padded";

constexpr auto trainers = std::to_array<Trainer>({
    {"dpo", "TRL's DPOConfig", RecipeKind::dpo, dpo_own, {}, dpo_has, pairs, plan_dpo, check_dpo},
    {"orpo", "TRL's ORPOConfig", RecipeKind::reference_free, orpo_own, {}, {}, pairs, plan_reference_free},
    {"cpo", "TRL's CPOConfig", RecipeKind::reference_free, cpo_own, cpo_losses, {}, pairs, plan_reference_free},
    {"kto", "TRL's KTOConfig", RecipeKind::kto, kto_own, kto_losses, multiple_has, singles, plan_kto, check_kto},
    {"reward",
     "TRL's RewardConfig",
     RecipeKind::reward,
     reward_own,
     {},
     multiple_has,
     pairs,
     plan_reward,
     check_reward},
    {"grpo", "TRL's GRPOConfig", RecipeKind::grpo, grpo_own, grpo_losses, multiple_has, {}, plan_grpo, check_rollouts},
    {"rloo", "TRL's RLOOConfig", RecipeKind::grpo, rloo_own, {}, multiple_has, {}, plan_grpo, check_rollouts},
    {"gkd",
     "TRL's GKDConfig",
     RecipeKind::distillation,
     gkd_own,
     {},
     of_sft,
     {},
     plan_distillation,
     check_distillation},
});

}  // namespace

void plan_preference(const Arguments& hf, const Inputs& inputs, const Stack& stack, Draft& draft) {
  TrainingPlan& plan = draft.plan;
  const auto* trainer = std::ranges::find(trainers, plan.recipe.trainer.value, &Trainer::name);
  if (trainer == trainers.end()) return;
  forget_own(*trainer, inputs, draft);
  plan.recipe.kind = {trainer->kind, plan.recipe.trainer.origin};
  trainer->plan(hf, inputs, stack, draft);
  if (!trainer->padded.empty()) plan.batch.padding_mask = {true, assumed(trainer->padded)};
  if (trainer->kind == RecipeKind::grpo) return;
  note(inputs, "disable_dropout", false, "dropout in preference training", draft);
  constexpr std::array of_logits{RecipeKind::reference_free, RecipeKind::reward, RecipeKind::distillation};
  if (std::ranges::count(of_logits, trainer->kind) > 0)
    note(inputs, "use_liger_kernel", true, "Liger's kernels in this trainer", draft);
}

void check_preference(const Arguments& hf, const Inputs& inputs, Draft& draft, const Document& document) {
  const auto* trainer = std::ranges::find(trainers, draft.plan.recipe.trainer.value, &Trainer::name);
  if (trainer == trainers.end()) return;
  check_fields(*trainer, inputs, draft, document);
  if (trainer->check != nullptr) trainer->check(hf, inputs, draft, document);
}

}  // namespace oomplan::ingestion::hf
