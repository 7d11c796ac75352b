#include "mesh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "facts.hpp"
#include "mesh_errors.hpp"
#include "oomplan/catalog/catalog.hpp"
#include "play.hpp"
#include "recipe_titles.hpp"
#include "zero_checks.hpp"

namespace oomplan::estimator {
namespace {

// Past it no world is, and products of a shard's padding stay small.
constexpr std::int64_t largest_world = 1'000'000;

void check_sizes(const MeshFacts& mesh, Diagnostics& errors) {
  const std::int64_t world = mesh.world_size.value;
  const auto bad = [&](std::string message, const Origin& origin) {
    errors.push_back(mesh_error("estimate/bad-mesh", std::move(message), origin));
  };
  if (world > largest_world) bad(fmt::format("world_size: no machines have {} GPUs", world), mesh.world_size.origin);
  const std::int64_t replicas = mesh.fsdp_replicas.value;
  if (world % replicas != 0) {
    return bad(fmt::format("fsdp_replicas: {} ranks do not make {} equal groups", world, replicas),
               mesh.fsdp_replicas.origin);
  }
  if (mesh.fsdp_reshard.value != Reshard::smaller) return;
  const std::int64_t ranks = mesh.fsdp_reshard_ranks.value;
  if (ranks < 2 || (world / replicas) % ranks != 0) {
    bad(fmt::format("fsdp_reshard_ranks: {} is no part of {} ranks", ranks, world / replicas),
        mesh.fsdp_reshard_ranks.origin);
  }
}

/// accelerate looks for the last norm among the base model's own children (_find_final_norm).
bool has_final_norm(const Architecture& architecture) {
  return std::ranges::any_of(architecture.tail, [](const OpSpec& spec) {
    return spec.op.find("norm") != std::string::npos && std::ranges::count(spec.module, '.') == 1;
  });
}

void check_units(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  const Setting<ShardUnits>& units = plan.mesh.fsdp_units;
  if (architecture.task != Task::causal_lm) {
    errors.push_back(
        unmodelled_under(architecture.model_type + ", which has more units than its blocks,", plan.mesh, units.origin));
  }
  // The head's gradient comes then by DTensor's full_tensor().
  const bool apart = !architecture.tied_embeddings && !has_final_norm(architecture);
  if (apart && plan.adapter.kind.value == Adapter::none && plan.recipe.loss.value == Loss::chunked_logprob) {
    errors.push_back(unmodelled_under("a trained head that is gathered by itself", plan.mesh, units.origin));
  }
  // peft's model has no norm that the head is a unit with; of the host, TRL and Liger make the loss there.
  const bool adapts = plan.adapter.kind.value != Adapter::none;
  if (adapts && plan.mesh.fsdp_offload.value && plan.mesh.sharding.value == Sharding::fsdp2 &&
      !architecture.tied_embeddings &&
      (plan.recipe.loss.value == Loss::chunked_logprob || plan.recipe.loss.value == Loss::liger_fused_linear)) {
    errors.push_back(unmodelled_under("a loss that is made on the host, where an adapter's head is,", plan.mesh,
                                      plan.mesh.fsdp_offload.origin));
  }
}

/// What a class is called before its role: that of all a model's own classes.
std::string_view family_of(std::string_view block_class) {
  for (const std::string_view role : {"DecoderLayer", "Block", "Layer"}) {
    if (block_class.ends_with(role)) return block_class.substr(0, block_class.size() - role.size());
  }
  return block_class;
}

/// What stands between blocks has weights that are no block's, and was not measured.
bool has_steps_between(const Architecture& architecture) {
  const auto some = [](const std::vector<OpSpec>& specs) { return !specs.empty(); };
  return std::ranges::any_of(architecture.body, [&](const Segment& segment) {
    return std::ranges::any_of(segment.before, some) || std::ranges::any_of(segment.after, some);
  });
}

/// accelerate looks for a class of each name that it is given, and stops where the model has none
/// (utils/dataclasses.py: set_auto_wrap_policy).
void check_classes(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  if (has_steps_between(architecture)) {
    errors.push_back(
        unmodelled_under("a model that does more than call its blocks in turn", plan.mesh, plan.mesh.sharding.origin));
  }
  const auto& classes = plan.mesh.fsdp_classes;
  const std::string& own = architecture.block_class;
  if (classes.value.empty() || (classes.value.size() == 1 && classes.value.front() == own)) return;
  const auto foreign = [&](const std::string& name) {
    return family_of(name) != name && !own.empty() && !name.starts_with(family_of(own));
  };
  const auto other = std::ranges::find_if(classes.value, foreign);
  if (other == classes.value.end()) {
    errors.push_back(unmodelled_under(
        own.empty() ? "a model whose blocks are of several classes" : "units of other classes than " + own, plan.mesh,
        classes.origin));
  } else {
    errors.push_back(mesh_error(
        "estimate/bad-mesh", fmt::format("accelerate finds no class {} in the model, whose blocks are {}", *other, own),
        classes.origin));
  }
}

/// Elementwise on a shard, as torch's own foreach functions take DTensors.
constexpr std::array<std::string_view, 6> sharded_optimizers{"adamw_foreach", "adamw_for_each", "adamw_fused",
                                                             "sgd",           "sgd_momentum",   "rmsprop"};

/// A block's frozen weights are one flat tensor (torch: FlatParamHandle._validate_tensors_to_flatten), with its norms.
void check_storage(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  const QuantizationFacts& q = plan.quantization;
  if (q.kind.value == Quantization::none) return;
  const auto refuse = [&](std::string why) {
    errors.push_back(mesh_error("estimate/bad-mesh", std::move(why), q.storage.origin));
  };
  if (q.storage.value == QuantStorage::uint8)
    return refuse("FSDP1 cannot flatten 4-bit weights that are stored as uint8");
  constexpr std::array stored{DType::uint8, DType::bf16, DType::fp16, DType::fp32};
  const DType packed = stored.at(static_cast<std::size_t>(q.storage.value));
  const DType held = q.kbit_upcast.value ? DType::fp32 : loaded_dtype(plan, architecture);
  if (packed == held) return;
  refuse(fmt::format("FSDP1 cannot flatten 4-bit weights that are stored as {} with norms in {}", name_of(packed),
                     name_of(held)));
}

/// Of adapters that are flattened with their blocks no run had these.
void check_flattened(const TrainingPlan& plan, const auto& cannot) {
  const MeshFacts& mesh = plan.mesh;
  const auto not_run = [&](const std::string& what, const Origin& origin) {
    cannot(what + ", of adapters that are flattened with weights,", origin);
  };
  if (mesh.fsdp_offload.value) not_run("offload", mesh.fsdp_offload.origin);
  if (mesh.fsdp_reshard.value != Reshard::automatic) not_run("fsdp_reshard", mesh.fsdp_reshard.origin);
  if (mesh.fsdp_replicas.value > 1) not_run("sharding in groups of ranks", mesh.fsdp_replicas.origin);
  if (plan.precision.autocast.value != Autocast::none) not_run("autocast", plan.precision.autocast.origin);
  if (plan.optimizer.clip_gradients.value) not_run("clipping", plan.optimizer.clip_gradients.origin);
  const auto& targets = plan.adapter.targets;
  const auto is_outside = [](const std::string& name) { return name == "lm_head" || name == "embed_tokens"; };
  if (std::ranges::any_of(targets.value, is_outside)) not_run("LoRA outside the blocks", targets.origin);
}

/// FSDP1's wrapper of a model with adapters is peft's, which takes their layers apart.
void check_fsdp1(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  const MeshFacts& mesh = plan.mesh;
  const auto cannot = [&](const std::string& what, const Origin& origin) {
    errors.push_back(unmodelled_under(what, mesh, origin));
  };
  if (mesh.world_size.value == mesh.fsdp_replicas.value) cannot("a world of one", mesh.world_size.origin);
  const bool mixed = !plan.recipe.trained.value.empty() || !plan.recipe.frozen.value.empty();
  if (mixed && !mesh.fsdp_orig_params.value) {
    cannot("flat parameters of which only a part is trained, which torch refuses,", mesh.fsdp_orig_params.origin);
  }
  const bool adapts = plan.adapter.kind.value != Adapter::none;
  const bool flattened = adapts && mesh.fsdp_orig_params.value && mesh.fsdp_units.value == ShardUnits::blocks;
  const AdapterDType dtype = plan.adapter.dtype.value;
  const WeightsDType weights = plan.precision.weights_dtype.value;
  const bool alike = dtype == AdapterDType::as_base || (dtype == AdapterDType::bf16 && weights == WeightsDType::bf16) ||
                     (dtype == AdapterDType::fp32 && weights == WeightsDType::fp32);
  if (flattened && (!alike || mesh.fsdp_fp32_trained.value)) {
    cannot("adapters of another type than the weights that they are flattened with", plan.adapter.dtype.origin);
  }
  const bool kept = plan.batch.gradient_accumulation_steps.value > 1 && !mesh.sync_each.value;
  if (flattened && plan.quantization.kind.value != Quantization::none) {
    cannot("adapters that are flattened with quantized weights", plan.quantization.kind.origin);
  }
  // A run took 1.9 % more than is played.
  if (flattened && kept && mesh.fsdp_reduce_dtype.value != mesh.fsdp_param_dtype.value) {
    cannot("adapters that are flattened with weights, and gradients that are kept whole and reduced in another type,",
           mesh.fsdp_reduce_dtype.origin);
  }
  if (flattened) check_flattened(plan, cannot);
  if (adapts && plan.checkpointing.wrapped.value) cannot("checkpoint_wrapper over adapters", plan.adapter.kind.origin);
  // A run of MiniCPM 3 took 7 % less than is played.
  const bool offloads = mesh.fsdp_offload.value && mesh.fsdp_prefetch.value == BackwardPrefetch::none;
  if (adapts && offloads && !has_leaves_alone(architecture))
    cannot("LoRA that is offloaded, without prefetch, of " + architecture.model_type, mesh.fsdp_prefetch.origin);
  check_storage(plan, architecture, errors);
}

/// Why an optimizer stops at the DTensors of FSDP2; empty where it does not.
std::string refused_by_dtensors(const std::string& name) {
  const OptimizerFile* file = find_optimizer(name);
  if (file != nullptr && file->source.starts_with("bitsandbytes")) {
    return "bitsandbytes has no sharding strategy for the DTensors of FSDP2, which stops " + name;
  }
  // transformers/optimization.py: its rows and columns are plain tensors of the whole parameter's sizes.
  if (name == "adafactor")
    return "transformers' Adafactor mixes plain tensors with the DTensors of FSDP2, which stops it";
  return {};
}

/// torchao 0.17.0 (optim/adam.py: _new_buffer) makes its states of what DTensors hold here, and compiles its step.
bool takes_dtensors(const std::string& name, const MeshFacts& mesh) {
  const bool states_of_shards = name == "torchao_adamw_8bit" || name == "torchao_adamw_4bit";
  return states_of_shards && mesh.sharding.value == Sharding::fsdp2 && !mesh.fsdp_offload.value;
}

void check_optimizer(const TrainingPlan& plan, Diagnostics& errors) {
  const Setting<std::string>& name = plan.optimizer.name;
  if (std::ranges::find(sharded_optimizers, name.value) != sharded_optimizers.end()) return;
  if (takes_dtensors(name.value, plan.mesh)) return;
  const std::string refused =
      plan.mesh.sharding.value == Sharding::fsdp2 ? refused_by_dtensors(name.value) : std::string();
  errors.push_back(refused.empty() ? unmodelled_under("the optimizer " + name.value, plan.mesh, name.origin)
                                   : mesh_error("estimate/bad-mesh", refused, name.origin));
}

bool has_units_of_adapters(const TrainingPlan& plan) {
  return plan.mesh.sharding.value == Sharding::fsdp2 && plan.mesh.fsdp_units.value == ShardUnits::adapters;
}

/// All that is in no block is with the root, which is whole as long as the model runs.
bool is_rooted(const TrainingPlan& plan) {
  return plan.mesh.sharding.value == Sharding::fsdp1 || has_units_of_adapters(plan);
}

void check_kernels(const TrainingPlan& plan, Diagnostics& errors) {
  const KernelFacts& kernels = plan.kernels;
  const auto check = [&](const Setting<bool>& kernel, bool played) {
    if (kernel.value && !played) errors.push_back(unmodelled_under("a fused kernel", plan.mesh, kernel.origin));
  };
  for (const auto* kernel : {&kernels.lora_qkv, &kernels.lora_o, &kernels.lora_mlp})
    check(*kernel, has_units_of_adapters(plan));
  for (const auto* kernel : {&kernels.liger_rms_norm, &kernels.liger_rope, &kernels.liger_glu}) {
    check(*kernel, true);
  }
}

/// Whether of every op of a block is known how the block's function calls it.
bool has_known_calls(const Architecture& architecture) {
  const auto is_known = [](const OpSpec& spec) {
    const OpType* op = find_op(spec.op);
    return op != nullptr && op->called_by != CalledBy::unknown;
  };
  return std::ranges::all_of(architecture.body, [&](const Segment& segment) {
    return std::ranges::all_of(segment.kinds, [&](const auto& kind) { return std::ranges::all_of(kind, is_known); });
  });
}

/// A reference model is sharded as the policy there, not as TRL has it.
void check_units_of_adapters(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  const auto cannot = [&](const std::string& what, const Origin& origin) {
    errors.push_back(unmodelled_under(what, plan.mesh, origin));
  };
  // What a module is given by name its checkpoint keeps (facts.cpp: checkpoints_modules).
  const Setting<bool>& wrapped = plan.checkpointing.wrapped;
  const bool told = has_known_calls(architecture) && plan.kernels.attention.value != Attention::eager;
  if (wrapped.value && !told) cannot("checkpointing that accelerate and Axolotl both wrap", wrapped.origin);
  const CheckpointingFacts& checkpointing = plan.checkpointing;
  if (checkpointing.on.value && checkpointing.reentrant.value) {
    cannot("reentrant checkpointing of Axolotl's units", checkpointing.reentrant.origin);
  }
  if (plan.recipe.kind.value != RecipeKind::supervised)
    cannot("Axolotl's preference training", plan.recipe.kind.origin);
  const Setting<Quantization>& quantized = plan.quantization.kind;
  if (quantized.value != Quantization::none) cannot("Axolotl's wrapping of 4-bit weights", quantized.origin);
}

/// A module's unit is entered where its op says that it is outside the blocks.
void check_modules(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  const Setting<std::vector<std::string>>& modules = plan.mesh.fsdp_modules;
  if (modules.value.empty()) return;
  const auto cannot = [&](const std::string& what) {
    errors.push_back(unmodelled_under(what, plan.mesh, modules.origin));
  };
  const bool within = std::ranges::any_of(modules.value, [](const std::string& m) { return m.find('.') != m.npos; });
  if (within) cannot("a unit of a block's module");
  if (plan.mesh.sharding.value != Sharding::fsdp2 || plan.mesh.fsdp_units.value != ShardUnits::blocks)
    cannot("a module that is named as a unit beside units of another kind");
  if (plan.recipe.kind.value != RecipeKind::supervised) cannot("a module that is named as a unit, in this recipe,");
  if (architecture.tied_embeddings) cannot("a module that is named as a unit where the head is the embedding");
}

/// GRPO was measured with blocks that are sharded again, and TRL's own checkpoints.
template <class Cannot>
void check_sharded_rollouts(const TrainingPlan& plan, const Cannot& cannot) {
  const MeshFacts& mesh = plan.mesh;
  const CheckpointingFacts& checkpointing = plan.checkpointing;
  if (mesh.world_size.value == 1) cannot("GRPO in a world of one", mesh.world_size.origin);
  if (mesh.fsdp_offload.value) cannot("GRPO that is offloaded", mesh.fsdp_offload.origin);
  if (mesh.fsdp_replicas.value > 1) cannot("GRPO of groups with the same shards", mesh.fsdp_replicas.origin);
  if (mesh.fsdp_reshard.value == Reshard::never || mesh.fsdp_reshard.value == Reshard::smaller)
    cannot("GRPO whose blocks stay whole", mesh.fsdp_reshard.origin);
  if (!checkpointing.on.value || checkpointing.wrapped.value)
    cannot("GRPO with other checkpoints than TRL's", checkpointing.on.origin);
  if (plan.evaluation.evaluates.value) cannot("evaluation in GRPO", plan.evaluation.evaluates.origin);
}

void check_fsdp(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  check_classes(plan, architecture, errors);
  check_modules(plan, architecture, errors);
  const bool units = plan.mesh.sharding.value == Sharding::fsdp1 || has_tail_unit(plan.mesh.fsdp_units.value);
  if (units) check_units(plan, architecture, errors);
  if (plan.mesh.sharding.value == Sharding::fsdp1) check_fsdp1(plan, architecture, errors);
  check_optimizer(plan, errors);
  const auto cannot = [&](const std::string& what, const Origin& origin) {
    errors.push_back(unmodelled_under(what, plan.mesh, origin));
  };
  const RecipeKind kind = plan.recipe.kind.value;
  constexpr std::array measured{RecipeKind::supervised, RecipeKind::dpo, RecipeKind::raised_pairs};
  const bool pairs = kind == RecipeKind::paired_logits && plan.mesh.sharding.value == Sharding::fsdp1;
  const bool rollouts = kind == RecipeKind::grpo && plan.mesh.sharding.value == Sharding::fsdp2;
  if (rollouts) check_sharded_rollouts(plan, cannot);
  if (!rollouts && !pairs && std::ranges::count(measured, kind) == 0) {
    cannot(title_of(kind), plan.recipe.kind.origin);
  }
  if (plan.quantization.kind.value == Quantization::int8) cannot("LLM.int8()", plan.quantization.kind.origin);
  if (plan.adapter.dora.value) cannot("DoRA", plan.adapter.dora.origin);
  if (!plan.adapter.modules_to_save.value.empty()) cannot("modules_to_save", plan.adapter.modules_to_save.origin);
  const Loss loss = plan.recipe.loss.value;
  const bool fused = loss == Loss::liger_0_8_0_fused_linear || loss == Loss::cut_cross_entropy;
  const bool returned = loss == Loss::linear_cross_entropy && plan.mesh.sharding.value == Sharding::fsdp2 &&
                        plan.mesh.fsdp_units.value == ShardUnits::blocks;
  const bool weighted = loss == Loss::weighted_logprob && plan.mesh.fsdp_units.value == ShardUnits::llamafactory;
  const bool summed =
      (loss == Loss::summed_logits || loss == Loss::chunked_output) && plan.mesh.sharding.value == Sharding::fsdp2;
  const bool parts =
      (loss == Loss::chunked_head || loss == Loss::chunked_rows) && plan.mesh.sharding.value == Sharding::fsdp1;
  if (loss != Loss::full_logits && loss != Loss::chunked_logprob && !(fused && is_rooted(plan)) && !returned &&
      !summed && !weighted && !parts && loss != Loss::liger_fused_linear) {
    cannot(fmt::format("the loss {}", loss_names[static_cast<std::size_t>(loss)]), plan.recipe.loss.origin);
  }
  if (plan.recipe.label_smoothing.value) cannot("label smoothing", plan.recipe.label_smoothing.origin);
  // TRL loads a reference then, since the policy is not sharded before training; an adapter's model is on the host.
  const Setting<Reference>& reference = plan.recipe.reference;
  if (reference.value == Reference::precomputed && plan.quantization.kind.value == Quantization::none) {
    cannot("a reference that is asked before training", reference.origin);
  }
  if (plan.precision.trained_to_fp32.value && plan.mesh.sharding.value != Sharding::fsdp1) {
    cannot("weights that go to fp32 once they are loaded", plan.precision.trained_to_fp32.origin);
  }
  if (plan.precision.fp32_norms.value) cannot("fp32 norms beside other weights", plan.precision.fp32_norms.origin);
  const Setting<Autocast>& autocast = plan.precision.autocast;
  if (plan.mesh.sharding.value == Sharding::fsdp2 && autocast.value != Autocast::none) {
    cannot("autocast", autocast.origin);
  }
  check_kernels(plan, errors);
  if (has_units_of_adapters(plan)) check_units_of_adapters(plan, architecture, errors);
}

// Of the others no run was measured.
void check_ddp(const TrainingPlan& plan, Diagnostics& errors) {
  // What a reentrant checkpoint hides is marked ready ahead, and again as its gradient comes (reducer.cpp).
  const CheckpointingFacts& checkpointing = plan.checkpointing;
  if (plan.mesh.ddp_find_unused.value && checkpointing.on.value && checkpointing.reentrant.value) {
    errors.push_back(
        mesh_error("estimate/bad-mesh",
                   "DDP with find_unused_parameters stops at reentrant checkpoints, whose parameters it takes "
                   "for unused",
                   checkpointing.reentrant.origin));
  }
  constexpr std::array measured{RecipeKind::supervised,    RecipeKind::dpo,
                                RecipeKind::kto,           RecipeKind::reward,
                                RecipeKind::grpo,          RecipeKind::reference_free,
                                RecipeKind::paired_logits, RecipeKind::unpaired_logits,
                                RecipeKind::reward_values};
  const RecipeKind kind = plan.recipe.kind.value;
  if (std::ranges::count(measured, kind) > 0) return;
  errors.push_back(mesh_error("estimate/unmodelled", title_of(kind) + " on several ranks is not modelled yet",
                              plan.recipe.kind.origin));
}

/// Of these no run of shards was measured.
void check_never_sharded(const TrainingPlan& plan, Diagnostics& errors) {
  const auto cannot = [&](std::string_view what, const Origin& origin) {
    errors.push_back(unmodelled_under(std::string(what), plan.mesh, origin));
  };
  const auto check = [&](const Setting<bool>& fact, std::string_view what) {
    if (fact.value) cannot(what, fact.origin);
  };
  check(plan.quantization.experts, "experts in 4 bits");
  check(plan.kernels.fused_norm_rope, "the fused kernel of norms and turning");
  const MeshFacts& mesh = plan.mesh;
  const bool of_blocks = mesh.sharding.value == Sharding::fsdp2 && mesh.fsdp_units.value == ShardUnits::blocks;
  const bool titan = mesh.sharding.value == Sharding::fsdp2 && mesh.fsdp_units.value == ShardUnits::torchtitan;
  const Setting<std::int64_t>& every = plan.checkpointing.every;
  if (plan.checkpointing.on.value && every.value > 1 && !of_blocks && !titan)
    cannot("checkpoints of some layers", every.origin);
  const auto ranks = static_cast<std::uint64_t>(mesh.world_size.value / mesh.fsdp_replicas.value);
  const bool by_torchao =
      plan.quantization.kind.value != Quantization::none && plan.quantization.linear.value == QuantizedLinear::torchao;
  if (of_blocks && by_torchao && !std::has_single_bit(ranks))
    cannot("torchao's NF4 of ranks that are no power of two", mesh.world_size.origin);
  if (of_blocks && !mesh.fsdp_offload.value) return;
  const std::string held = of_blocks ? " whose shards are on the host" : "";
  const Setting<QuantizedLinear>& linear = plan.quantization.linear;
  if (plan.quantization.kind.value != Quantization::none && linear.value == QuantizedLinear::torchao)
    cannot("torchao's NF4" + held, plan.quantization.kind.origin);
  const Setting<std::int64_t>& group = plan.quantization.fake_group;
  if (group.value > 0) cannot("quantization-aware training" + held, group.origin);
}

}  // namespace

void check_mesh(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  if (plan.mesh.sharding.value == Sharding::none) return;
  check_sizes(plan.mesh, errors);
  if (plan.mesh.sharding.value == Sharding::ddp) return check_ddp(plan, errors);
  check_never_sharded(plan, errors);
  if (is_zero(plan.mesh.sharding.value)) return check_zero(plan, architecture, errors);
  check_fsdp(plan, architecture, errors);
}

}  // namespace oomplan::estimator
