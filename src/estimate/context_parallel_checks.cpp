#include "context_parallel_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "facts.hpp"
#include "oomplan/core/bytes.hpp"
#include "parallel_checks.hpp"
#include "policies/mixed_dtype.hpp"
#include "recipe_titles.hpp"

namespace oomplan::estimator {
namespace {

/// More than there are machines for, so that products of it stay small.
constexpr std::int64_t most_ranks = 65'536;
constexpr std::int64_t widest_flash_head = 256;
constexpr std::int64_t flash_head_step = 8;

bool has_windows(const OpSpec& spec) { return spec.op == "rotary_attention" && spec.find("span") != nullptr; }

/// A causal mask whose window is a number of tokens.
bool has_window(const OpSpec& spec) {
  const Attribute* window = spec.op == "causal_mask" ? spec.find("window") : nullptr;
  const auto* tokens = window == nullptr ? nullptr : std::get_if<std::int64_t>(window);
  return tokens != nullptr && *tokens > 0;
}

bool drops(const OpSpec& spec) {
  const Attribute* dropout = spec.op == "rotary_attention" ? spec.find("dropout") : nullptr;
  const auto* share = dropout == nullptr ? nullptr : std::get_if<double>(dropout);
  return share != nullptr && *share > 0;
}

/// Of heads that the flash kernel does not take as they are.
bool has_other_heads(const OpSpec& spec) {
  const Attribute* width = spec.op == "rotary_attention" ? spec.find("head_dim") : nullptr;
  const auto* numbers = width == nullptr ? nullptr : std::get_if<std::int64_t>(width);
  return numbers != nullptr && (*numbers > widest_flash_head || *numbers % flash_head_step != 0);
}

/// Trainers that were measured: those of transformers 5.23 and TRL 1.16. A plan of the plain form names none.
bool is_measured(std::string_view framework) {
  const bool trainer = framework.starts_with("trl 1.16.") || framework.starts_with("transformers ");
  return framework.empty() || (trainer && framework.find("transformers 5.23.") != framework.npos);
}

class Checks : ParallelChecks {
 public:
  Checks(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors)
      : ParallelChecks("context parallelism", plan, architecture, errors) {}

  void check() {
    if (!has_equal_groups()) return;
    check_rows();
    check_model();
    check_mesh();
    check_training();
    check_adapter();
    check_layers();
    check_precision();
  }

 private:
  bool has_equal_groups() {
    const Setting<std::int64_t>& ranks = mesh_.context_parallel;
    if (ranks.value > most_ranks) {
      bad(fmt::format("context_parallel: no {} GPUs share a row", ranks.value), ranks.origin);
      return false;
    }
    const std::int64_t replicas = std::max<std::int64_t>(mesh_.fsdp_replicas.value, 1);
    return is_multiple_of(saturating_mul(ranks.value, replicas), "context_parallel", "no group of", ranks.origin);
  }

  void check_rows() {
    const std::int64_t parts = saturating_mul(mesh_.context_parallel.value, 2);
    const Setting<std::int64_t>& length = plan_.batch.sequence_length;
    if (length.value % parts == 0) return;
    bad(fmt::format("torch's context_parallel stops at rows of {} tokens, which do not make {} equal parts",
                    length.value, parts),
        length.origin,
        fmt::format("a length that {0} divides, and rows padded to it (pad_to_multiple_of: {0})", parts));
  }

  void check_model() {
    if (any_op(architecture_, has_windows) || any_op(architecture_, has_window)) {
      return bad("accelerate refuses context parallelism of attention with a sliding window, as " +
                     architecture_.source + " has it",
                 mesh_.context_parallel.origin);
    }
    if (!architecture_.context_parallel) cannot(architecture_.model_type, mesh_.context_parallel.origin);
    if (any_op(architecture_, drops)) cannot("dropout in attention", mesh_.context_parallel.origin);
    if (any_op(architecture_, has_other_heads))
      cannot("a width of heads that the flash kernel does not take as it is", mesh_.context_parallel.origin);
  }

  void check_mesh() {
    const Setting<Sharding>& sharding = mesh_.sharding;
    if (mesh_.tensor_parallel.value > 1) cannot("tensor parallelism", mesh_.tensor_parallel.origin);
    if (is_pipelined(mesh_)) cannot("a pipeline", mesh_.pipeline_parallel.origin);
    if (sharding.value != Sharding::fsdp2) {
      return cannot(sharding.value == Sharding::none
                        ? "a world that shards nothing"
                        : std::string(sharding_names[static_cast<std::size_t>(sharding.value)]),
                    sharding.origin);
    }
    if (mesh_.fsdp_units.value != ShardUnits::accelerate) cannot("other units", mesh_.fsdp_units.origin);
    measured(mesh_.fsdp_offload, "offload of shards");
    if (mesh_.fsdp_reshard.value == Reshard::smaller) cannot("fsdp_reshard: smaller", mesh_.fsdp_reshard.origin);
  }

