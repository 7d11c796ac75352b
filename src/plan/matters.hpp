// When a fact of the plan matters.
#pragma once

#include "fact_row.hpp"

namespace oomplan::planning {

inline bool adapts(const Plan& plan) { return plan.adapter.kind.value != Adapter::none; }
inline bool adapts_parameters(const Plan& plan) {
  return adapts(plan) && !plan.adapter.target_parameters.value.empty();
}
inline bool quantizes(const Plan& plan) { return plan.quantization.kind.value != Quantization::none; }
inline bool in_4_bits(const Plan& plan) {
  return quantizes(plan) && plan.quantization.kind.value != Quantization::int8;
}
inline bool checkpoints(const Plan& plan) { return plan.checkpointing.on.value; }
inline bool varies(const Plan& plan) { return !plan.batch.lengths.value.empty(); }

/// Memory settles within the second step, where the states of the first one are met.
inline bool ends_early(const Plan& plan) { return plan.batch.max_steps.value == 1 && !varies(plan); }
inline bool evaluates(const Plan& plan) { return plan.evaluation.evaluates.value; }
// Language modelling is what all trainers do that say nothing else.
inline bool is_unsloth(const Plan& plan) { return plan.kernels.unsloth.value != UnslothLayers::none; }
inline bool is_supervised(const Plan& plan) { return plan.recipe.kind.value == RecipeKind::supervised; }
inline bool is_preference(const Plan& plan) { return !is_supervised(plan); }
inline bool embeds(const Plan& plan) { return plan.recipe.kind.value == RecipeKind::sentence_embedding; }
inline bool is_enlarged(const Plan& plan) { return plan.model.vocabulary.value > 0; }
inline bool classifies(const Plan& plan) { return plan.model.head.value != HeadKind::language_model; }
inline bool chooses(const Plan& plan) { return plan.model.head.value == HeadKind::multiple_choice; }
inline bool has_targets(const Plan& plan) { return plan.batch.target_length.value > 0; }
inline bool has_scores(const Plan& plan) {
  return plan.recipe.kind.value == RecipeKind::dpo || plan.recipe.kind.value == RecipeKind::kto;
}
inline bool has_rollouts(const Plan& plan) { return plan.recipe.kind.value == RecipeKind::grpo; }
inline bool generates(const Plan& plan) {
  return has_rollouts(plan) && plan.recipe.generation.value == Generation::transformers;
}
inline bool has_vllm(const Plan& plan) { return oomplan::has_vllm(plan.recipe); }
inline bool distils(const Plan& plan) { return plan.recipe.kind.value == RecipeKind::distillation; }
inline bool has_reference_scores(const Plan& plan) { return has_scores(plan) || has_rollouts(plan); }
/// TRL's own losses leave out what has no label.
inline bool leaves_unlabelled(const Plan& plan) {
  return plan.recipe.kind.value == RecipeKind::supervised && of_labelled_tokens(plan.recipe.loss.value);
}
inline bool has_completions(const Plan& plan) {
  return has_reference_scores(plan) || distils(plan) || leaves_unlabelled(plan);
}
/// Of LLaMA-Factory's trainers.
inline bool has_whole_logits(const Plan& plan) {
  return plan.recipe.kind.value == RecipeKind::paired_logits || plan.recipe.kind.value == RecipeKind::unpaired_logits;
}
inline bool has_raised_pairs(const Plan& plan) { return plan.recipe.kind.value == RecipeKind::raised_pairs; }
inline bool has_reference(const Plan& plan) {
  return has_reference_scores(plan) || has_whole_logits(plan) || has_raised_pairs(plan);
}
inline bool scores_logits(const Plan& plan) {
  const bool whole = plan.recipe.kind.value == RecipeKind::reference_free;
  return whole || (has_scores(plan) && plan.recipe.loss.value == Loss::full_logits);
}
inline bool has_second_term(const Plan& plan) {
  return plan.recipe.kind.value == RecipeKind::reference_free || plan.recipe.kind.value == RecipeKind::kto ||
         has_rollouts(plan);
}
inline bool has_liger(const Plan& plan) { return has_liger_layers(plan.kernels); }
inline bool is_shared(const Plan& plan) { return plan.mesh.sharding.value != Sharding::none; }
inline bool is_tensor_parallel(const Plan& plan) { return plan.mesh.tensor_parallel.value > 1; }
inline bool is_context_parallel(const Plan& plan) { return oomplan::is_context_parallel(plan.mesh); }
inline bool is_pipelined(const Plan& plan) { return oomplan::is_pipelined(plan.mesh); }
inline bool has_ranks(const Plan& plan) {
  return is_shared(plan) || is_tensor_parallel(plan) || is_context_parallel(plan) || is_pipelined(plan);
}
inline bool skips_layers(const Plan& plan) { return checkpoints(plan) && plan.checkpointing.every.value > 1; }
inline bool is_ddp(const Plan& plan) { return plan.mesh.sharding.value == Sharding::ddp; }
inline bool is_fsdp2(const Plan& plan) { return plan.mesh.sharding.value == Sharding::fsdp2; }
inline bool is_fsdp1(const Plan& plan) { return plan.mesh.sharding.value == Sharding::fsdp1; }
inline bool is_fsdp(const Plan& plan) { return is_fsdp1(plan) || is_fsdp2(plan); }
inline bool is_zero(const Plan& plan) { return oomplan::is_zero(plan.mesh.sharding.value); }
inline bool is_zero3(const Plan& plan) { return plan.mesh.sharding.value == Sharding::zero3; }
inline bool asks_at_zero3(const Plan& plan) { return is_zero3(plan) && has_reference(plan); }
inline bool is_zero_1_or_2(const Plan& plan) { return is_zero(plan) && !is_zero3(plan); }
inline bool offloads_zero_optimizer(const Plan& plan) {
  return is_zero(plan) && plan.mesh.zero_offload_optimizer.value;
}
inline bool has_images(const Plan& plan) { return plan.images.count.value > 0; }
inline bool has_clips(const Plan& plan) { return plan.images.clips.value > 0; }
inline bool has_workers(const Plan& plan) { return plan.loader.workers.value > 0; }

}  // namespace oomplan::planning
