#include <algorithm>
#include <array>
#include <utility>

#include "compose.hpp"
#include "launch_fsdp.hpp"
#include "oomplan/core/text.hpp"
#include "python_values.hpp"
#include "sharding_keys.hpp"
#include "steps.hpp"
#include "zero.hpp"

namespace oomplan::ingestion {
namespace {

// ---- accelerate's launcher config ----------------------------------------------------------------------------------

constexpr std::string_view table = "accelerate";

/// accelerate stops at a key that its class has not.
void refuse_unknown(Inputs& inputs, Draft& draft) {
  const std::vector<std::string_view> known = keys_of(key_file(table), {});
  const auto unknown = [&](const Input& input) {
    if (std::ranges::count(known, input.key) > 0) return false;
    const auto near = nearest(input.key, known);
    draft.errors.push_back(at_key(input, Severity::error, "ingest/refused",
                                  input.key + ": accelerate 1.15.0 refuses a config with a key that it does not know",
                                  near ? "did you mean " + *near + "?" : ""));
    return true;
  };
  std::erase_if(inputs, unknown);
}

/// -1 is accelerate's word for a number that its command line has to give.
void drop_unset(Inputs& inputs) {
  std::erase_if(inputs, [](const Input& input) {
    return input.key == "num_processes" && input.value->as_integer() == std::int64_t{-1};
  });
}

/// What is read beside the launcher's file.
struct Reading {
  const Dialect& dialect;
  const Document& config;
  const Loader& loader;
  std::deque<Document>& documents;
};

struct World {
  Draft& draft;
  const Document& launch;
  const Inputs& inputs;
  const Reading& reading;
  const Arguments args;
  std::string kind{};  ///< distributed_type
  Origin origin{};     ///< Of that.
  TrainingPlan said{};
};

// accelerate/commands/launch.py: _validate_launch_command.
void refuse_one_gpu(World& world, std::int64_t machines) {
  const Node* ids = world.launch.root.find("gpu_ids");
  if (world.kind != "MULTI_GPU" || machines > 1 || ids == nullptr || !ids->is_scalar()) return;
  if (ids->text == "all" || ids->text.empty() || ids->text.find(',') != std::string::npos) return;
  conflict(world.draft, {.kind = Origin::Kind::config, .source = "gpu_ids", .where = world.launch.at(*ids)},
           world.launch, "accelerate refuses MULTI_GPU on one machine with fewer than two gpu_ids");
}

void plan_processes(World& world) {
  const auto processes = world.args.get<std::int64_t>("num_processes");
  const auto machines = world.args.get<std::int64_t>("num_machines");
  if (world.kind == "NO") {
    world.said.mesh.world_size = {1, world.origin};
    world.said.loader.ranks = {1, world.origin};
    return;
  }
  if (!processes.value) {
    return miss(world.draft, world.launch, "world_size", {"num_processes"}, "num_processes is not given",
                "add num_processes: … or --set world_size=…");
  }
  refuse_one_gpu(world, machines.value.value_or(1));
  const std::int64_t there = std::min(machines.value.value_or(1), *processes.value);
  const std::int64_t each = *processes.value / there;
  world.said.loader.ranks = {each, processes.origin};
  world.said.mesh.world_size = {each * there, processes.origin};
  if (there > 1) derive(world.said.loader.ranks.origin, "over " + std::to_string(there) + " machines");
  if (each * there != *processes.value) {
    derive(world.said.mesh.world_size.origin,
           "of which each of " + std::to_string(there) + " machines starts " + std::to_string(each));
  }
}

void plan_shards(World& world) {
  Inputs inputs;
  if (const Input* config = find_input(world.inputs, "fsdp_config"); config != nullptr) {
    inputs = fsdp_inputs(*config->document, *config->value);
  }
  const std::int64_t machines = world.args.get<std::int64_t>("num_machines").value.value_or(1);
  const AskedFsdp asked{world.draft, world.launch, world.origin, inputs, machines, world.said};
  plan_fsdp(asked);
  if (world.said.mesh.sharding.value == Sharding::fsdp2 && world.reading.dialect.name == "llamafactory") {
    world.draft.plan.unmodelled.push_back(
        {"FSDP2 by LLaMA-Factory's accelerate 1.11, which makes other units,", "distributed_type", world.origin.where});
  }
  const Input* parallelism = find_input(world.inputs, "parallelism_config");
  if (parallelism == nullptr || !parallelism->value->is_mapping()) return;
  if (world.said.mesh.sharding.value == Sharding::fsdp2) {
    return plan_replicas(asked, inputs_of(*parallelism->document, *parallelism->value),
                         world.said.mesh.world_size.value);
  }
  conflict(world.draft, origin_of(*parallelism), world.launch,
           "accelerate refuses a parallelism_config without FSDP's version 2");
}

// accelerate/utils/dataclasses.py: _deepspeed_config_checks.
void refuse_beside_file(World& world, const Input& config) {
  constexpr std::array<std::string_view, 8> ignored{
      "gradient_accumulation_steps", "gradient_clipping",     "zero_stage",
      "offload_optimizer_device",    "offload_param_device",  "offload_param_nvme_path",
      "offload_optimizer_nvme_path", "zero3_save_16bit_model"};
  const auto refuse = [&](const std::string& key, const Origin& at) {
    conflict(world.draft, at, world.launch, "accelerate refuses " + key + " beside a deepspeed_config_file");
  };
  for (const Input& input : inputs_of(*config.document, *config.value)) {
    if (std::ranges::count(ignored, input.key) > 0) refuse(input.key, origin_of(input));
  }
  const Input* mixed = find_input(world.inputs, "mixed_precision");
  if (mixed != nullptr && mixed->value->kind != Node::Kind::null) refuse("mixed_precision", origin_of(*mixed));
}

void plan_zero_file(World& world, const Input& config, const Input& path) {
  refuse_beside_file(world, config);
  const Named named = named_by(path, world.reading.loader, world.reading.documents);
  if (named.mapping == nullptr) {
    world.draft.plan.unmodelled.push_back({"DeepSpeed, whose file cannot be read from here,",
                                           "deepspeed_config.deepspeed_config_file", origin_of(path).where});
    return;
  }
  plan_zero({world.draft, world.launch, world.origin, world.said}, *named.document, *named.mapping);
}

void plan_zero_shards(World& world) {
  const Input* config = find_input(world.inputs, "deepspeed_config");
  const bool given = config != nullptr && config->value->is_mapping();
  const Node* path = given ? config->value->find("deepspeed_config_file") : nullptr;
  if (path != nullptr && is_set(*path)) {
    return plan_zero_file(world, *config, {"deepspeed_config_file", path, config->document, {}, {}});
  }
  plan_zero_plugin({world.draft, world.launch, world.origin, world.said}, given ? config->value : nullptr);
}

void plan_sharding(World& world) {
  // transformers' Trainer takes a config's own DeepSpeed however processes are started.
  const bool zero = is_zero(world.draft.plan.mesh.sharding.value);
  if (world.kind == "MULTI_GPU" && !zero) {
    // accelerate/accelerator.py: prepare_model gives DDP the model of several processes alone (multi_device).
    const bool alone = world.said.mesh.world_size.value == 1 && world.said.mesh.world_size.origin.is_said();
    world.said.mesh.sharding = {alone ? Sharding::none : Sharding::ddp, world.origin};
  }
  if (world.kind == "NO") world.said.mesh.sharding = {Sharding::none, world.origin};
  if (world.kind == "FSDP") plan_shards(world);
  if (world.kind == "DEEPSPEED") plan_zero_shards(world);
}

/// transformers' TrainingArguments take the launcher's where neither bf16 nor fp16 is on.
void plan_precision(const Arguments& args, const Dialect& dialect, Draft& draft, const Document& config) {
  PrecisionFacts& precision = draft.plan.precision;
  const auto mixed = args.get<std::string>("mixed_precision");
  const auto old = args.get<bool>("fp16");
  const bool half = !mixed.value && is(old, true);
  const bool settled = dialect.sets_mixed_precision || (dialect.plain && precision.autocast.origin.is_said());
  if (settled || precision.autocast.value != Autocast::none) return;
  const bool asks = half || is(mixed, std::string("bf16")) || is(mixed, std::string("fp16"));
  // accelerate's plugin fills in what transformers compares (integrations/deepspeed.py: trainer_config_finalize).
  if (asks && draft.zero_bf16.value) {
    return conflict(
        draft, half ? old.origin : mixed.origin, config,
        "transformers' Trainer refuses mixed_precision of a launcher with DeepSpeed beside neither bf16 nor "
        "fp16 of its own");
  }
  if (is(mixed, std::string("bf16"))) precision.autocast = {Autocast::bf16, mixed.origin};
  if (is(mixed, std::string("fp16")) || half) precision.autocast = {Autocast::fp16, half ? old.origin : mixed.origin};
  if (precision.autocast.value == Autocast::none) return;
  precision.outputs_to_fp32.value = true;
  refuse_scaled_half(draft, config);
}

void apply_accelerate(const Document& launch, const Reading& reading, Draft& draft) {
  Inputs inputs = inputs_of(launch, launch.root);
  refuse_unknown(inputs, draft);
  drop_unset(inputs);
  World world{draft, launch, inputs, reading, read_arguments(table, {}, inputs, draft)};
  const Input* kind = find_input(inputs, "distributed_type");
  if (kind == nullptr) {
    draft.errors.push_back({Severity::error,
                            "ingest/refused",
                            "accelerate 1.15.0 refuses a config without distributed_type",
                            {launch.file},
                            {},
                            {}});
  }
  // Its value is read here too where a rule has found that it is not played.
  const auto value = kind == nullptr ? std::nullopt : find_codec("distributed_type")->read(*kind->value);
  if (!value) return;
  world.origin = origin_of(*kind);
  world.kind = std::get<std::string>(*value);
  plan_processes(world);
  plan_sharding(world);
  put_said(world.said, reading.config, draft);
  plan_precision(world.args, reading.dialect, draft, reading.config);
  if (world.kind == "FSDP") plan_sharded_precision(draft.plan);
}

// ---- Either --------------------------------------------------------------------------------------------------------

bool is_accelerate(const Inputs& inputs) {
  return find_input(inputs, "distributed_type") != nullptr || find_input(inputs, "compute_environment") != nullptr;
}

bool is_deepspeed(const Inputs& inputs) {
  constexpr std::array<std::string_view, 3> keys{"zero_optimization", "train_batch_size",
                                                 "train_micro_batch_size_per_gpu"};
  return std::ranges::any_of(keys, [&](std::string_view key) { return find_input(inputs, key) != nullptr; });
}

void apply(const Document& launch, const Reading& reading, Draft& draft) {
  if (!launch.root.is_mapping()) return draft.errors.push_back(not_a_mapping(launch));
  const Inputs inputs = inputs_of(launch, launch.root);
  if (is_accelerate(inputs)) return apply_accelerate(launch, reading, draft);
  if (is_deepspeed(inputs)) {
    TrainingPlan said;
    const Origin origin{.kind = Origin::Kind::config, .source = "--launch", .where = {launch.file, 0, 0}};
    plan_zero({draft, reading.config, origin, said}, launch, launch.root);
    return put_said(said, reading.config, draft);
  }
  draft.errors.push_back({Severity::error,
                          "ingest/unknown-dialect",
                          "this is no config of accelerate's launcher and none of DeepSpeed",
                          {launch.file},
                          "--launch takes what `accelerate launch --config_file` takes; it has a key distributed_type",
                          {}});
}

Diagnostic unreadable(const std::string& path) {
  return {Severity::error, "read/missing", "cannot be read from here", {path}, {}, {}};
}

}  // namespace

void apply_launch(const IngestOptions& options, const Dialect& dialect, const Document& config,
                  std::deque<Document>& documents, Draft& draft) {
  const std::string_view other = key_file(dialect.name).started_by;
  if (!other.empty() && !options.launch.empty()) {
    draft.errors.push_back({Severity::error,
                            "ingest/refused",
                            std::string(dialect.name) + " is started by " + std::string(other) +
                                ", which reads no file of accelerate's or DeepSpeed's",
                            {options.launch.front()},
                            "leave --launch out",
                            {}});
    return;
  }
  const Reading reading{dialect, config, options.loader, documents};
  std::vector<const Document*> launchers;
  for (const std::string& path : options.launch) {
    Result<Document> read = options.loader ? options.loader(path) : Result<Document>(unreadable(path));
    if (read) {
      launchers.push_back(&documents.emplace_back(*std::move(read)));
    } else {
      draft.errors.insert(draft.errors.end(), read.errors().begin(), read.errors().end());
    }
  }
  // However they are ordered: DeepSpeed's JSON says what a launcher's processes do.
  std::stable_partition(launchers.begin(), launchers.end(), [](const Document* one) {
    return one->root.is_mapping() && !is_accelerate(inputs_of(*one, one->root));
  });
  for (const Document* one : launchers) apply(*one, reading, draft);
}

}  // namespace oomplan::ingestion
