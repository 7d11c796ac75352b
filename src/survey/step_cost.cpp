// step_cost: operations of the matrix units, and bytes over the links between GPUs.
#include <algorithm>

#include "oomplan/survey/layouts.hpp"

namespace oomplan {
namespace {

// What runs reach of what datasheets print: 38 to 43 % of the operations (arXiv 2407.21783, table 4). That of links is
// assumed.
constexpr double reached_of_operations = 0.4;
constexpr double reached_of_links = 0.8;
constexpr double giga = 1e9;
constexpr double tera = 1e12;

/// Collectives of one step, each over a number of ranks; how many of them a step has.
struct Traffic {
  double gathers = 0;  ///< Of all weights.
  double reduces = 0;  ///< Of what is trained: a reduce-scatter. An all-reduce is one, and a gather of the same.
  double gathers_trained = 0;
  bool overlaps = false;  ///< By their design they go on beside the computation.
};

Traffic traffic_of(const TrainingPlan& plan) {
  const MeshFacts& mesh = plan.mesh;
  const auto micro_batches = static_cast<double>(plan.batch.gradient_accumulation_steps.value);
  const double syncs = mesh.sync_each.value ? micro_batches : 1;
  switch (mesh.sharding.value) {
    case Sharding::none:
      return {.overlaps = true};
    case Sharding::ddp:
      return {.reduces = syncs, .gathers_trained = syncs, .overlaps = true};
    case Sharding::zero1:
      return {.reduces = 1, .gathers_trained = 1, .overlaps = mesh.zero_overlap.value};
    case Sharding::zero2:
      return {.reduces = micro_batches, .gathers_trained = 1, .overlaps = mesh.zero_overlap.value};
    case Sharding::zero3:
      return {.gathers = 2 * micro_batches, .reduces = micro_batches, .overlaps = true};
    case Sharding::fsdp1:
    case Sharding::fsdp2:
      break;
  }
  const bool kept = mesh.fsdp_reshard.value == Reshard::never;
  return {.gathers = (kept ? 1 : 2) * micro_batches, .reduces = syncs, .overlaps = true};
}

/// Of a weight that is not trained, as it is moved; 0 where each rank has the whole of it (4-bit weights in bytes).
double frozen_bytes(const TrainingPlan& plan) {
  const QuantizationFacts& held = plan.quantization;
  if (held.kind.value == Quantization::none) return 2;
  if (held.storage.value == QuantStorage::uint8) return 0;
  return held.kind.value == Quantization::int8 ? 1 : 0.5;
}

double part_of_others(std::int64_t ranks) { return 1 - 1 / static_cast<double>(ranks); }

}  // namespace

StepCost step_cost(const TrainingPlan& plan, const Counted& parameters, const Gpu& gpu, const LayoutWorld& world) {
  constexpr double trained_bytes = 2;  // In 16 bits, as weights are gathered and gradients reduced.
  const Traffic traffic = traffic_of(plan);
  const std::int64_t replicas = is_fsdp(plan.mesh.sharding.value) ? plan.mesh.fsdp_replicas.value : 1;
  const std::int64_t sharing = world.gpus() / replicas;
  const auto all = static_cast<double>(parameters.all);
  const auto moving = static_cast<double>(parameters.trained);
  const double weights = frozen_bytes(plan) * (all - moving) + trained_bytes * moving;
  const double within =
      part_of_others(sharing) *
      (traffic.gathers * weights + (traffic.reduces + traffic.gathers_trained) * trained_bytes * moving);
  // Replicas reduce their shards among each other: a reduce-scatter and a gather.
  const double across =
      part_of_others(replicas) * 2 * traffic.reduces * trained_bytes * moving / static_cast<double>(sharing);
  StepCost out{.moved = Bytes(static_cast<std::int64_t>(within + across))};
  if (!gpu.speed || parameters.mixture) return out;
  const bool one_machine = sharing <= world.each;
  const double link =
      (one_machine ? gpu.speed->link : std::min(gpu.speed->link, world.network)) * giga * reached_of_links;
  const double between = world.network * giga * reached_of_links;
  const double talking = (within > 0 ? within / link : 0) + (across > 0 ? across / between : 0);
  const auto tokens = static_cast<double>(plan.batch.micro_batch_size.value) *
                      static_cast<double>(plan.batch.gradient_accumulation_steps.value) *
                      static_cast<double>(plan.batch.sequence_length.value);
  const double passes =
      plan.checkpointing.on.value ? 3 : 2;  // Forward, again in backward, and the gradients of inputs.
  const double computing =
      2 * tokens * (passes * all + moving) / (gpu.speed->operations * tera * reached_of_operations);
  out.seconds = traffic.overlaps ? std::max(computing, talking) : computing + talking;
  return out;
}

}  // namespace oomplan
