#include "launch_fsdp.hpp"

#include <algorithm>
#include <array>

#include "oomplan/core/text.hpp"
#include "python_values.hpp"
#include "sharding_keys.hpp"

namespace oomplan::ingestion {
namespace {

bool launched(const AskedFsdp& asked) { return asked.own == nullptr; }

std::string within(const AskedFsdp& asked) { return launched(asked) ? "fsdp_config.fsdp_" : "fsdp_config."; }

/// `key`: as it stands in the mapping that is read here; empty where what asks is distributed_type.
void note(const AskedFsdp& asked, std::string feature, const std::string& key, const Origin& at) {
  const std::string whole = launched(asked) ? "distributed_type" : "fsdp_config";
  asked.draft.plan.unmodelled.push_back({std::move(feature), key.empty() ? whole : within(asked) + key, at.where});
}

void refuse(const AskedFsdp& asked, const Origin& at, std::string why) {
  conflict(asked.draft, at, asked.document, std::move(why));
}

/// accelerate looks for enumerations' names whatever their case (utils/constants.py).
std::string upper(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

/// transformers' Trainer refuses both kinds of checkpointing together.
void plan_checkpointing(const AskedFsdp& asked, const Arguments& fsdp) {
  const auto own = fsdp.get<bool>("activation_checkpointing");
  if (!is(own, true)) return;
  if (asked.draft.plan.checkpointing.on.value) {
    return refuse(asked, own.origin,
                  "transformers' Trainer refuses FSDP's own activation checkpointing beside gradient_checkpointing");
  }
  CheckpointingFacts& checkpointing = asked.draft.plan.checkpointing;
  checkpointing.on = checkpointing.wrapped = {true, own.origin};
  checkpointing.reentrant = {false, own.origin};  // checkpoint_wrapper's default.
}

void plan_reshard(const AskedFsdp& asked) {
  const Input* input = find_input(asked.inputs, "reshard_after_forward");
  const auto flag = input == nullptr ? std::nullopt : read_pydantic_boolean(*input->value);
  if (flag) {
    asked.said.mesh.fsdp_reshard = {*flag ? Reshard::automatic : Reshard::never, origin_of(*input)};
  } else if (input != nullptr && is_set(*input->value)) {
    refuse(asked, origin_of(*input), "FSDP2 takes a boolean for reshard_after_forward");
  }
}

void plan_classes(const AskedFsdp& asked, const Arguments& fsdp) {
  give(asked.said.mesh.fsdp_classes, fsdp.get<std::vector<std::string>>("transformer_layer_cls_to_wrap"));
}

/// Units of one of each layer's class, which is what no other policy makes. transformers asks for it by default.
void plan_wrapping(const AskedFsdp& asked, const Arguments& fsdp) {
  plan_classes(asked, fsdp);
  const auto policy = fsdp.get<std::string>("auto_wrap_policy");
  if (!policy.value && !launched(asked)) return;
  if (!policy.value) {
    constexpr const char* one = "FSDP of the whole model as one unit, as fsdp_auto_wrap_policy is not given,";
    return note(asked, one, {}, asked.origin);
  }
  const std::string name = upper(*policy.value);
  if (name == "NO_WRAP") return note(asked, "FSDP of the whole model as one unit", "auto_wrap_policy", policy.origin);
  if (name == "SIZE_BASED_WRAP") return note(asked, "FSDP units by their size", "auto_wrap_policy", policy.origin);
  if (name != "TRANSFORMER_BASED_WRAP")
    refuse(asked, policy.origin, "accelerate refuses an auto_wrap_policy that it does not know");
}

/// Where the root does as the blocks.
void plan_units_of_adapters(const AskedFsdp& asked) {
  MeshFacts& mesh = asked.said.mesh;
  mesh.fsdp_units = {ShardUnits::adapters, asked.origin};
  if (mesh.fsdp_reshard.origin.kind != Origin::Kind::config) mesh.fsdp_reshard.origin = asked.origin;
  if (mesh.fsdp_reshard.value != Reshard::never) mesh.fsdp_reshard.value = Reshard::all;
}

void plan_fsdp2(const AskedFsdp& asked) {
  MeshFacts& mesh = asked.said.mesh;
  mesh.sharding = {Sharding::fsdp2, asked.origin};
  mesh.fsdp_units = {ShardUnits::accelerate, asked.origin};
  plan_reshard(asked);
  if (!launched(asked) && asked.own->units == ShardUnits::adapters) plan_units_of_adapters(asked);
}

constexpr std::array<std::string_view, 5> strategies{"FULL_SHARD", "SHARD_GRAD_OP", "NO_SHARD", "HYBRID_SHARD",
                                                     "HYBRID_SHARD_ZERO2"};
constexpr std::array<std::string_view, 3> prefetches{"BACKWARD_PRE", "BACKWARD_POST", "NO_PREFETCH"};

/// A name whatever its case, or its number from 1 on, as accelerate's plugin takes both.
template <std::size_t N>
std::optional<std::size_t> index_of(const std::array<std::string_view, N>& names, const std::string& text) {
  for (std::size_t i = 0; i < N; ++i) {
    if (upper(text) == names[i] || text == std::to_string(i + 1)) return i;
  }
  return std::nullopt;
}

/// The Trainer's word for the strategy has to be one, and says nothing: accelerate prefers its own sharding_strategy,
/// which is FULL_SHARD where the environment has none (utils/dataclasses.py, accelerator.py: prepare_model).
void plan_trainers_strategy(const AskedFsdp& asked) {
  asked.said.mesh.fsdp_reshard = {Reshard::automatic, asked.origin};
  const Input* word = find_input(asked.inputs, "reshard_after_forward");
  if (word == nullptr || word->value->kind == Node::Kind::null || index_of(strategies, word->value->text)) return;
  refuse(asked, origin_of(*word), "accelerate takes the name of a strategy for FSDP1's reshard_after_forward");
}

/// HYBRID_SHARD's groups are the GPUs of a machine (torch: _init_process_group_state_for_hybrid_shard).
void plan_strategy(const AskedFsdp& asked, const Arguments& fsdp) {
  if (!launched(asked)) return plan_trainers_strategy(asked);
  const auto strategy = fsdp.get<std::string>("sharding_strategy");
  const auto at = index_of(strategies, strategy.value.value_or("FULL_SHARD"));
  if (!at) return refuse(asked, strategy.origin, "accelerate refuses a sharding_strategy that it does not know");
  if (strategies[*at] == "NO_SHARD") return note(asked, "FSDP's NO_SHARD", "sharding_strategy", strategy.origin);
  const Origin& origin = strategy.value ? strategy.origin : asked.origin;
  const bool keeps = strategies[*at] == "SHARD_GRAD_OP" || strategies[*at] == "HYBRID_SHARD_ZERO2";
  asked.said.mesh.fsdp_reshard = {keeps ? Reshard::never : Reshard::automatic, origin};
  if (strategies[*at].starts_with("HYBRID")) asked.said.mesh.fsdp_replicas = {asked.machines, origin};
}

void plan_fsdp1(const AskedFsdp& asked, const Arguments& fsdp) {
  MeshFacts& mesh = asked.said.mesh;
  mesh.sharding = {Sharding::fsdp1, asked.origin};
  mesh.fsdp_units = {ShardUnits::accelerate, asked.origin};  // peft's policy, where there are adapters.
  plan_strategy(asked, fsdp);
  const auto prefetch = fsdp.get<std::string>("backward_prefetch");
  const auto at = index_of(prefetches, prefetch.value.value_or("NO_PREFETCH"));
  if (!at) return refuse(asked, prefetch.origin, "accelerate refuses a backward_prefetch that it does not know");
  constexpr std::array values{BackwardPrefetch::pre, BackwardPrefetch::post, BackwardPrefetch::none};
  mesh.fsdp_prefetch = {values[*at], prefetch.value ? prefetch.origin : asked.origin};
  const auto original = fsdp.get<bool>("use_orig_params");
  mesh.fsdp_orig_params = {original.value.value_or(true), original.value ? original.origin : asked.origin};
  const auto ahead = fsdp.get<bool>("forward_prefetch");
  if (is(ahead, true)) note(asked, "FSDP's forward prefetch", "forward_prefetch", ahead.origin);
}

/// Who loads, and who gathers what is saved (accelerate/utils/dataclasses.py: set_state_dict_type;
/// transformers/training_args.py: _process_fsdp_args).
void plan_checkpoints(const AskedFsdp& asked, const Arguments& fsdp) {
  MeshFacts& mesh = asked.said.mesh;
  const auto first = fsdp.get<bool>("cpu_ram_efficient_loading");
  mesh.fsdp_first_loads = {first.value.value_or(launched(asked)), first.value ? first.origin : asked.origin};
  const auto type = fsdp.get<std::string>("state_dict_type");
  const bool full_by_default = !launched(asked) || mesh.sharding.value == Sharding::fsdp1;
  const bool full = type.value ? upper(*type.value) == "FULL_STATE_DICT" || *type.value == "1" : full_by_default;
  mesh.fsdp_full_state = {full, type.value ? type.origin : asked.origin};
}

/// The reference is loaded once accelerate's state is FSDP's, where TRL asks for device_map "auto" (1.16.0:
/// trainer/dpo_trainer.py); only weights that come by the first rank are kept from that, which accelerate's launcher
/// asks for where nothing is said, and transformers' Trainer does not.
void plan_loading(const AskedFsdp& asked, const Arguments& fsdp) {
  const RecipeFacts& recipe = asked.draft.plan.recipe;
  const auto by_first = fsdp.get<bool>("cpu_ram_efficient_loading");
  if (asked.said.mesh.fsdp_first_loads.value || recipe.kind.value != RecipeKind::dpo ||
      recipe.reference.value != Reference::model)
    return;
  const std::string what = "a reference that each rank spreads over all GPUs, as " + within(asked) +
                           "cpu_ram_efficient_loading is not true,";
  note(asked, what, by_first.value ? "cpu_ram_efficient_loading" : "", by_first.value ? by_first.origin : asked.origin);
}

}  // namespace

void plan_fsdp(const AskedFsdp& asked) {
  Findings findings;
  const Arguments fsdp = read_within("fsdp", asked.inputs, within(asked), findings);
  if (!asked.quoted) findings.warnings.clear();
  take(asked.draft, std::move(findings));
  const auto version = fsdp.get<std::int64_t>("version");
  const Input* given = find_input(asked.inputs, "version");
  if (given != nullptr && !version.value) return;
  if (version.value.value_or(launched(asked) ? 1 : asked.own->version) == 2) {
    plan_fsdp2(asked);
  } else {
    plan_fsdp1(asked, fsdp);
  }
  plan_wrapping(asked, fsdp);
  plan_checkpointing(asked, fsdp);
  plan_checkpoints(asked, fsdp);
  fsdp.set_facts(asked.said);
  plan_loading(asked, fsdp);
  const auto offload = fsdp.get<bool>(launched(asked) ? "offload_params" : asked.own->offload);
  if (is(offload, true)) asked.said.mesh.fsdp_offload = {true, offload.origin};
}

void plan_sharded_precision(TrainingPlan& plan) {
  const Setting<Autocast> autocast = plan.precision.autocast;
  const bool version_2 = plan.mesh.sharding.value == Sharding::fsdp2;
  if ((!version_2 && plan.mesh.sharding.value != Sharding::fsdp1) || autocast.value == Autocast::none) return;
  const MixedDType dtype = autocast.value == Autocast::bf16 ? MixedDType::bf16 : MixedDType::fp16;
  MeshFacts& mesh = plan.mesh;
  const Quantization quantized = plan.quantization.kind.value;
  // "model_has_params4bit"
  const bool accelerates = plan.mesh.fsdp_units.value == ShardUnits::accelerate;
  const bool raised =
      !version_2 || (accelerates && (quantized == Quantization::none || quantized == Quantization::int8));
  mesh.fsdp_param_dtype = mesh.fsdp_reduce_dtype = {dtype, autocast.origin};
  mesh.fsdp_fp32_trained = {raised, autocast.origin};
  if (autocast.value == Autocast::fp16) {
    plan.unmodelled.push_back({"FSDP in fp16, with a gradient scaler,", "mixed_precision", autocast.origin.where});
  }
  if (!version_2) return;
  mesh.fsdp_output_dtype = {dtype, autocast.origin};
  plan.precision.autocast.value = Autocast::none;
  plan.precision.outputs_to_fp32.value = false;
}

namespace {

/// What a parallelism_config says (accelerate/parallelism_config.py).
struct Axes {
  std::int64_t replicas = 1;
  std::int64_t shards = 1;
  std::int64_t context = 1;
  std::int64_t others = 1;
  Origin at{};  ///< Of the key that says of shards.

