#include "sayings.hpp"

#include <algorithm>
#include <array>

#include "../trainer/arguments.hpp"

namespace oomplan::ingestion::llamafactory {
namespace {

Said targets(const TrainingPlan& plan) {
  const auto& names = plan.adapter.targets.value;
  if (!adapts(plan)) return {};
  return names == std::vector<std::string>{"all-linear"} ? Said("all") : find_codec("comma_names")->write(names);
}

Said method(const TrainingPlan& plan) {
  if (plan.adapter.kind.value == Adapter::oft) return "oft";
  if (adapts(plan)) return word_where(says_adapter(plan), "lora");
  return plan.recipe.trained_layers.value == 0 ? "full" : "freeze";
}

bool freezes(const TrainingPlan& plan) { return plan.recipe.trained_layers.value != 0; }

Said parts(const TrainingPlan& plan) {
  const auto& names = plan.recipe.layer_parts.value;
  if (!freezes(plan)) return {};
  return names.empty() ? Said("all") : find_codec("comma_names")->write(names);
}

/// One that a switch of its own asks for, which transformers does not name.
bool has_own_optimizer(const TrainingPlan& plan) {
  return plan.optimizer.name.value == "llamafactory_muon" || plan.optimizer.name.value == "adam_mini";
}

bool has_liger(const TrainingPlan& plan) { return plan.recipe.loss.value == Loss::liger_fused_linear; }

bool is_frozen(const TrainingPlan& plan, std::string_view part) {
  return std::ranges::count(plan.recipe.frozen.value, part) > 0;
}

Said stage(const TrainingPlan& plan) {
  if (plan.recipe.kind.value == RecipeKind::paired_logits) return "dpo";
  if (plan.recipe.kind.value == RecipeKind::reward_values) return "rm";
  return word_where(plan.recipe.kind.value == RecipeKind::unpaired_logits, "kto");
}

Said attention(const TrainingPlan& plan) {
  constexpr std::array<std::string_view, 3> names{"disabled", "sdpa", "fa2"};
  const auto of = static_cast<std::size_t>(plan.kernels.attention.value);
  if (of >= names.size()) return {};  // No word of its asks for another.
  return std::string(names.at(of));
}

constexpr auto table = std::to_array<Saying>({
    {"trainer", "do_train", [](const TrainingPlan&) { return flag(true); }},
    {"adapter", "finetuning_type", method},
    {"lora_targets", "lora_target", targets},
    {"quantization", "quantization_bit",
     [](const TrainingPlan& p) {
       return is_4bit(p) ? Said("4") : word_where(p.quantization.kind.value == Quantization::int8, "8");
     }},
    {"quantization", "quantization_type", trainer::four_bit_kind},
    {"autocast", "bf16", trainer::bf16},
    {"autocast", "fp16", trainer::fp16},
    {"trained_to_fp32", "pure_bf16",
     [](const TrainingPlan& p) { return flag_where(!p.precision.trained_to_fp32.value, true); }},
    {"trained_layers", "freeze_trainable_layers",
     [](const TrainingPlan& p) {
       return freezes(p) ? Said(write_integer(p.recipe.trained_layers.value)) : std::nullopt;
     }},
    {"layer_parts", "freeze_trainable_modules", parts},
    {"frozen_parameters", "freeze_vision_tower",
     [](const TrainingPlan& p) {
       return flag_where(!is_frozen(p, "vision_tower") && !is_frozen(p, "visual.blocks"), false);
     }},
    {"frozen_parameters", "freeze_multi_modal_projector",
     [](const TrainingPlan& p) {
       return flag_where(!is_frozen(p, "multi_modal_projector") && !is_frozen(p, "visual.merger"), false);
     }},
    {"recipe", "stage", stage},
    {"reference", "pref_loss",
     [](const TrainingPlan& p) {
       const bool compares = p.recipe.reference.value != Reference::none;
       return word_where(p.recipe.kind.value == RecipeKind::paired_logits && !compares, "orpo");
     }},
    {"attention", "flash_attn", attention},
    {"gradient_checkpointing", "disable_gradient_checkpointing",
     [](const TrainingPlan& p) { return flag(!p.checkpointing.on.value); }},
    {"padding_mask", "packing", [](const TrainingPlan& p) { return flag(!p.batch.padding_mask.value); }},
    {"optimizer", "use_muon",
     [](const TrainingPlan& p) { return flag(p.optimizer.name.value == "llamafactory_muon"); }},
    {"optimizer", "use_adam_mini", [](const TrainingPlan& p) { return flag(p.optimizer.name.value == "adam_mini"); }},
    {"loss", "enable_liger_kernel", [](const TrainingPlan& p) { return flag(has_liger(p)); }},
    {"loss", "use_eaft_loss", [](const TrainingPlan& p) { return flag(p.recipe.loss.value == Loss::entropy_aware); }},
    {"loss", "use_dft_loss",
     [](const TrainingPlan& p) { return flag(p.recipe.loss.value == Loss::dynamic_fine_tuning); }},
    {"optimizer", "optim", [](const TrainingPlan& p) { return has_own_optimizer(p) ? Said() : trainer::optim(p); }},
    {"optimizer", "optim_args", trainer::optim_args},
    {"clip_gradients", "max_grad_norm", trainer::max_grad_norm},
    {"neftune", "neftune_noise_alpha", trainer::neftune_noise_alpha},
    {"loader_rows_as", "streaming", trainer::streaming},
    {"evaluation_rows", "per_device_eval_batch_size",
     [](const TrainingPlan& p) { return count_where(p.evaluation.evaluates.value, p.evaluation.rows.value); }},
    {"evaluates", "val_size", [](const TrainingPlan& p) { return word_where(p.evaluation.evaluates.value, "0.1"); }},
    {"evaluates", "eval_strategy",
     [](const TrainingPlan& p) { return word_where(p.evaluation.evaluates.value, "steps"); }},
});

}  // namespace

std::span<const Saying> sayings() { return table; }

}  // namespace oomplan::ingestion::llamafactory
