#include "settings.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "oomplan/ingest/ingest.hpp"

namespace oomplan {
namespace {

using KeysAndValues = std::vector<std::pair<std::string, std::string>>;

std::string said(bool value) { return value ? "true" : "false"; }
std::string said(std::int64_t value) { return std::to_string(value); }

/// Facts of oomplan.yaml.
KeysAndValues plain_keys(const MeshLayout& layout) {
  const MeshShape& s = layout.shape;
  const bool piped = s.pipeline > 1;
  return {{"micro_batch_size", said(layout.micro_batch)},
          {"gradient_accumulation_steps", said(piped ? 1 : layout.micro_batches)},
          {"gradient_checkpointing", said(layout.checkpointing)},
          {"sharding", std::string(sharding_names[static_cast<std::size_t>(s.sharding)])},
          {"fsdp_reshard", s.kept ? "never" : "auto"},
          {"fsdp_replicas", said(s.replicas)},
          {"tensor_parallel", said(s.tensor)},
          {"sequence_parallel", said(s.sequence)},
          {"loss_parallel", said(s.loss)},
          {"pipeline_parallel", said(s.pipeline)},
          {"pipeline_schedule", std::string(pipeline_schedule_names[static_cast<std::size_t>(s.schedule)])},
          {"pipeline_stages", said(s.stages_each)},
          {"pipeline_layers", "[]"},
          {"pipeline_micro_batches", said(piped ? layout.micro_batches : 1)}};
}

/// torchtitan 0.2.2: torchtitan/config/job_config.py. A pipeline takes all micro-batches of a local batch at once.
KeysAndValues titan_keys(const MeshLayout& layout) {
  constexpr std::array<std::string_view, 4> schedules{"GPipe", "1F1B", "LoopedBFS", "Interleaved1F1B"};
  const MeshShape& s = layout.shape;
  const bool piped = s.pipeline > 1;
  KeysAndValues out{
      {"training.local_batch_size", said(piped ? layout.micro_batch * layout.micro_batches : layout.micro_batch)},
      {"training.global_batch_size", said(layout.rows())},
      {"activation_checkpoint.mode", layout.checkpointing ? "full" : "none"},
      {"parallelism.data_parallel_replicate_degree", said(s.replicas)},
      {"parallelism.data_parallel_shard_degree", said(s.data / s.replicas)},
      {"parallelism.fsdp_reshard_after_forward", s.kept ? "never" : "default"},
      {"parallelism.tensor_parallel_degree", said(s.tensor)},
      {"parallelism.disable_loss_parallel", said(s.tensor > 1 && !s.loss)}};
  if (!piped) return out;
  out.emplace_back("parallelism.pipeline_parallel_degree", said(s.pipeline));
  out.emplace_back("parallelism.pipeline_parallel_schedule", schedules.at(static_cast<std::size_t>(s.schedule)));
  out.emplace_back("parallelism.pipeline_parallel_microbatch_size", said(layout.micro_batch));
  return out;
}

KeysAndValues keys_of(const MeshLayout& layout, const std::string& dialect) {
  return dialect == "torchtitan" ? titan_keys(layout) : plain_keys(layout);
}

}  // namespace

bool says_meshes(const std::string& dialect) { return dialect == "oomplan" || dialect == "torchtitan"; }

std::vector<std::string> survey::all_settings(const MeshLayout& layout, const std::string& dialect,
                                              const LayoutWorld& world) {
  std::vector<std::string> out;
  if (dialect == "oomplan") out.push_back("world_size=" + said(world.gpus()));
  for (const auto& [key, value] : keys_of(layout, dialect)) out.push_back(key + "=" + value);
  return out;
}

std::vector<std::string> mesh_settings(const MeshLayout& layout, const TrainingPlan& plain, const LayoutWorld& world) {
  const bool titan = plain.dialect == "torchtitan";
  // One schedule is the default, whether there is a pipeline or not.
  const auto is_said = [&](const std::string& key, const std::string& value) {
    if (titan) return false;
    if (layout.shape.pipeline == 1 && key == "pipeline_schedule" && plain.mesh.pipeline_parallel.value == 1)
      return true;
    const Origin* origin = origin_of_fact(plain, key);
    // What follows from the number of GPUs is another in a file by itself.
    return fact_of(plain, key) == value && (key != "sharding" || (origin != nullptr && origin->is_said()));
  };
  std::vector<std::string> out;
  if (!titan) out.push_back("world_size=" + said(world.gpus()));
  for (const auto& [key, value] : keys_of(layout, plain.dialect))
    if (!is_said(key, value)) out.push_back(key + "=" + value);
  return out;
}

bool survey::is_mesh(const TrainingPlan& plan, const MeshLayout& layout) {
  const MeshFacts& mesh = plan.mesh;
  const MeshShape& s = layout.shape;
  const bool piped = s.pipeline > 1;
  const std::int64_t at_once = piped ? mesh.pipeline_micro_batches.value : plan.batch.gradient_accumulation_steps.value;
  const bool shared = mesh.sharding.value == s.sharding && mesh.fsdp_replicas.value == s.replicas &&
                      (s.sharding != Sharding::fsdp2 || (mesh.fsdp_reshard.value == Reshard::never) == s.kept);
  return shared && mesh.tensor_parallel.value == s.tensor && mesh.sequence_parallel.value == s.sequence &&
         mesh.loss_parallel.value == s.loss && mesh.pipeline_parallel.value == s.pipeline &&
         (!piped || mesh.pipeline_schedule.value == s.schedule) && mesh.pipeline_stages.value == s.stages_each &&
         data_ranks(mesh) == s.data && at_once == layout.micro_batches &&
         plan.batch.micro_batch_size.value == layout.micro_batch && plan.checkpointing.on.value == layout.checkpointing;
}

Result<TrainingPlan> survey::mesh_plan(const LayoutQuestion& question, const MeshLayout& layout) {
  IngestOptions options = question.ingest;
  const std::vector<std::string> settings = all_settings(layout, options.dialect, question.world);
  options.overrides.insert(options.overrides.end(), settings.begin(), settings.end());
  Result<TrainingPlan> plan = ingest(question.document, options);
  if (plan) plan = with_model_defaults(std::move(*plan), question.architecture);
  if (!plan || !plan->unmodelled.empty() || is_mesh(*plan, layout)) return plan;
  return Diagnostic{.code = "survey/other-layout",
                    .message = "the config, or --set, makes another plan of this layout's settings than was asked for"};
}

}  // namespace oomplan