  std::int64_t product() const {
    return saturating_mul(saturating_mul(replicas, shards), saturating_mul(context, others));
  }
};

std::string axis_key(const Input& input) {
  constexpr std::string_view prefix = "parallelism_config_";
  return input.key.starts_with(prefix) ? input.key.substr(prefix.size()) : input.key;
}

Axes axes_of(const AskedFsdp& asked, const Inputs& parallelism) {
  Axes axes{.at = asked.origin};
  for (const Input& input : parallelism) {
    const std::string key = axis_key(input);
    if (!key.ends_with("_size")) continue;  // How an axis works that another key makes longer than one.
    const std::optional<std::int64_t> given = input.value->as_integer();
    if (input.value->kind != Node::Kind::null && given.value_or(0) < 1) {
      asked.draft.errors.push_back(bad_value(input, "a positive integer", {}));
      continue;
    }
    const std::int64_t size = given.value_or(1);
    if (key == "dp_replicate_size" || key == "dp_shard_size") {
      (key == "dp_shard_size" ? axes.shards : axes.replicas) = size;
      axes.at = origin_of(input);
    } else if (key == "cp_size") {
      axes.context = size;
      asked.said.mesh.context_parallel = {size, origin_of(input)};
    } else if (size > 1) {
      axes.others = saturating_mul(axes.others, size);
      asked.draft.plan.unmodelled.push_back(
          {"tensor or sequence parallelism", "parallelism_config." + input.key, origin_of(input).where});
    }
  }
  return axes;
}

/// How ranks that share rows do so (utils/dataclasses.py: TorchContextParallelConfig).
void plan_context(const AskedFsdp& asked, const Inputs& parallelism) {
  for (const Input& input : parallelism) {
    const std::string key = axis_key(input);
    const std::string& said = input.value->text;
    if (!is_set(*input.value)) continue;
    if (key == "cp_backend" && said != "torch") {
      refuse(asked, origin_of(input), "accelerate takes torch alone for cp_backend");
    } else if (key == "cp_comm_strategy" && said == "alltoall") {
      asked.said.mesh.context_rotation = {ContextRotation::alltoall, origin_of(input)};
    } else if (key == "cp_comm_strategy" && said != "allgather") {
      refuse(asked, origin_of(input), "accelerate takes allgather or alltoall for cp_comm_strategy");
    }
  }
}

}  // namespace

void plan_replicas(const AskedFsdp& asked, const Inputs& parallelism, std::int64_t processes) {
  const Axes axes = axes_of(asked, parallelism);
  if (axes.context > 1) plan_context(asked, parallelism);
  if (axes.product() != processes || (axes.shards == 1 && axes.context == 1)) {
    return refuse(asked, axes.at,
                  "accelerate refuses a parallelism_config whose sizes do not make num_processes, or whose "
                  "dp_shard_size is 1 under FSDP");
  }
  if (axes.context > 1 && axes.replicas > 1 && axes.shards == 1) {
    return refuse(asked, axes.at,
                  "accelerate refuses a cp_size above 1 beside a dp_replicate_size above 1 and a dp_shard_size of 1");
  }
  asked.said.mesh.fsdp_replicas = {axes.replicas, axes.at};
}

}  // namespace oomplan::ingestion
