#include "checks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "adapter_checks.hpp"
#include "context_parallel_checks.hpp"
#include "embedding_checks.hpp"
#include "expert_targets.hpp"
#include "facts.hpp"
#include "head_checks.hpp"
#include "loss_checks.hpp"
#include "media_checks.hpp"
#include "mesh.hpp"
#include "oomplan/catalog/catalog.hpp"
#include "oomplan/plan/texts.hpp"
#include "own_models.hpp"
#include "pipeline/checks.hpp"
#include "play.hpp"
#include "recipe_titles.hpp"
#include "teacher.hpp"
#include "tensor_parallel_checks.hpp"
#include "unsloth_checks.hpp"
#include "vocabulary_checks.hpp"
#include "weight_checks.hpp"

namespace oomplan::estimator {
namespace {

Diagnostic too_long(std::string message, const Origin& origin) {
  return error_of("estimate/too-long", std::move(message), origin);
}

// Sizes up to these leave room in 64 bits for what an op adds to them; products of them saturate.
constexpr std::int64_t most_tokens = std::int64_t{1} << 40;
constexpr std::int64_t most_labels = std::int64_t{1} << 24;
constexpr std::int64_t highest_rank = std::int64_t{1} << 31;

Diagnostic too_large(const std::string& what, const Origin& origin) {
  Diagnostic d;
  d.code = "estimate/too-large";
  d.message = fmt::format("{} tensors larger than any memory", what);
  d.where = origin.where;
  return d;
}

std::int64_t evaluation_tokens(const TrainingPlan& plan) {
  const std::int64_t rows = plan.evaluation.rows.value;
  const std::int64_t length = plan.evaluation.length.value;
  const std::int64_t texts = saturating_mul(rows > 0 ? rows : plan.batch.micro_batch_size.value, texts_in_row(plan));
  return saturating_mul(texts, length > 0 ? length : plan.batch.sequence_length.value);
}

void check_sizes(const TrainingPlan& plan, Diagnostics& errors) {
  const std::int64_t longest_row = std::max(plan.batch.sequence_length.value, plan.batch.target_length.value);
  const std::int64_t texts = saturating_mul(plan.batch.micro_batch_size.value, texts_in_row(plan));
  if (saturating_mul(texts, longest_row) > most_tokens) {
    errors.push_back(too_large_batch(plan));
  }
  if (plan.evaluation.evaluates.value && evaluation_tokens(plan) > most_tokens) {
    errors.push_back(too_large(fmt::format("a batch of {} tokens in evaluation makes", evaluation_tokens(plan)),
                               plan.evaluation.rows.origin));
  }
  const auto longest = std::ranges::max_element(plan.batch.lengths.value);
  if (longest != plan.batch.lengths.value.end() && *longest > plan.batch.sequence_length.value) {
    errors.push_back(too_long(
        fmt::format("lengths: {} tokens are more than sequence_length, {}", *longest, plan.batch.sequence_length.value),
        plan.batch.lengths.origin));
  }
  if (plan.model.labels.value > most_labels) {
    errors.push_back(too_large(fmt::format("{} labels make", plan.model.labels.value), plan.model.labels.origin));
  }
  for (const Setting<std::int64_t>* size : {&plan.adapter.rank, &plan.adapter.block}) {
    if (plan.adapter.kind.value == Adapter::none || size->value <= highest_rank) continue;
    const std::string_view of = size == &plan.adapter.rank ? "rank" : "block size";
    errors.push_back(too_large(fmt::format("a {} {} of {} makes", title_of(plan.adapter.kind.value), of, size->value),
                               size->origin));
  }
}

// Held against supervised training alone, on one rank, and of adapters under DDP.
void check_offload(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  const Setting<Offload>& offload = plan.checkpointing.offload;
  if (offload.value == Offload::none) return;
  const auto cannot = [&](const std::string& what) {
    errors.push_back(unmodelled("activation offloading " + what + " is not modelled yet", offload.origin));
  };
  const bool of_others = plan.kernels.unsloth.value == UnslothLayers::none && !runs_compiled(plan, architecture);
  if (of_others && plan.recipe.kind.value != RecipeKind::supervised) cannot("in " + title_of(plan.recipe.kind.value));
  const bool copies = plan.mesh.sharding.value == Sharding::ddp && plan.adapter.kind.value == Adapter::lora;
  if (plan.mesh.sharding.value != Sharding::none && !copies) cannot("of a sharded model");
  // A run of Falcon Mamba took 6 % more than is played.
  const bool again = plan.checkpointing.on.value && plan.checkpointing.reentrant.value;
  const bool scans = any_op(architecture, [](const OpSpec& spec) { return spec.op == "mamba_mixer"; });
  if (again && scans) cannot("of state-space layers in reentrant checkpoints");
}

// Of FSDP2's parameters the gradient's hooks run as it is reduced (_fsdp_collectives.py: foreach_reduce). Other recipes
// and policies were not run so.
void check_in_backward(const TrainingPlan& plan, Diagnostics& errors) {
  const Setting<bool>& in_backward = plan.optimizer.in_backward;
  if (!in_backward.value) return;
  const MeshFacts& mesh = plan.mesh;
  const bool of_blocks = mesh.sharding.value == Sharding::fsdp2 && mesh.fsdp_units.value == ShardUnits::blocks;
  const bool held = mesh.sharding.value == Sharding::none || (of_blocks && !mesh.fsdp_offload.value);
  if (held && plan.recipe.kind.value == RecipeKind::supervised) return;
  errors.push_back(unmodelled("an optimizer that steps in backward is not modelled yet " +
                                  std::string(held ? "in this recipe" : "of a model that is sharded so"),
                              in_backward.origin));
}

// A config that names an optimizer by its framework's name has it among the plan's gaps already.
void check_optimizer(const TrainingPlan& plan, Diagnostics& errors) {
  const std::string& name = plan.optimizer.name.value;
  const bool said = std::ranges::count(plan.unmodelled, "optimizer " + name, &Unmodelled::feature) > 0;
  if (said || find_optimizer(name) != nullptr) return;
  errors.push_back(unmodelled(fmt::format("optimizer \"{}\" is not modelled yet", name), plan.optimizer.name.origin));
}

void check_patterns(const TrainingPlan& plan, Diagnostics& errors) {
  const auto check = [&](const std::string& text, const Origin& at) {
    if (!Pattern::parse(text))
      errors.push_back(unmodelled(fmt::format("the regular expression \"{}\" is not read yet", text), at));
  };
  constexpr std::size_t most_expressions = 64;
  if (plan.recipe.trained.value.size() > most_expressions) {
    const std::string what = fmt::format("more than {} regular expressions of parameters", most_expressions);
    return errors.push_back(unmodelled(what + " are not modelled", plan.recipe.trained.origin));
  }
  const auto& targets = plan.adapter.targets;
  if (plan.adapter.kind.value != Adapter::none && is_expression(targets.value))
    check(targets.value.front(), targets.origin);
  for (const std::string& text : plan.recipe.trained.value) check(text, plan.recipe.trained.origin);
  if (!plan.recipe.trained.value.empty() && !plan.adapter.modules_to_save.value.empty()) {
    errors.push_back(
        unmodelled("trained_parameters beside modules_to_save are not modelled yet", plan.recipe.trained.origin));
  }
}

/// In what the run would load the weights.
Diagnostic unseen_dtype(const TrainingPlan& plan, const Architecture& architecture) {
  Diagnostic d = unmodelled(fmt::format("{}: the dtype of its checkpoint was not seen", architecture.source),
                            plan.precision.weights_dtype.origin);
  d.hint = "weights_dtype says it: bf16, fp16 or fp32";
  return d;
}

// With adapters the sum with the noise stands beside the embedding's output; elsewhere it is gone at once. Which module
// transformers takes for the embedding is not that of tokens in a model of pictures or sounds, and in one with an
// encoder and a decoder a third, which none of them calls (T5ForConditionalGeneration.get_input_embeddings).
void check_noise(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  const Setting<bool>& noise = plan.recipe.neftune;
  const bool other = architecture.rows != Rows::tokens || architecture.task == Task::sequence_to_sequence;
  if (!noise.value || !other || plan.adapter.kind.value == Adapter::none) return;
  errors.push_back(
      unmodelled("NEFTune with adapters of " + architecture.model_type + " is not modelled yet", noise.origin));
}

void check_trained_layers(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  const Setting<std::int64_t>& layers = plan.recipe.trained_layers;
  if (layers.value == 0) return;
  const auto cannot = [&](const std::string& what) {
    errors.push_back(unmodelled("freeze tuning " + what + " is not modelled yet", layers.origin));
  };
  if (architecture.body.size() != 1) cannot("of " + architecture.model_type + ", which has more than one stack,");
  if (plan.adapter.kind.value != Adapter::none) cannot("beside an adapter");
  if (plan.mesh.sharding.value != Sharding::none) cannot("of a model that is spread over ranks");
}

/// Zamba's layers share weights though they do not follow each other, and have a checkpoint within theirs.
bool has_shared_transformer(const Architecture& architecture) {
  return std::ranges::any_of(architecture.body, [](const Segment& segment) {
    return std::ranges::any_of(segment.kinds, [](const std::vector<OpSpec>& block) {
      return std::ranges::find(block, "zamba_transformer", &OpSpec::op) != block.end();
    });
  });
}

void check_shared_transformer(const TrainingPlan& plan, Diagnostics& errors) {
  if (!holds_whole(plan.mesh)) {
    errors.push_back(unmodelled("a transformer that layers share, spread over ranks, is not modelled yet",
                                plan.mesh.sharding.origin));
  }
  if (plan.checkpointing.offload.value != Offload::none) {
    errors.push_back(unmodelled("offloading of checkpoints within checkpoints is not modelled yet",
                                plan.checkpointing.offload.origin));
  }
  if (plan.recipe.trained_layers.value != 0) {
    errors.push_back(unmodelled("training some of the layers that share a transformer is not modelled yet",
                                plan.recipe.trained_layers.origin));
  }
}

// flash-attn takes no other types, and transformers casts fp32 to the model's own, which is fp32 here
// (integrations/flash_attention.py: get_target_dtype).
void check_flash(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  if (!plan.unmodelled.empty()) return;  // One of these may be what the weights are made in.
  const Setting<Attention>& attention = plan.kernels.attention;
  const MeshFacts& mesh = plan.mesh;
  const auto is_half = [](MixedDType type) { return type == MixedDType::bf16 || type == MixedDType::fp16; };
  const bool half = plan.precision.autocast.value != Autocast::none || is_half(mesh.zero_dtype.value) ||
                    (is_fsdp(mesh.sharding.value) && is_half(mesh.fsdp_param_dtype.value));
  if (!takes_flash(attention.value) || half) return;
  if (loaded_dtype(plan, architecture) != DType::fp32) return;
  if (plan.precision.weights_dtype.value == WeightsDType::checkpoint && !architecture.names_dtype) {
    return errors.push_back(
        unmodelled("FlashAttention 2 over weights whose type neither the config nor the model's config.json names: it "
                   "stops at fp32",
                   attention.origin));
  }
  errors.push_back({.code = "estimate/bad-attention",
                    .message = "FlashAttention 2 takes bf16 and fp16 alone, and is given fp32 here: the run stops",
                    .where = attention.origin.where,
                    .hint = "weights or autocast in bf16 or fp16, or another attention"});
}

/// What only some architectures can be.
void check_body(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  if (plan.checkpointing.on.value && !architecture.no_checkpointing.empty()) {
    errors.push_back(unmodelled(fmt::format("gradient checkpointing of {} is not modelled ({})",
                                            architecture.model_type, architecture.no_checkpointing),
                                plan.checkpointing.on.origin));
  }
  const bool shares = std::ranges::any_of(architecture.body, [](const Segment& s) { return s.groups > 0; });
  if (shares && plan.mesh.sharding.value == Sharding::fsdp2) {
    errors.push_back(unmodelled("FSDP2 of layers that share weights is not modelled yet", plan.mesh.sharding.origin));
  }
  if (has_shared_transformer(architecture)) check_shared_transformer(plan, errors);
  if (architecture.task != Task::sequence_to_sequence) return;
  if (takes_flash(plan.kernels.attention.value)) {
    errors.push_back(
        unmodelled("flash attention in an encoder-decoder is not modelled yet", plan.kernels.attention.origin));
  }
  if (loaded_dtype(plan, architecture) == DType::fp16) {
    errors.push_back(unmodelled("an encoder-decoder in fp16, which clamps its hidden states, is not modelled yet",
                                plan.precision.weights_dtype.origin));
  }
  if (architecture.max_positions > 0 && plan.batch.target_length.value > architecture.max_positions) {
    errors.push_back(
        too_long(fmt::format("labels of {} tokens are longer than the {} positions of {}",
                             plan.batch.target_length.value, architecture.max_positions, architecture.source),
                 plan.batch.target_length.origin));
  }
}

// What of a rollout by generate() no run was held against.
void check_generation(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  if (plan.recipe.generation.value != Generation::transformers) return;
  const auto cannot = [&](const std::string& what, const Origin& origin) {
    errors.push_back(unmodelled(what + " is not modelled yet", origin));
  };
  if (!architecture.generates) cannot("generation by " + architecture.model_type, plan.recipe.generation.origin);
  if (!architecture.generation_asks.empty())
    cannot("generation with " + architecture.generation_asks, plan.recipe.generation.origin);
  if (takes_flash(plan.kernels.attention.value) && plan.adapter.kind.value != Adapter::none &&
      loaded_dtype(plan, architecture) == DType::fp32) {
    cannot("generation by an adapter of a model in fp32, which FlashAttention 2 does not take,",
           plan.kernels.attention.origin);
  }
  // A run at stage 3, whose modules lose their hooks meanwhile, took 4 % less than would be played.
  const bool measured =
      holds_whole(plan.mesh) || (is_zero(plan.mesh.sharding.value) && plan.mesh.sharding.value != Sharding::zero3);
  if (!measured) cannot("generation by a model that is spread over GPUs", plan.mesh.sharding.origin);
}

// What of weights that go to vLLM no run was held against.
void check_weight_sync(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  const AdapterFacts& adapter = plan.adapter;
  const Generation generation = plan.recipe.generation.value;
  const Quantization quantization = plan.quantization.kind.value;
  const auto cannot = [&](const std::string& what, const Origin& origin) {
    errors.push_back(unmodelled(what + " is not modelled yet", origin));
  };
  if (generation == Generation::transformers) return;
  const bool shared = plan.kernels.unsloth.value != UnslothLayers::none;  // Whose weights are vLLM's own.
  if (generation == Generation::vllm && shared) return;
  if (generation == Generation::vllm && plan.recipe.vllm_sleeps.value)
    cannot("vLLM that sleeps between rollouts", plan.recipe.vllm_sleeps.origin);
  if (generation == Generation::elsewhere && quantization != Quantization::none)
    return cannot("sending quantized weights to a vLLM server", plan.quantization.kind.origin);
  if (adapter.kind.value == Adapter::none) return;
  if (plan.mesh.sharding.value == Sharding::fsdp2)
    cannot("merging an adapter under FSDP2 for vLLM", adapter.kind.origin);
  if (adapter.kind.value != Adapter::lora) cannot("merging another adapter than LoRA for vLLM", adapter.kind.origin);
  if (adapter.dora.value) cannot("merging DoRA for vLLM", adapter.dora.origin);
  if (quantization == Quantization::int8)
    cannot("merging an adapter into weights in 8 bits for vLLM", plan.quantization.kind.origin);
  const bool in_4_bits = quantization == Quantization::nf4 || quantization == Quantization::fp4;
  const DType of_adapter = adapter_dtype(adapter.dtype.value, plan.quantization.compute_dtype.value);
  if (in_4_bits && of_adapter != loaded_dtype(plan, architecture))
    cannot("merging LoRA into 4-bit weights that were loaded in another type than its own for vLLM",
           adapter.dtype.origin);
}

// What of GRPO no run was held against.
void check_rollouts(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  const auto cannot = [&](const std::string& what, const Origin& origin) {
    errors.push_back(unmodelled(what + " is not modelled yet", origin));
  };
  if (plan.recipe.loss.value != Loss::chunked_logprob) cannot("GRPO by the model's logits", plan.recipe.loss.origin);
  if (architecture.router_logits) cannot("GRPO of a mixture of experts", plan.recipe.kind.origin);
  if (plan.batch.sequence_length.value <= plan.batch.completion_length.value) {
    cannot(fmt::format("GRPO with rows of {} tokens, of which completions of {} leave none to the prompt,",
                       plan.batch.sequence_length.value, plan.batch.completion_length.value),
           plan.batch.sequence_length.origin);
  }
  if (has_liger_layers(plan.kernels)) cannot("GRPO with Liger's kernels", plan.kernels.liger_rms_norm.origin);
  check_generation(plan, architecture, errors);
  check_weight_sync(plan, architecture, errors);
}

void check_targets(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  const AdapterFacts& adapter = plan.adapter;
  // peft looks for the experts by the names that they had as modules of their own, which no module here has.
  if (adapter.kind.value != Adapter::none && !architecture.expert_names.empty() &&
      is_expression(adapter.targets.value)) {
    errors.push_back(
        unmodelled("LoRA by a regular expression on a mixture of experts is not modelled yet", adapter.targets.origin));
  }
  const std::string refused = refused_targets(plan, architecture);
  if (refused.empty()) return;
  errors.push_back(unmodelled(refused + " is not modelled", plan.adapter.targets.origin));
}

/// peft takes a name for a regular expression, and wants numbers beside it (LoraConfig.__post_init__).
void check_layers_pattern(const TrainingPlan& plan, Diagnostics& errors) {
  const auto& [names, origin] = plan.adapter.layers_pattern;
  if (plan.adapter.kind.value == Adapter::none || names.empty()) return;
  if (plan.adapter.layers.value.empty())
    errors.push_back(unmodelled("layers_pattern without layers_to_transform, which peft refuses,", origin));
  constexpr std::string_view special = "\\^$|?*+()[]{}";
  const auto is_expression = [&](const std::string& name) { return name.find_first_of(special) != name.npos; };
  if (std::ranges::any_of(names, is_expression))
    errors.push_back(unmodelled("a layers_pattern that is a regular expression is not modelled yet", origin));
}

/// Of LoRA on some layers alone, what peft refuses and what no run showed.
void check_lora_layers(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  const AdapterFacts& adapter = plan.adapter;
  check_layers_pattern(plan, errors);
  if (adapter.kind.value == Adapter::none || adapter.layers.value.empty()) return;
  const auto cannot = [&](const std::string& what) {
    errors.push_back(unmodelled("LoRA on some layers " + what + " is not modelled yet", adapter.layers.origin));
  };
  // Axolotl hands peft the names that all-linear stands for.
  const std::vector<std::string>& targets = adapter.targets.value;
  const bool all = targets == std::vector<std::string>{"all-linear"} && !plan.framework.starts_with("axolotl ");
  if (all || is_expression(targets)) cannot("beside all-linear or an expression, which peft refuses together,");
  const bool plain = architecture.body.size() == 1 && architecture.body.front().groups == 0;
  if (!plain)
    cannot("of " + architecture.model_type + ", which has more than one stack, or layers that share weights,");
  if (!adapter.target_parameters.value.empty() || !architecture.expert_names.empty()) cannot("of a mixture of experts");
  const KernelFacts& k = plan.kernels;
  if (k.lora_qkv.value || k.lora_o.value || k.lora_mlp.value) cannot("with fused LoRA kernels");
  if (k.unsloth.value != UnslothLayers::none) cannot("by Unsloth");
  if (!holds_whole(plan.mesh)) cannot("of a model that is spread over ranks");
}

/// What no run of TRL's trainers showed, or what they refuse, however the plan came to it.
void check_preference(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  if (!plan.unmodelled.empty()) return;  // The config's keys say it better.
  const RecipeKind kind = plan.recipe.kind.value;
  const auto cannot = [&](const std::string& what, const Origin& origin) {
    errors.push_back(unmodelled(what + " is not modelled yet", origin));
  };
  constexpr std::array of_whole{RecipeKind::reference_free,  RecipeKind::reward,       RecipeKind::paired_logits,
                                RecipeKind::unpaired_logits, RecipeKind::distillation, RecipeKind::reward_values,
                                RecipeKind::raised_pairs};
  const bool whole = std::ranges::count(of_whole, kind) > 0;
  const Loss own = whole ? Loss::full_logits : Loss::chunked_logprob;
  const Loss loss = plan.recipe.loss.value;
  if (kind == RecipeKind::sentence_embedding) return;
  if (kind != RecipeKind::supervised && loss != own && loss != Loss::full_logits) {
    cannot(fmt::format("{} with the loss {}", title_of(kind), loss_names[static_cast<std::size_t>(loss)]),
           plan.recipe.loss.origin);
  }
  const auto is_head = [](const std::string& target) { return target == "lm_head" || target.ends_with(".lm_head"); };
  const bool scored = kind == RecipeKind::dpo || kind == RecipeKind::kto || kind == RecipeKind::grpo ||
                      kind == RecipeKind::distillation;
  if (scored && plan.adapter.kind.value != Adapter::none && std::ranges::any_of(plan.adapter.targets.value, is_head)) {
    cannot("LoRA on lm_head, which the trainer refuses,", plan.adapter.targets.origin);
  }
  const KernelFacts& k = plan.kernels;
  if (whole && has_liger_layers(k)) {
    cannot(fmt::format("{} with Liger's kernels", title_of(kind)), k.liger_rms_norm.origin);
  }
  // Axolotl and Unsloth's scripts give the trainer a model that is loaded, adapter and all.
  const bool loaded = k.patched_log_softmax.value || k.unsloth.value != UnslothLayers::none;
  if (kind == RecipeKind::reference_free && plan.quantization.kind.value != Quantization::none && !loaded) {
    cannot("a quantized model in ORPO or CPO", plan.quantization.kind.origin);
  }
  const Setting<Reference>& reference = plan.recipe.reference;
  if (reference.value == Reference::adapter_off && plan.adapter.kind.value == Adapter::none) {
    cannot("a reference without the adapter where there is none", reference.origin);
  }
  if (kind == RecipeKind::unpaired_logits && reference.value == Reference::none) {
    cannot("KTO without a reference", reference.origin);
  }
  if (kind == RecipeKind::grpo) check_rollouts(plan, architecture, errors);
  if (kind == RecipeKind::distillation) check_distillation(plan, architecture, errors);
  if (kind == RecipeKind::kto && plan.recipe.second_term.value && plan.batch.micro_batch_size.value == 1) {
    cannot("KTO's divergence of a batch of one row", plan.batch.micro_batch_size.origin);
  }
  if (kind != RecipeKind::reward) return;
  if (architecture.task != Task::causal_lm || !architecture.sequence_classifier) {
    cannot("a model of rewards from " + architecture.model_type, plan.recipe.kind.origin);
  }
  const auto& saved = plan.adapter.modules_to_save.value;
  if (plan.adapter.kind.value != Adapter::none && std::ranges::count(saved, "score") == 0) {
    cannot("an adapter of a model of rewards whose head is not trained", plan.adapter.kind.origin);
  }
}

/// What positions are counted over. A model without a table of them (ALiBi) counts a whole row, whatever it is sent.
std::int64_t longest_sequence(const TrainingPlan& plan, const Architecture& architecture) {
  const std::int64_t row = plan.batch.sequence_length.value;
  const bool restarts =
      plan.longest_sample > 0 && !any_op(architecture, [](const OpSpec& spec) { return spec.op == "mpt_attention"; });
  return restarts ? std::min(plan.longest_sample, row) : row;
}

void check_all(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  for (const Unmodelled& gap : plan.unmodelled) errors.push_back(error_of(gap));
  for (const std::string& feature : architecture.not_played) {
    errors.push_back(
        unmodelled(fmt::format("{}: {} is not modelled yet", architecture.source, feature), plan.model.name.origin));
  }
  if (architecture.unseen_dtype && plan.precision.weights_dtype.value == WeightsDType::checkpoint)
    errors.push_back(unseen_dtype(plan, architecture));
  if (objective_of(plan, architecture) == nullptr) {
    errors.push_back(unmodelled(fmt::format("the loss {} is not modelled for {} models",
                                            loss_names[static_cast<std::size_t>(plan.recipe.loss.value)],
                                            task_names[static_cast<std::size_t>(task_of(plan, architecture))]),
                                plan.recipe.loss.origin));
  }
  check_head(plan, architecture, errors);
  check_embeddings(plan, errors);
  check_body(plan, architecture, errors);
  check_flash(plan, architecture, errors);
  check_noise(plan, architecture, errors);
  check_trained_layers(plan, architecture, errors);
  check_patterns(plan, errors);
  check_preference(plan, architecture, errors);
  check_losses(plan, architecture, errors);
  const bool copies_cache = plan.recipe.use_cache.value && plan.recipe.cache_kind.value == CacheKind::copies;
  if (copies_cache && !plan.checkpointing.on.value) {
    errors.push_back(unmodelled("a key-value cache in training is not modelled yet", plan.recipe.use_cache.origin));
  }
  check_unsloth(plan, architecture, errors);
  check_optimizer(plan, errors);
  check_offload(plan, architecture, errors);
  check_in_backward(plan, errors);
  check_images(plan, architecture, errors);
  check_mesh(plan, architecture, errors);
  check_tensor_parallel(plan, architecture, errors);
  check_context_parallel(plan, architecture, errors);
  check_pipeline(plan, architecture, errors);
  check_weights(plan, architecture, errors);
  check_vocabulary(plan, architecture, errors);
  check_own_models(plan, architecture, errors);
  check_adapter(plan, architecture, errors);
  check_targets(plan, architecture, errors);
  check_lora_layers(plan, architecture, errors);
  if (copies_cache && plan.evaluation.evaluates.value) {
    errors.push_back(unmodelled("a key-value cache in evaluation is not modelled yet", plan.recipe.use_cache.origin));
  }
  // What is not modelled may make other rows: no certain refusal beside it.
  const std::int64_t sequence = longest_sequence(plan, architecture);
  if (plan.unmodelled.empty() && architecture.max_positions > 0 && sequence > architecture.max_positions) {
    errors.push_back(too_long(fmt::format("a sequence of {} tokens is longer than the {} positions of {}", sequence,
                                          architecture.max_positions, architecture.source),
                              plan.batch.sequence_length.origin));
  }
}

}  // namespace

Diagnostics check(const TrainingPlan& plan, const Architecture& architecture) {
  Diagnostics errors;
  check_all(plan, architecture, errors);
  check_sizes(plan, errors);
  return errors;
}

Diagnostic too_large_batch(const TrainingPlan& plan) {
  return too_large(
      fmt::format("{} rows of {} tokens make", plan.batch.micro_batch_size.value, plan.batch.sequence_length.value),
      plan.batch.sequence_length.origin);
}

}  // namespace oomplan::estimator
