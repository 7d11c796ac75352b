#include "dpo.hpp"

#include <algorithm>
#include <array>

#include "../../evaluation.hpp"

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

Setting<Reference> reference_of(const Hf& hf, const TrainingPlan& plan) {
  if (is(hf.precompute_ref_log_probs, true)) return {Reference::precomputed, hf.precompute_ref_log_probs.origin};
  if (plan.adapter.kind.value != Adapter::none) {
    Setting<Reference> out{Reference::adapter_off, plan.adapter.kind.origin};
    derive(out.origin, "so that the policy without it is the reference");
    return out;
  }
  return {Reference::model, default_of("trl 1.16.0: DPOTrainer, which loads the model a second time")};
}

// _precompute_ref_logps goes through both datasets.
Setting<std::int64_t> reference_rows(const Hf& hf, const TrainingPlan& plan) {
  if (!is(hf.precompute_ref_log_probs, true)) return {0, default_of("trl 1.16.0: DPOConfig")};
  const Arg<std::int64_t>& said = hf.precompute_ref_batch_size;
  if (said.value) return {*said.value, said.origin};
  const Setting<std::int64_t>& training = plan.batch.micro_batch_size;
  const Setting<std::int64_t>& evaluation = plan.evaluation.rows;
  return plan.evaluation.evaluates.value && evaluation.value > training.value ? evaluation : training;
}

void note(const Inputs& inputs, std::string_view key, bool wanted, std::string_view feature, Draft& draft) {
  const auto found = std::ranges::find(inputs, key, &Input::key);
  if (found == inputs.end() || found->value->as_boolean() != wanted) return;
  draft.plan.unmodelled.push_back({std::string(feature), std::string(key), origin_of(*found).where});
}

}  // namespace

void note_dpo_keys(const Hf& hf, Draft& draft) {
  const auto note_key = [&](const Origin& origin, std::string key) {
    draft.plan.unmodelled.push_back({std::string(other_training), std::move(key), origin.where});
  };
  if (hf.precompute_ref_log_probs.value) note_key(hf.precompute_ref_log_probs.origin, "precompute_ref_log_probs");
  if (hf.precompute_ref_batch_size.value) note_key(hf.precompute_ref_batch_size.origin, "precompute_ref_batch_size");
}

void plan_dpo(const Hf& hf, const Inputs& inputs, Draft& draft) {
  TrainingPlan& plan = draft.plan;
  forget_own(draft);
  plan.recipe.kind = {RecipeKind::dpo, plan.recipe.trainer.origin};
  plan.recipe.reference = reference_of(hf, plan);
  plan.recipe.reference_rows = reference_rows(hf, plan);
  plan.batch.completion_length = {0, assumed("all of the longest row but its first token may be a completion")};
  plan.batch.padding_mask = {true, assumed("chosen and rejected rows differ in length and are padded")};
  note(inputs, "disable_dropout", false, "dropout in preference training", draft);
}

}  // namespace oomplan::ingestion::hf
