#include "facts.hpp"

#include <algorithm>
#include <array>

#include "checks.hpp"
#include "expert_targets.hpp"
#include "objective.hpp"
#include "oomplan/catalog/catalog.hpp"
#include "oomplan/core/bytes.hpp"
#include "oomplan/plan/texts.hpp"
#include "pictures.hpp"
#include "pipeline/parts.hpp"
#include "play.hpp"
#include "policies/mixed_dtype.hpp"
#include "sounds.hpp"
#include "teacher.hpp"
#include "unsloth_checks.hpp"

namespace oomplan::estimator {
namespace objectives {
extern const Objective unsloth_fused_capped;  // unsloth_fused.cpp
}

DType adapter_dtype(AdapterDType adapter, DType base) {
  return adapter == AdapterDType::fp32 ? DType::fp32 : adapter == AdapterDType::bf16 ? DType::bf16 : base;
}

namespace {

std::optional<DType> packed_as(const TrainingPlan& plan) {
  constexpr std::array<DType, 4> dtypes{DType::uint8, DType::bf16, DType::fp16, DType::fp32};
  const QuantStorage storage = plan.quantization.storage.value;
  if (storage == QuantStorage::uint8) return std::nullopt;
  return dtypes[static_cast<std::size_t>(storage)];
}

// Where expressions have these names, the embedding's output is asked for a gradient (train.py:
// enable_input_require_grads).
bool trains_embeddings(const TrainingPlan& plan) {
  return std::ranges::any_of(plan.recipe.trained.value, [](const std::string& text) {
    return text.find("lm_head") != std::string::npos || text.find("embed_tokens") != std::string::npos;
  });
}

// transformers 4 asks what get_input_embeddings() returns, which of a model with towers is its language model's.
bool asks_language_alone(const TrainingPlan& plan, const Architecture& architecture) {
  return plan.framework.find("transformers 4.") != std::string::npos &&
         std::ranges::any_of(architecture.body, &Segment::tower);
}

// TRL's trainers, but for GKD's, ask for none in the call itself (compute_loss); others in the config of the whole
// model alone.
bool fills_cache(const TrainingPlan& plan, const Architecture& architecture) {
  constexpr std::array unasking{RecipeKind::supervised, RecipeKind::distillation, RecipeKind::raised_pairs};
  const bool unasked = std::ranges::count(unasking, plan.recipe.kind.value) > 0;
  const bool asked = plan.recipe.trainer.value == "sft" || !unasked;
  // LLaMA-Factory (configure_kv_cache) and Axolotl (check_model_config) switch it off in the part's config too.
  const bool silent = plan.recipe.trainer.value == "trainer" && plan.framework.starts_with("transformers ");
  // Gemma3ForSequenceClassification.forward takes no use_cache.
  const bool classifies = plan.model.head.value != HeadKind::language_model;
  return (architecture.caches_unasked || (architecture.caches_by_default && (silent || classifies))) && !asked;
}

Images images_of(const TrainingPlan& plan, const Architecture& architecture) {
  const ImageFacts& i = plan.images;
  Images out;
  out.count = std::max<std::int64_t>(i.count.value, 0);
  constexpr std::array of_pictures{Rows::pictures, Rows::pairs, Rows::latents};
  if (std::ranges::count(of_pictures, architecture.rows) > 0) out.count = 1;
  out.height = i.height.value;
  out.width = i.width.value;
  out.at = i.count.origin.where;
  out.token_types = out.count > 0 || i.token_types.value;
  out.tiles = i.tiles.value;
  if (const auto dtype = resolved(i.dtype.value)) out.dtype = *dtype;
  return out;
}

Images sounds_of(const TrainingPlan& plan, const Architecture& architecture) {
  Images out;
  if (std::ranges::any_of(architecture.body, &Segment::hears))
    out.count = std::max<std::int64_t>(plan.images.clips.value, 0);
  out.at = plan.images.clips.origin.where;
  if (const auto dtype = resolved(plan.images.dtype.value)) out.dtype = *dtype;
  return out;
}

/// Where LoRA on the embedding was held against runs: others load it otherwise, or have functions of their own for it.
bool adapts_embeddings(const TrainingPlan& plan) {
  constexpr std::array<std::string_view, 2> trainers{"trl ", "transformers "};
  const auto is_of = [&](std::string_view whose) { return plan.framework.starts_with(whose); };
  const bool known = plan.framework.empty() || std::ranges::any_of(trainers, is_of);
  return known && !plan.adapter.dora.value && holds_whole(plan.mesh);
}

/// DeepSpeed's engine casts the model that it is given, adapters and all.
void cast_as_engine(const TrainingPlan& plan, Facts& f) {
  const auto held = resolved(plan.mesh.zero_dtype.value);
  if (!is_zero(plan.mesh.sharding.value) || !held) return;
  f.adapter = f.quantized_adapter = *held;
  if (f.quantized) return;
  f.weights = *held;
  f.fp32_norms = f.trained_to_fp32 = f.fp32_while_loading = false;
}

OneOf checkpointed_of(const TrainingPlan& plan) {
  return {plan.checkpointing.every.value, plan.checkpointing.place.value == CheckpointPlace::first};
}

/// Where nobody asks for a kernel, transformers chooses for each part by itself: eager for a language model that has no
/// sdpa, sdpa for the tower beside it.
Attention tower_attention(const TrainingPlan& plan, const Architecture& architecture) {
  const Setting<Attention>& asked = plan.kernels.attention;
  const bool fell_back = asked.value == Attention::eager && asked.origin.kind == Origin::Kind::framework_default;
  return fell_back && !architecture.no_sdpa.empty() ? Attention::sdpa : asked.value;
}

/// Whether a part of the name is a number, as a layer's is.
bool names_a_layer(std::string_view target) {
  const auto is_number = [](std::string_view part) {
    return !part.empty() && std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
  };
  for (std::size_t end = target.find('.'); end != target.npos; end = target.find('.')) {
    if (is_number(target.substr(0, end))) return true;
    target.remove_prefix(end + 1);
  }
  return is_number(target);
}

}  // namespace

DType loaded_dtype(const TrainingPlan& plan, const Architecture& architecture) {
  switch (plan.precision.weights_dtype.value) {
    case WeightsDType::checkpoint:
      return architecture.checkpoint_dtype;
    case WeightsDType::fp32:
      return DType::fp32;
    case WeightsDType::bf16:
      return DType::bf16;
    case WeightsDType::fp16:
      return DType::fp16;
  }
  return DType::fp32;
}

std::vector<std::int64_t> lora_layers_of(const TrainingPlan& plan) {
  std::vector<std::int64_t> out;
  if (plan.adapter.kind.value == Adapter::none) return out;
  for (const std::string& number : plan.adapter.layers.value) out.push_back(std::stoll(number));
  return out;
}

ByNumber by_number(const TrainingPlan& plan) {
  return {.trained_layers = plan.recipe.trained_layers.value,
          .checkpointed = plan.checkpointing.on.value ? checkpointed_of(plan) : OneOf{},
          .lora_layers = lora_layers_of(plan)};
}

Task task_of(const TrainingPlan& plan, const Architecture& architecture) {
  if (plan.recipe.kind.value == RecipeKind::sentence_embedding) return Task::sentence_embedding;
  switch (plan.model.head.value) {
    case HeadKind::language_model:
      break;
    case HeadKind::sequence_classifier:
      return Task::sequence_classification;
    case HeadKind::token_classifier:
      return Task::token_classification;
    case HeadKind::image_classifier:
      return Task::classification;
    case HeadKind::question_answering:
      return Task::question_answering;
    case HeadKind::multiple_choice:
      return Task::multiple_choice;
  }
  return architecture.task;
}

// transformers leaves a model alone that Liger has nothing for, and its loss with it (_apply_liger_kernel_to_instance).
const Objective* objective_of(const TrainingPlan& plan, const Architecture& architecture) {
  const bool capped = architecture.unsloth && architecture.head.find("softcap") != nullptr;
  if (capped && plan.recipe.loss.value == Loss::unsloth_fused) return &objectives::unsloth_fused_capped;
  const bool left = plan.recipe.loss.value == Loss::liger_fused_linear && !architecture.liger.loss.value_or(true);
  const Task task = task_of(plan, architecture);
  return find_objective(left ? Loss::full_logits : plan.recipe.loss.value, task);
}

Result<Facts> resolve(const TrainingPlan& plan, const Architecture& architecture) {
  if (Diagnostics errors = check(plan, architecture); !errors.empty()) return errors;
  Facts f;
  f.tensor_parallel = {std::max<std::int64_t>(plan.mesh.tensor_parallel.value, 1), plan.mesh.sequence_parallel.value,
                       plan.mesh.loss_parallel.value};
  if (is_pipelined(plan.mesh)) f.width = width_of(architecture);
  f.choices = texts_in_row(plan);
  f.batch = saturating_mul(plan.batch.micro_batch_size.value, f.choices);
  const std::int64_t sharing = std::max<std::int64_t>(plan.mesh.context_parallel.value, 1);
  const std::int64_t row = plan.batch.sequence_length.value;
  f.context_parallel = {sharing, row, plan.mesh.context_rotation.value == ContextRotation::alltoall};
  f.length = row / sharing;
  f.images = images_of(plan, architecture);
  if (!architecture.processor.op.empty() && f.images.count > 0) {
    if (auto problem = hand_over(architecture.processor, architecture.source, f.images)) return *problem;
  }
  f.images.tiles = std::max<std::int64_t>(f.images.tiles, 1);
  f.sounds = sounds_of(plan, architecture);
  if (!architecture.sound_processor.op.empty() && f.sounds.count > 0) {
    const std::int64_t milliseconds = plan.images.clip_milliseconds.value;
    if (auto problem = hear(architecture.sound_processor, architecture.source, milliseconds, f.sounds)) return *problem;
  }
  f.rows = architecture.rows;
  f.frozen = plan.recipe.frozen.value;
  f.weights = loaded_dtype(plan, architecture);
  f.quantized = plan.quantization.kind.value != Quantization::none;
  f.int8 = plan.quantization.kind.value == Quantization::int8;
  f.quantized_before = f.quantized && architecture.quantized.has_value();
  f.kbit_upcast = f.quantized && plan.quantization.kbit_upcast.value;
  if (plan.precision.autocast.value != Autocast::none) {
    f.autocast = plan.precision.autocast.value == Autocast::bf16 ? DType::bf16 : DType::fp16;
  }
  f.kind = plan.adapter.kind.value;
  f.lora_rank = plan.adapter.rank.value;
  f.lora_targets = plan.adapter.targets.value;
  if (f.adapts()) f.lora_layers = lora_layers_of(plan);
  f.lora_layers_pattern = plan.adapter.layers_pattern.value;
  f.adapts_embeddings = adapts_embeddings(plan);
  f.update = plan.adapter.update.value;
  f.target_parameters = plan.adapter.target_parameters.value;
  name_experts(architecture, f);
  f.lora_targets_at = plan.adapter.targets.origin.where;
  if (f.adapts() && is_expression(f.lora_targets))
    f.lora_pattern = std::make_shared<const Pattern>(*Pattern::parse(f.lora_targets.front()));
  f.lora_names_layers = std::ranges::any_of(f.lora_targets, names_a_layer);
  for (const std::string& text : plan.recipe.trained.value) f.trained.push_back(*Pattern::parse(text));
  const bool named = !plan.recipe.trained.value.empty();
  f.trained_at = named ? plan.recipe.trained.origin.where : plan.recipe.frozen.origin.where;
  f.trained_layers = plan.recipe.trained_layers.value;
  f.layer_parts = plan.recipe.layer_parts.value;
  if (f.trained_layers != 0) f.trained_at = plan.recipe.trained_layers.origin.where;
  // transformers asks for it wherever it checkpoints (modeling_utils.py: _activation_checkpointing_enable).
  // It leaves out Whisper, whose main input is no input_ids: there scripts ask for it, or no adapter below learns.
  // Older TRL leaves it to peft's prepare_model_for_kbit_training, which does so for reentrant checkpoints alone.
  const bool by_peft = f.kbit_upcast && plan.precision.fp32_while_loading.value;
  const bool by_lightning = plan.framework.starts_with("litgpt ");
  const bool leaves_out =
      plan.checkpointing.wrapped.value || by_lightning || (by_peft && !plan.checkpointing.reentrant.value);
  // LLaMA-Factory leaves it to peft, which does so where nothing is quantized (peft_model.py: PeftModel.__init__).
  const bool by_llamafactory = plan.framework.starts_with("llamafactory ");
  const bool freezes_layers = f.trained_layers != 0 && !plan.framework.starts_with("llamafactory_v1 ");
  const bool by_framework = by_llamafactory ? f.adapts() && !f.quantized : !leaves_out && !freezes_layers;
  // A pipeline's stages are modules that no framework switches checkpoints on in.
  const bool asks = plan.checkpointing.on.value && by_framework && !is_pipelined(plan.mesh);
  // accelerate 1.13.0 (utils/fsdp_utils.py: fsdp2_apply_ac) wraps the modules in the blocks, and then Axolotl's
  // fsdp2_prepare_model the blocks.
  f.checkpoints_modules = plan.checkpointing.wrapped.value && plan.mesh.sharding.value == Sharding::fsdp2 &&
                          plan.mesh.fsdp_units.value == ShardUnits::adapters;
  f.input_grads = asks || (f.adapts() && plan.adapter.input_grads.value) || trains_embeddings(plan);
  f.patch_grads = f.input_grads && !asks_language_alone(plan, architecture);
  const bool refers = plan.recipe.cache_kind.value != CacheKind::copies;
  f.fills_cache = fills_cache(plan, architecture) || (plan.recipe.use_cache.value && refers);
  f.generates = plan.recipe.kind.value == RecipeKind::grpo && plan.recipe.generation.value == Generation::transformers;
  f.modules_to_save = f.adapts() ? plan.adapter.modules_to_save.value : std::vector<std::string>{};
  f.modules_to_save_at = plan.adapter.modules_to_save.origin.where;
  if (plan.adapter.dtype.value == AdapterDType::bf16) f.saved_dtype = DType::bf16;
  f.dora = f.adapts() && plan.adapter.dora.value;
  f.init = plan.adapter.init.value;
  f.feedforward = plan.adapter.feedforward.value;
  f.block = plan.adapter.block.value;
  f.own_lora = plan.framework.starts_with("litgpt ");
  f.own_dora = f.dora && plan.framework.starts_with("torchtune ");
  f.lora_dropout = plan.adapter.dropout.value;
  f.adapter = adapter_dtype(plan.adapter.dtype.value, f.weights);
  // peft takes a 4-bit layer's compute dtype for its base (tuners_utils.py: _get_base_layer_device_and_dtype), and
  // casts no adapter to a type of integers.
  f.lightning = plan.quantization.linear.value == QuantizedLinear::lightning;
  f.bitsandbytes = f.lightning || plan.quantization.linear.value == QuantizedLinear::bitsandbytes;
  f.torchao = plan.quantization.linear.value == QuantizedLinear::torchao;
  // Axolotl 0.18 pins bitsandbytes 0.49.1; litgpt's extra keeps it below 0.50.
  f.gemm_4bit = f.bitsandbytes && !f.lightning && !plan.framework.starts_with("axolotl ");
  const bool computes = f.bitsandbytes && !f.int8;
  const DType of_base = computes ? plan.quantization.compute_dtype.value : f.torchao ? f.weights : DType::fp32;
  f.quantized_adapter = adapter_dtype(plan.adapter.dtype.value, of_base);
  f.lora_qkv_kernel = plan.kernels.lora_qkv.value;
  f.lora_o_kernel = plan.kernels.lora_o.value;
  f.lora_mlp_kernel = plan.kernels.lora_mlp.value;
  f.checkpoint = f.quantized ? plan.quantization.checkpoint.value : 0;
  f.fake_group = plan.quantization.fake_group.value;
  f.double_quantized = plan.quantization.double_quantization.value;
  f.quantized_experts = plan.quantization.experts.value;
  f.unpacks = !architecture.packed.empty() && plan.quantization.dequantized.value == Dequantized::on_device;
  f.packed_as = packed_as(plan);
  f.quantized_compute = plan.quantization.compute_dtype.value;
  f.checkpointing = plan.checkpointing.on.value;
  f.reentrant = plan.checkpointing.reentrant.value;
  f.checkpointed = checkpointed_of(plan);
  f.early_stop = plan.checkpointing.early_stop.value;
  f.keeps_products = plan.checkpointing.keeps.value == CheckpointKeeps::products;
  f.attention = plan.kernels.attention.value;
  f.tower_attention = tower_attention(plan, architecture);
  f.experts = plan.kernels.experts.value;
  f.routing = plan.kernels.routing.value;
  f.scan_packages = plan.kernels.scan_packages.value;
  // The checkpoint's size counts what it leaves in 16 bits, whichever it is.
  for (const std::string& text : f.checkpoint > 0 ? std::vector<std::string>{} : plan.quantization.skipped.value)
    f.unquantized.push_back({text, *Pattern::parse(text)});
  f.padding_mask = plan.batch.padding_mask.value;
  f.samples_joined = plan.longest_sample > 0;
  f.told_of_pieces = plan.loader.packed.value && takes_flash(f.attention);
  f.may_be_equal = f.padding_mask && plan.batch.padding_mask.origin.kind == Origin::Kind::assumed;
  f.mask_sent = plan.batch.mask_sent.value;
  f.fp32_norms = plan.precision.fp32_norms.value;
  f.holds_gradients = plan.framework.starts_with("llamafactory_v1 ");
  // transformers' Trainer makes them where a row is shared (_prepare_context_parallel_inputs).
  f.positions_sent = plan.recipe.loss.value == Loss::weighted_logprob || sharing > 1;
  f.python_norms = plan.recipe.loss.value == Loss::linear_cross_entropy;
  f.trained_to_fp32 = plan.precision.trained_to_fp32.value;
  f.fp32_while_loading = plan.precision.fp32_while_loading.value;
  cast_as_engine(plan, f);
  f.patched_log_softmax = plan.kernels.patched_log_softmax.value;
  f.token_metrics = plan.recipe.token_metrics.value;
  f.logit_shift = plan.recipe.logit_shift.value;
  f.pair_scores = plan.recipe.pair_scores.value;
  f.sdpa_keys = plan.kernels.sdpa_keys.value;
  f.additive_mask = plan.kernels.additive_mask.value;
  f.rotary_in_layers = plan.kernels.rotary_in_layers.value;
  f.cache_kind = plan.recipe.cache_kind.value;
  const bool compiled = runs_compiled(plan, architecture);
  f.unsloth = plan.kernels.unsloth.value != UnslothLayers::none && !compiled;
  f.joined = plan.batch.joined.value;
  f.loss_part = plan.recipe.loss_part.value;
  f.fused_norm_rope = plan.kernels.fused_norm_rope.value;
  f.scores_rows = plan.recipe.kind.value == RecipeKind::reward;
  f.has_values = plan.recipe.kind.value == RecipeKind::reward_values;
  f.labelled = plan.batch.completion_length.value;
  f.router_loss = plan.recipe.router_loss.value;
  f.neftune = plan.recipe.neftune.value;
  f.objective = objective_of(plan, architecture);
  f.task = task_of(plan, architecture);
  f.labels = plan.model.labels.value > 0 ? plan.model.labels.value : architecture.labels;
  f.vocabulary = plan.model.vocabulary.value;
  if (f.task == Task::sentence_embedding) f.dense_width = plan.recipe.dense_width.value;
  f.mean_resizing = plan.model.mean_resizing.value;
  const bool targets = plan.batch.target_length.value > 0 && !labels_rows(f.task);
  f.target_length = targets ? plan.batch.target_length.value : f.length;
  f.evaluation_objective = find_objective(f.objective->evaluated, f.task);
  f.evaluates = plan.evaluation.evaluates.value;
  const LigerParts& liger = architecture.liger;
  const LigerParts::Norm norm = liger.rms_norm.value_or(LigerParts::Norm::none);
  // unsloth/kernels/rms_layernorm.py has the memory of Liger's.
  // Compiled ones keep as much.
  f.liger_rms_norm = f.unsloth || compiled || (norm != LigerParts::Norm::none && plan.kernels.liger_rms_norm.value);
  f.liger_norm_copies = !f.unsloth && norm == LigerParts::Norm::copied;
  f.liger_rope = liger.rope.value_or(false) && plan.kernels.liger_rope.value;
  f.liger_glu = liger.glu.value_or(false) && plan.kernels.liger_glu.value;
  f.offload = plan.checkpointing.offload.value;
  if (architecture.teacher != nullptr) {
    Result<Facts> teacher = resolve(plan_of_teacher(plan), *architecture.teacher);
    if (!teacher) return teacher.errors();
    teacher->fills_cache = true;  // transformers' default, which no trainer changes for it.
    f.teacher = std::make_shared<const Facts>(std::move(*teacher));
  }
  return f;
}

}  // namespace oomplan::estimator
