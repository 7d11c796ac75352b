#include <array>

#include "../trainer/arguments.hpp"
#include "derive.hpp"

namespace oomplan::ingestion::axolotl {
namespace {

bool qlora(const TrainingPlan& plan) { return adapts(plan) && is_4bit(plan); }
bool all_linear(const TrainingPlan& plan) {
  return plan.adapter.targets.value == std::vector<std::string>{"all-linear"};
}
bool longer(const TrainingPlan& plan) { return plan.evaluation.padded.value && plan.evaluation.length.value > 0; }

// One key for both: weights that are loaded in bf16 are trained under autocast.
Said bf16(const TrainingPlan& plan) {
  return flag(plan.precision.autocast.value == Autocast::bf16 ||
              plan.precision.weights_dtype.value == WeightsDType::bf16);
}

Said adapter(const TrainingPlan& plan) {
  if (!adapts(plan) || !says_adapter(plan)) return {};
  return qlora(plan) ? "qlora" : "lora";
}

// Whichever version a plan's loss is of, Axolotl's is what its plugin makes of it.
bool has_liger_loss(const TrainingPlan& plan) {
  return plan.recipe.loss.value == Loss::liger_0_8_0_fused_linear || plan.recipe.loss.value == Loss::liger_fused_linear;
}

// Whatever a plan's streams are, Axolotl's are of its own making.
Said offloading(const TrainingPlan& plan) {
  const Offload how = plan.checkpointing.offload.value;
  const bool streams = how == Offload::streamed && plan.checkpointing.on.value;
  return how == Offload::synchronous ? Said("legacy") : flag(streams || how == Offload::streamed_clones);
}

bool has_liger(const TrainingPlan& plan) { return has_liger_layers(plan.kernels) || has_liger_loss(plan); }

Said plugin_where(bool here, std::string_view name) {
  return word_where(here, std::string(integrations) + std::string(name));
}

Said cut_plugin(const TrainingPlan& plan) {
  return plugin_where(plan.recipe.loss.value == Loss::cut_cross_entropy, cut_plugin_name);
}

Said liger_plugin(const TrainingPlan& plan) { return plugin_where(has_liger(plan), liger_plugin_name); }

Said optimizer_name(const TrainingPlan& plan) {
  const std::string& name = plan.optimizer.name.value;
  return name == muon.plan ? std::string(muon.theirs) : trainer_name(name);
}

// Axolotl puts the backslashes before dots itself.
Said unfrozen(const TrainingPlan& plan) {
  std::vector<std::string> out = plan.recipe.trained.value;
  for (std::string& text : out) {
    for (std::size_t at = 0; (at = text.find("\\.", at)) != std::string::npos; ++at) text.erase(at, 1);
  }
  if (out.empty()) return {};
  return find_codec("names")->write(out);
}

Said targets(const TrainingPlan& plan) {
  if (!adapts(plan) || all_linear(plan)) return {};
  return find_codec("names")->write(plan.adapter.targets.value);
}

constexpr auto table = std::to_array<Saying>({
    {"sequence_length", "pad_to_multiple_of",
     [](const TrainingPlan& p) { return count_where(p.batch.sequence_length.value % 64 != 0, 1); }},
    {"padding_mask", "sample_packing", [](const TrainingPlan& p) { return flag(!p.batch.padding_mask.value); }},
    {"padding_mask", "multipack_real_batches",
     [](const TrainingPlan& p) { return flag_where(!p.batch.padding_mask.value, true); }},
    {"autocast", "bf16", bf16},
    {"weights_dtype", "bf16", bf16},
    {"autocast", "fp16", trainer::fp16},
    {"weights_dtype", "float16",
     [](const TrainingPlan& p) {
       return flag_where(
           p.precision.autocast.value == Autocast::none && p.precision.weights_dtype.value == WeightsDType::fp16, true);
     }},
    {"adapter", "adapter", adapter},
    {"quantization", "adapter", adapter},
    {"quantization", "load_in_4bit", [](const TrainingPlan& p) { return flag_where(qlora(p), true); }},
    {"quantization", "load_in_8bit", [](const TrainingPlan& p) { return flag_where(adapts(p), is_int8(p)); }},
    {"fp32_while_loading", "embeddings_skip_upcast",
     [](const TrainingPlan& p) { return flag_where(qlora(p), !p.precision.fp32_while_loading.value); }},
    {"adapter", "lora_alpha", [](const TrainingPlan& p) { return count_where(adapts(p), p.adapter.rank.value); }},
    {"lora_targets", "lora_target_linear", [](const TrainingPlan& p) { return flag_where(adapts(p), all_linear(p)); }},
    {"lora_targets", "lora_target_modules", targets},
    {"adapter_dtype", "peft_autocast_adapter_dtype",
     [](const TrainingPlan& p) { return flag_where(adapts(p), p.adapter.dtype.value == AdapterDType::fp32); }},
    {"quantization", "bnb_config_kwargs.bnb_4bit_quant_type", trainer::four_bit_kind},
    {"quantization_compute_dtype", "bnb_config_kwargs.bnb_4bit_compute_dtype",
     [](const TrainingPlan& p) { return word_where(qlora(p), write_dtype(p.quantization.compute_dtype.value)); }},
    {"liger_rms_norm", "plugins", liger_plugin, true},
    {"liger_rope", "plugins", liger_plugin, true},
    {"liger_layer_norm", "plugins", liger_plugin, true},
    {"liger_layer_norm", "liger_layer_norm",
     [](const TrainingPlan& p) { return flag_where(has_liger(p), p.kernels.liger_layer_norm.value); }},
    {"liger_glu", "plugins", liger_plugin, true},
    {"loss", "plugins", liger_plugin, true},
    {"loss", "plugins", cut_plugin, true},
    {"liger_rms_norm", "liger_rms_norm",
     [](const TrainingPlan& p) { return flag_where(has_liger(p), p.kernels.liger_rms_norm.value); }},
    {"liger_rope", "liger_rope",
     [](const TrainingPlan& p) { return flag_where(has_liger(p), p.kernels.liger_rope.value); }},
    {"liger_glu", "liger_glu_activation",
     [](const TrainingPlan& p) { return flag_where(has_liger(p), p.kernels.liger_glu.value); }},
    {"loss", "liger_fused_linear_cross_entropy",
     [](const TrainingPlan& p) { return flag_where(has_liger(p), has_liger_loss(p)); }},
    {"loss", "use_eaft",
     [](const TrainingPlan& p) { return flag_where(p.recipe.loss.value == Loss::masked_entropy_aware, true); }},
    {"trained_parameters", "unfrozen_parameters", unfrozen},
    {"optimizer", "optimizer", optimizer_name},
    {"clip_gradients", "max_grad_norm", trainer::max_grad_norm},
    {"neftune", "neftune_noise_alpha", trainer::neftune_noise_alpha},
    {"activation_offload", "activation_offloading", offloading},
    {"reentrant_checkpointing", "gradient_checkpointing_kwargs.use_reentrant",
     [](const TrainingPlan& p) { return flag(p.checkpointing.reentrant.value); }},
    {"loader_rows_as", "streaming", trainer::streaming},
    // A stream has no length of its own, and Axolotl wants one said.
    {"loader_rows_as", "max_steps",
     [](const TrainingPlan& p) { return count_where(p.loader.rows_as.value == RowsAs::stream, 1000); }},
    {"loader_shuffle_buffer", "streaming_multipack_buffer_size",
     [](const TrainingPlan& p) {
       return count_where(p.loader.shuffle_buffer.value > 0, p.loader.shuffle_buffer.value);
     }},
    {"evaluates", "test_datasets",
     [](const TrainingPlan& p) { return word_where(p.evaluation.evaluates.value && longer(p), "[{path: rows}]"); }},
    {"evaluates", "val_set_size",
     [](const TrainingPlan& p) { return word_where(p.evaluation.evaluates.value && !longer(p), "0.1"); }},
    {"evaluates", "eval_steps", [](const TrainingPlan& p) { return count_where(p.evaluation.evaluates.value, 1); }},
    {"evaluation_padded", "eval_sample_packing",
     [](const TrainingPlan& p) {
       return flag_where(p.evaluation.evaluates.value && p.evaluation.padded.value, false);
     }},
    {"evaluation_rows", "eval_batch_size",
     [](const TrainingPlan& p) {
       return count_where(p.evaluation.evaluates.value && p.evaluation.padded.value && p.evaluation.rows.value > 0,
                          p.evaluation.rows.value);
     }},
    {"evaluation_length", "eval_sequence_len",
     [](const TrainingPlan&
            p) { return count_where(p.evaluation.evaluates.value && longer(p), p.evaluation.length.value); }},
});

}  // namespace

std::span<const Saying> sayings() { return table; }

}  // namespace oomplan::ingestion::axolotl
