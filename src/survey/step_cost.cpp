// step_cost: operations of the matrix units, and bytes over the links between GPUs.
#include <algorithm>

#include "oomplan/survey/layouts.hpp"
#include "traffic.hpp"

namespace oomplan {

using survey::giga;
using survey::Moved;
using survey::moved_of;
using survey::part_of_others;
using survey::reached_of_links;
using survey::reached_of_operations;
using survey::tera;

namespace {

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
    // Gradients are reduced by an all-reduce, of which a rank keeps its part (stage_1_and_2.py: allreduce_and_scatter).
    case Sharding::zero1:
      return {.reduces = 1, .gathers_trained = 2, .overlaps = mesh.zero_overlap.value};
    case Sharding::zero2:
      return {.reduces = micro_batches, .gathers_trained = micro_batches + 1, .overlaps = mesh.zero_overlap.value};
    case Sharding::zero3:
      return {.gathers = 2 * micro_batches, .reduces = micro_batches, .overlaps = true};
    case Sharding::fsdp1:
    case Sharding::fsdp2:
      break;
  }
  const bool kept = mesh.fsdp_reshard.value == Reshard::never;
  return {.gathers = (kept ? 1 : 2) * micro_batches, .reduces = syncs, .overlaps = true};
}

std::int64_t bytes_of(WeightsDType dtype, const Counted& parameters) {
  if (dtype == WeightsDType::checkpoint) return parameters.checkpoint_bytes;
  return dtype == WeightsDType::fp32 ? 4 : 2;
}

double bytes_of(MixedDType dtype, double as_held) {
  if (dtype == MixedDType::as_held) return as_held;
  return dtype == MixedDType::fp32 ? 4 : 2;
}

}  // namespace

Moved survey::moved_of(const TrainingPlan& plan, const Counted& parameters) {
  const MeshFacts& mesh = plan.mesh;
  const auto held = static_cast<double>(bytes_of(plan.precision.weights_dtype.value, parameters));
  const AdapterDType adapter = plan.adapter.dtype.value;
  const double of_adapter = adapter == AdapterDType::as_base ? held : adapter == AdapterDType::fp32 ? 4 : 2;
  Moved out{held, plan.adapter.kind.value == Adapter::none ? held : of_adapter, 0};
  out.gradient = out.trained;
  if (is_zero(mesh.sharding.value)) out.frozen = out.trained = out.gradient = bytes_of(mesh.zero_dtype.value, 4);
  if (is_fsdp(mesh.sharding.value)) {
    out.frozen = bytes_of(mesh.fsdp_param_dtype.value, out.frozen);
    out.trained = bytes_of(mesh.fsdp_param_dtype.value, out.trained);
    out.gradient = bytes_of(mesh.fsdp_reduce_dtype.value, out.trained);
  }
  const QuantizationFacts& quantized = plan.quantization;
  if (quantized.kind.value == Quantization::none) return out;
  out.frozen = quantized.kind.value == Quantization::int8 ? 1 : 0.5;
  if (quantized.storage.value == QuantStorage::uint8) out.frozen = 0;
  return out;
}

StepCost step_cost(const TrainingPlan& plan, const Counted& parameters, const Gpu& gpu, const LayoutWorld& world) {
  const Traffic traffic = traffic_of(plan);
  const Moved moved = moved_of(plan, parameters);
  const std::int64_t replicas = is_fsdp(plan.mesh.sharding.value) ? plan.mesh.fsdp_replicas.value : 1;
  const std::int64_t sharing = world.gpus() / replicas;
  const auto all = static_cast<double>(parameters.all);
  const auto trained = static_cast<double>(parameters.trained);
  const double weights = moved.frozen * (all - trained) + moved.trained * trained;
  const double gradients = moved.gradient * trained;
  const double within =
      part_of_others(sharing) * (traffic.gathers * weights + (traffic.reduces + traffic.gathers_trained) * gradients);
  // Replicas reduce their shards among each other: a reduce-scatter and a gather.
  const double across = part_of_others(replicas) * 2 * traffic.reduces * gradients / static_cast<double>(sharing);
  StepCost out{.moved = Bytes(static_cast<std::int64_t>(within + across))};
  if (!gpu.speed || parameters.mixture || plan.recipe.kind.value != RecipeKind::supervised) return out;
  // A collective over machines enters each by the network cards of all its GPUs, on rings side by side.
  const double between = std::min(gpu.speed->link, world.network * static_cast<double>(world.each));
  const double link = sharing <= world.each ? gpu.speed->link : between;
  const double talking = (within / link + (across > 0 ? across / world.network : 0)) / (giga * reached_of_links);
  const auto tokens = static_cast<double>(plan.batch.micro_batch_size.value) *
                      static_cast<double>(plan.batch.gradient_accumulation_steps.value) *
                      static_cast<double>(plan.batch.sequence_length.value);
  // Forward, the gradients of inputs, and with checkpoints forward again; then the gradients of what is trained.
  const double passes = plan.checkpointing.on.value ? 3 : 2;
  const double computing =
      2 * tokens * (passes * all + trained) / (gpu.speed->operations * tera * reached_of_operations);
  out.seconds = traffic.overlaps ? std::max(computing, talking) : computing + talking;
  return out;
}

}  // namespace oomplan
