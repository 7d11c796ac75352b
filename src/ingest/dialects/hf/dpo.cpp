#include <algorithm>
#include <array>

#include "derive.hpp"

namespace oomplan::ingestion::hf {
namespace {

// Fields of DPOConfig that other trainers than SFT have too, or that only it has. Numbers within the loss, or read
// here.
constexpr auto own = std::to_array<std::string_view>(
    {"beta", "disable_dropout", "discopop_tau", "f_alpha_divergence_coef", "f_divergence_type", "ld_alpha",
     "label_smoothing", "loss_type", "loss_weights", "ref_model_mixup_alpha", "ref_model_sync_steps", "use_weighting"});

void forget_own(Draft& draft) {
  std::erase_if(draft.plan.unmodelled, [](const Unmodelled& gap) { return std::ranges::count(own, gap.key) > 0; });
}

Setting<Reference> reference_of(const Arguments& hf, const Stack& stack, const TrainingPlan& plan) {
  const auto precomputed = hf.get<bool>("precompute_ref_log_probs");
  if (is(precomputed, true)) return {Reference::precomputed, precomputed.origin};
  if (plan.adapter.kind.value != Adapter::none) {
    Setting<Reference> out{Reference::adapter_off, plan.adapter.kind.origin};
    derive(out.origin, "so that the policy without it is the reference");
    return out;
  }
  return {Reference::model, stack.origin("trl", "DPOTrainer, which loads the model a second time")};
}

// _precompute_ref_logps goes through both datasets.
Setting<std::int64_t> reference_rows(const Arguments& hf, const Stack& stack, const TrainingPlan& plan) {
  if (!hf.on("precompute_ref_log_probs")) return {0, stack.origin("trl", "DPOConfig")};
  const Setting<std::int64_t>& training = plan.batch.micro_batch_size;
  const Setting<std::int64_t>& evaluation = plan.evaluation.rows;
  Setting<std::int64_t> out =
      plan.evaluation.evaluates.value && evaluation.value > training.value ? evaluation : training;
  give(out, hf.get<std::int64_t>("precompute_ref_batch_size"));
  return out;
}

void note(const Inputs& inputs, std::string_view key, bool wanted, std::string_view feature, Draft& draft) {
  const auto found = std::ranges::find(inputs, key, &Input::key);
  if (found == inputs.end() || found->value->as_boolean() != wanted) return;
  draft.plan.unmodelled.push_back({std::string(feature), std::string(key), origin_of(*found).where});
}

}  // namespace

void plan_dpo(const Arguments& hf, const Inputs& inputs, const Stack& stack, Draft& draft) {
  TrainingPlan& plan = draft.plan;
  forget_own(draft);
  plan.recipe.kind = {RecipeKind::dpo, plan.recipe.trainer.origin};
  plan.recipe.reference = reference_of(hf, stack, plan);
  plan.recipe.reference_rows = reference_rows(hf, stack, plan);
  plan.batch.completion_length = {0, assumed("all of the longest row but its first token may be a completion")};
  plan.batch.padding_mask = {true, assumed("chosen and rejected rows differ in length and are padded")};
  note(inputs, "disable_dropout", false, "dropout in preference training", draft);
}

}  // namespace oomplan::ingestion::hf