  void check_training() {
    if (!is_measured(plan_.framework)) cannot(plan_.framework, mesh_.context_parallel.origin);
    const RecipeFacts& recipe = plan_.recipe;
    if (recipe.kind.value != RecipeKind::supervised) cannot(title_of(recipe.kind.value), recipe.kind.origin);
    const Loss loss = recipe.loss.value;
    if (loss != Loss::full_logits && loss != Loss::chunked_logprob)
      cannot(fmt::format("the loss {}", loss_names[static_cast<std::size_t>(loss)]), recipe.loss.origin);
    if (recipe.token_metrics.value != TokenMetrics::none) cannot("metrics of tokens", recipe.token_metrics.origin);
    if (!recipe.frozen.value.empty()) cannot("frozen parameters", recipe.frozen.origin);
    if (!recipe.trained.value.empty()) cannot("parameters that are trained by name", recipe.trained.origin);
    if (recipe.trained_layers.value != 0) cannot("freeze tuning", recipe.trained_layers.origin);
    measured(recipe.router_loss, "a loss of routers");
    measured(recipe.label_smoothing, "label smoothing");
    measured(recipe.neftune, "NEFTune");
    measured(plan_.evaluation.evaluates, "evaluation");
    if (plan_.model.head.value != HeadKind::language_model) cannot("a classifier", plan_.model.head.origin);
    const BatchFacts& batch = plan_.batch;
    if (batch.completion_length.value > 0) cannot("labels of completions alone", batch.completion_length.origin);
    // Without one transformers takes heads and tails for packed samples, and makes a mask of their own.
    if (!batch.mask_sent.value && !batch.padding_mask.value) cannot("batches without a mask", batch.mask_sent.origin);
    if (!batch.lengths.value.empty()) cannot("rows of several lengths", batch.lengths.origin);
    if (batch.joined.value > 0) cannot("joined rows", batch.joined.origin);
    if (plan_.longest_sample > 0) cannot("packed rows", batch.sequence_length.origin);
    if (plan_.images.count.value > 0) cannot("images", plan_.images.count.origin);
  }

  void check_adapter() {
    const QuantizationFacts& quantization = plan_.quantization;
    if (quantization.kind.value != Quantization::none) cannot("a quantized model", quantization.kind.origin);
    if (quantization.fake_group.value > 0) cannot("quantization-aware training", quantization.fake_group.origin);
    const AdapterFacts& adapter = plan_.adapter;
    if (adapter.kind.value == Adapter::none) return;
    if (adapter.kind.value != Adapter::lora) cannot("an adapter other than LoRA", adapter.kind.origin);
    measured(adapter.dora, "DoRA");
    if (adapter.init.value != AdapterInit::plain) cannot("an adapter that begins otherwise", adapter.init.origin);
    if (!adapter.modules_to_save.value.empty()) cannot("modules_to_save", adapter.modules_to_save.origin);
    const auto is_outside = [](const std::string& name) { return name == "lm_head" || name == "embed_tokens"; };
    if (std::ranges::any_of(adapter.targets.value, is_outside))
      cannot("LoRA outside the blocks", adapter.targets.origin);
  }

  void check_layers() {
    const CheckpointingFacts& checkpointing = plan_.checkpointing;
    if (checkpointing.on.value) {
      measured(checkpointing.reentrant, "reentrant checkpoints");
      if (checkpointing.every.value > 1) cannot("checkpoints of some layers", checkpointing.every.origin);
      if (checkpointing.keeps.value != CheckpointKeeps::inputs)
        cannot("selective checkpoints", checkpointing.keeps.origin);
    }
    if (checkpointing.offload.value != Offload::none) cannot("activation offloading", checkpointing.offload.origin);
    const KernelFacts& kernels = plan_.kernels;
    if (kernels.attention.value != Attention::sdpa) {
      bad(fmt::format("transformers' Trainer refuses context parallelism with {} attention",
                      attention_names[static_cast<std::size_t>(kernels.attention.value)]),
          kernels.attention.origin);
    }
    if (kernels.sdpa_keys.value != SdpaKeys::grouped) cannot("keys that are repeated", kernels.sdpa_keys.origin);
    if (has_liger_layers(kernels)) cannot("Liger's layers", kernels.liger_rms_norm.origin);
    for (const Setting<bool>* kernel :
         {&kernels.lora_qkv, &kernels.lora_o, &kernels.lora_mlp, &kernels.fused_norm_rope})
      measured(*kernel, "a fused kernel");
    if (kernels.unsloth.value != UnslothLayers::none) cannot("Unsloth's layers", kernels.unsloth.origin);
    measured(kernels.older_gpu, "a GPU below compute capability 8.0");
    measured(plan_.optimizer.in_backward, "an optimizer that steps in backward");
  }

  /// Only in 16 bits attention is the flash kernel's.
  void check_precision() {
    const DType computed = resolved(mesh_.fsdp_param_dtype.value).value_or(loaded_dtype(plan_, architecture_));
    if (bytes_of(computed) != 2) cannot("attention in fp32", mesh_.fsdp_param_dtype.origin);
  }
};

}  // namespace

void check_context_parallel(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  if (is_context_parallel(plan.mesh)) Checks(plan, architecture, errors).check();
}

}  // namespace oomplan::estimator
