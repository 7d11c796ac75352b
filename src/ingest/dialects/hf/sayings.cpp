#include <array>

#include "../trainer/arguments.hpp"
#include "derive.hpp"
#include "oomplan/core/pattern.hpp"

namespace oomplan::ingestion::hf {
namespace {

/// Whether one of TRL's trainers is written.
bool is_sft(const TrainingPlan& plan) {
  return plan.recipe.trainer.value == "sft" || plan.recipe.kind.value != RecipeKind::supervised ||
         of_labelled_tokens(plan.recipe.loss.value) || adapts(plan);
}

bool has_reference(const TrainingPlan& plan) {
  return plan.recipe.kind.value == RecipeKind::dpo || plan.recipe.kind.value == RecipeKind::kto;
}

bool is_reference_free(const TrainingPlan& plan) { return plan.recipe.kind.value == RecipeKind::reference_free; }

// Of the two trainers without a reference, only CPO can leave the second term out.
Said trainer_of(const TrainingPlan& plan) {
  if (is_reference_free(plan))
    return plan.recipe.trainer.value == "orpo" && plan.recipe.second_term.value ? "orpo" : "cpo";
  if (plan.recipe.kind.value != RecipeKind::supervised) return std::string(name_of(plan.recipe.kind.value));
  return is_sft(plan) ? "sft" : "trainer";
}

bool has_liger(const TrainingPlan& plan) {
  return has_liger_layers(plan.kernels) || plan.recipe.loss.value == Loss::liger_fused_linear;
}

// Each part is on by default.
Said liger(const TrainingPlan& plan) { return flag_where(has_liger(plan), true); }

Said length_where(bool here, const TrainingPlan& plan) { return count_where(here, plan.batch.sequence_length.value); }

Said targets(const TrainingPlan& plan) {
  const auto& names = plan.adapter.targets.value;
  if (!adapts(plan) || names == std::vector<std::string>{"peft-default"}) return {};
  // A single one is an expression of whole names under TRL.
  const bool one_name = names.size() == 1 && names.front() != "all-linear" && !is_expression(names);
  return find_codec("names")->write(one_name ? std::vector{".*" + names.front()} : names);
}

Said evaluation_rows(const TrainingPlan& plan) {
  if (!plan.evaluation.evaluates.value) return {};
  const std::int64_t rows = plan.evaluation.rows.value;
  return write_integer(rows > 0 ? rows : plan.batch.micro_batch_size.value);
}

constexpr auto table = std::to_array<Saying>({
    {"trainer", "trainer", trainer_of},
    {"reference", "precompute_ref_log_probs",
     [](const TrainingPlan& p) {
       return flag_where(has_reference(p), p.recipe.reference.value == Reference::precomputed);
     }},
    {"second_term", "cpo_alpha",
     [](const TrainingPlan& p) -> Said {
       if (!is_reference_free(p) || p.recipe.second_term.value) return {};
       return "0";
     }},
    {"second_term", "loss_type",
     [](const TrainingPlan& p) -> Said {
       if (p.recipe.kind.value != RecipeKind::kto || p.recipe.second_term.value) return {};
       return "apo_zero_unpaired";
     }},
    {"liger_rms_norm", "use_liger_kernel", liger},
    {"liger_rope", "use_liger_kernel", liger},
    {"liger_glu", "use_liger_kernel", liger},
    {"loss", "use_liger_kernel", liger},
    {"liger_rms_norm", "liger_kernel_config.rms_norm",
     [](const TrainingPlan& p) { return flag_where(has_liger(p) && !p.kernels.liger_rms_norm.value, false); }},
    {"liger_rope", "liger_kernel_config.rope",
     [](const TrainingPlan& p) { return flag_where(has_liger(p) && !p.kernels.liger_rope.value, false); }},
    {"liger_glu", "liger_kernel_config.swiglu",
     [](const TrainingPlan& p) { return flag_where(has_liger(p) && !p.kernels.liger_glu.value, false); }},
    {"loss", "liger_kernel_config.fused_linear_cross_entropy",
     [](const TrainingPlan& p) {
       return flag_where(has_liger(p) && !is_sft(p) && p.recipe.loss.value != Loss::liger_fused_linear, false);
     }},
    {"autocast", "bf16", trainer::bf16},
    {"autocast", "fp16", trainer::fp16},
    {"reentrant_checkpointing", "activation_checkpointing_kwargs.use_reentrant",
     [](const TrainingPlan& p) { return flag(p.checkpointing.reentrant.value); }},
    {"activation_offload", "activation_offloading",
     [](const TrainingPlan& p) { return flag_where(is_sft(p), p.checkpointing.offload.value != Offload::none); }},
    {"optimizer", "optim", trainer::optim},
    {"optimizer", "optim_args", trainer::optim_args},
    {"clip_gradients", "max_grad_norm", trainer::max_grad_norm},
    {"neftune", "neftune_noise_alpha", trainer::neftune_noise_alpha},
    {"label_smoothing", "label_smoothing_factor",
     [](const TrainingPlan& p) -> Said { return p.recipe.label_smoothing.value ? "0.1" : "0.0"; }},
    {"router_loss", "router_aux_loss_coef",
     [](const TrainingPlan& p) -> Said { return p.recipe.router_loss.value ? "0.001" : "0.0"; }},
    {"use_cache", "use_cache", [](const TrainingPlan& p) { return flag_where(!is_sft(p), p.recipe.use_cache.value); }},
    {"sequence_length", "max_length|max_seq_length|block_size|model_max_length",
     [](const TrainingPlan& p) { return length_where(is_sft(p) && p.recipe.kind.value != RecipeKind::grpo, p); }},
    {"sequence_length", "block_size|max_seq_length|model_max_length",
     [](const TrainingPlan& p) { return length_where(!is_sft(p) && !p.batch.padding_mask.value, p); }},
    {"sequence_length", "max_seq_length|model_max_length",
     [](const TrainingPlan& p) { return length_where(!is_sft(p) && p.batch.padding_mask.value, p); }},
    {"padding_mask", "pad_to_max_length",
     [](const TrainingPlan& p) { return flag_where(!is_sft(p) && p.batch.padding_mask.value, true); }},
    {"adapter", "use_peft", [](const TrainingPlan& p) { return flag_where(is_sft(p) && says_adapter(p), adapts(p)); }},
    {"lora_targets", "lora_target_modules", targets},
    {"quantization", "load_in_4bit", [](const TrainingPlan& p) { return flag_where(is_sft(p), is_4bit(p)); }},
    {"quantization", "load_in_8bit", [](const TrainingPlan& p) { return flag_where(is_sft(p), is_int8(p)); }},
    {"quantization", "bnb_4bit_quant_type", trainer::four_bit_kind},
    {"alloc_conf", "env",
     [](const TrainingPlan& p) -> Said {
       if (p.runtime.alloc_conf.value.empty()) return {};
       return find_codec("environment")->write(p.runtime.alloc_conf.value);
     }},
    {"loader_rows_as", "streaming", trainer::streaming},
    {"saves", "save_strategy", [](const TrainingPlan& p) { return word_where(!p.saving.saves.value, "\"no\""); }},
    {"evaluates", "eval_strategy",
     [](const TrainingPlan& p) { return word_where(p.evaluation.evaluates.value, "steps"); }},
    {"evaluation_rows", "per_device_eval_batch_size", evaluation_rows},
});

}  // namespace

std::span<const Saying> sayings() { return table; }

}  // namespace oomplan::ingestion::hf
