// What is kept on the host that a GPU would hold: shards, their gradients, the optimizer's state.
#include <fmt/format.h>

#include <map>

#include "oomplan/core/text.hpp"
#include "sizes.hpp"
#include "weights.hpp"

namespace oomplan::host {
namespace {

/// Of one rank: what is page-locked, and what is not.
struct Kept {
  Bytes pinned{};
  Bytes process{};

  void add(Bytes bytes, bool pins, std::int64_t times = 1) {
    if (pins) {
      pinned += times * power_of_two(bytes);
    } else {
      process += times * bytes;
    }
  }
};

struct Parts {
  Kept weights{};
  Kept gradients{};
  Kept state{};
};

std::int64_t shards_of(const MeshFacts& mesh) {
  return std::max<std::int64_t>(data_ranks(mesh) / std::max<std::int64_t>(mesh.fsdp_replicas.value, 1), 1);
}

Bytes as(DType dtype, std::int64_t elements) { return elements * Bytes(bytes_of(dtype)); }

// torch/distributed/fsdp/_fully_shard: _fsdp_param.py, _init_sharded_param; _fsdp_collectives.py, foreach_reduce, whose
// copy to the host is page-locked where it does not block.
Parts of_fsdp2(const MeshFacts& mesh, const HostModel& model) {
  Parts out;
  for (const HeldParameter& p : model.parameters) {
    const std::int64_t rows = std::max<std::int64_t>(p.rows, 1);
    const Bytes chunk = as(p.dtype, saturating_mul(divided_up(rows, shards_of(mesh)), p.elements / rows));
    out.weights.add(chunk, mesh.fsdp_pin.value, p.layers);
    if (!p.trained) continue;
    out.gradients.add(chunk, mesh.fsdp_pin.value, p.layers);
    out.state.add(model.state_tensors * chunk, false, p.layers);
  }
  return out;
}

/// A flat parameter: a block's, or of what is outside them.
struct Flat {
  std::int64_t elements = 0;
  std::int64_t layers = 1;
};

// torch/distributed/fsdp/_flat_param.py: init_flat_param_attributes, which makes _cpu_grad of what is frozen too.
Parts of_fsdp1(const MeshFacts& mesh, const HostModel& model) {
  std::map<std::tuple<int, bool, DType>, Flat> flats;
  for (const HeldParameter& p : model.parameters) {
    Flat& flat = flats[{p.layer, p.trained, p.dtype}];
    flat.elements = saturating_add(flat.elements, p.elements);
    flat.layers = p.layers;
  }
  Parts out;
  for (const auto& [key, flat] : flats) {
    const auto& [layer, trained, dtype] = key;
    const Bytes shard = as(dtype, divided_up(flat.elements, shards_of(mesh)));
    out.weights.add(shard, true, flat.layers);
    out.gradients.add(shard, true, flat.layers);
    if (trained) out.state.add(model.state_tensors * shard, false, flat.layers);
  }
  return out;
}

/// The elements that one rank's optimizer has, by the two groups of parameters that transformers' Trainer makes.
std::vector<std::int64_t> partitions(const MeshFacts& mesh, const HostModel& model, bool each_by_itself) {
  std::vector<std::int64_t> out(2);
  for (const HeldParameter& p : model.parameters) {
    if (!p.trained) continue;
    const std::int64_t one = each_by_itself ? divided_up(p.elements, shards_of(mesh)) : p.elements;
    std::int64_t& group = out[mesh.zero_decay_groups.value && !p.decayed ? 1 : 0];
    group = saturating_add(group, saturating_mul(p.layers, one));
  }
  for (std::int64_t& group : out) group = each_by_itself ? group : divided_up(group, shards_of(mesh));
  std::erase(out, 0);
  return out;
}

DType trained_dtype(const HostModel& model) {
  const auto found = std::ranges::find_if(model.parameters, &HeldParameter::trained);
  return found == model.parameters.end() ? DType::fp32 : found->dtype;
}

/// accumulated_grads_in_cpu: of each parameter that a rank's partition has a part of, all of its gradient; what the
/// ranks have together, and each of them its part of that.
void add_accumulated(const MeshFacts& mesh, const HostModel& model, DType dtype, Kept& out) {
  const std::int64_t ranks = shards_of(mesh);
  Kept all;
  for (const bool decayed : {true, false}) {
    const auto counts = [&](const HeldParameter& p) {
      return p.trained && (mesh.zero_decay_groups.value ? p.decayed == decayed : decayed);
    };
    std::int64_t elements = 0;
    for (const HeldParameter& p : model.parameters) {
      if (counts(p)) elements = saturating_add(elements, saturating_mul(p.layers, p.elements));
    }
    const std::int64_t partition = std::max<std::int64_t>(divided_up(elements, ranks), 1);
    std::int64_t before = 0;
    for (const HeldParameter& p : model.parameters) {
      if (!counts(p) || p.elements == 0) continue;
      // Layers that one stands for lie behind each other, each over as many partitions as it is long.
      const std::int64_t whole = saturating_mul(p.layers, p.elements);
      const std::int64_t borders = (saturating_add(before, whole) - 1) / partition - before / partition;
      all.add(as(dtype, p.elements), mesh.zero_pin_optimizer.value, saturating_add(p.layers, borders));
      before = saturating_add(before, whole);
    }
  }
  out.pinned += Bytes(divided_up(all.pinned.count(), ranks));
  out.process += Bytes(divided_up(all.process.count(), ranks));
}

// deepspeed/runtime/zero/stage_1_and_2.py: __init__, initialize_optimizer_states, async_accumulate_grad_in_cpu_via_gpu.
Parts of_zero12(const TrainingPlan& plan, const HostModel& model) {
  const MeshFacts& mesh = plan.mesh;
  const bool pins = mesh.zero_pin_optimizer.value;
  const DType dtype = trained_dtype(model);
  Parts out;
  for (const std::int64_t elements : partitions(mesh, model, false)) {
    out.weights.add(as(DType::fp32, elements), pins);
    out.weights.add(as(dtype, elements), pins);  // param_buffer_of_bit16_for_cpu_offload_groups
    out.gradients.add(as(DType::fp32, elements), pins);
    out.state.add(model.state_tensors * as(DType::fp32, elements), false);
  }
  std::int64_t largest = 0;
  for (const HeldParameter& p : model.parameters) largest = std::max(largest, p.trained ? p.elements : 0);
  if (plan.batch.gradient_accumulation_steps.value > 1) add_accumulated(mesh, model, dtype, out.gradients);
  out.gradients.add(as(dtype, largest), pins);  // temp_grad_buffer_for_cpu_offload
  return out;
}

/// Each sub-group is closed by the parameter that fills it.
void add_sub_groups(Kept& out, std::int64_t elements, std::int64_t most, bool pins) {
  if (most < 1) return out.add(as(DType::fp32, elements), pins);
  out.add(as(DType::fp32, most), pins, elements / most);
  if (elements % most > 0) out.add(as(DType::fp32, elements % most), pins);
}

// deepspeed/runtime/zero/stage3.py: _setup_for_real_optimizer, initialize_optimizer_states,
// _create_param_groups_fp16_flat_cpu_memory; partition_parameters.py: _partition_param. What was page-locked for a
// shard before it moved to the flat tensor stays PyTorch's.
Parts of_zero3(const MeshFacts& mesh, const HostModel& model) {
  const DType dtype = trained_dtype(model);
  Parts out;
  for (const std::int64_t elements : partitions(mesh, model, true)) {
    if (mesh.zero_offload_params.value) out.weights.add(as(dtype, elements), true);
    if (!mesh.zero_offload_optimizer.value) continue;
    out.weights.add(as(DType::fp32, elements), false);
    add_sub_groups(out.gradients, elements, mesh.zero_sub_group.value, mesh.zero_pin_optimizer.value);
    out.gradients.add(as(dtype, elements), mesh.zero_pin_optimizer.value);  // grad_partitions_flat_buffer
    out.state.add(model.state_tensors * as(DType::fp32, elements), false);
  }
  if (!mesh.zero_offload_params.value) return out;
  for (const HeldParameter& p : model.parameters) {
    const bool stays = !p.trained || mesh.zero_pin_params.value;
    const Bytes shard = as(p.dtype, divided_up(p.elements, shards_of(mesh)));
    if (stays) out.weights.add(shard, mesh.zero_pin_params.value, p.layers);
  }
  return out;
}

void add_parts(const Question& question, const Parts& parts, std::string_view source, HostFootprint& out) {
  const LoaderPlan& loader = question.plan.loader;
  const auto add = [&](std::string_view name, HostPlace place, Bytes each) {
    if (each == Bytes(0)) return;
    std::string said(source);
    if (place == HostPlace::pinned) said += "; " + std::string(pinned_source);
    out.terms.push_back(term(std::string(name) + " on the host", place, loader.ranks.value * each, HostMoment::starting,
                             fmt::format("{} × {}", counted(loader.ranks.value, "rank"), to_text(each)),
                             std::move(said)));
  };
  for (const auto& [name, kept] : {std::pair{"weights", parts.weights}, std::pair{"gradients", parts.gradients},
                                   std::pair{"optimizer's state", parts.state}}) {
    add(name, HostPlace::pinned, kept.pinned);
    add(name, HostPlace::process, kept.process);
  }
}

Parts parts_of(const TrainingPlan& plan, const HostModel& model) {
  switch (plan.mesh.sharding.value) {
    case Sharding::fsdp2:
      return of_fsdp2(plan.mesh, model);
    case Sharding::fsdp1:
      return of_fsdp1(plan.mesh, model);
    case Sharding::zero3:
      return of_zero3(plan.mesh, model);
    default:
      return of_zero12(plan, model);
  }
}

std::string_view source_of(Sharding sharding) {
  if (is_fsdp(sharding))
    return sharding == Sharding::fsdp2 ? "torch 2.13.0: CPUOffloadPolicy" : "torch 2.13.0: CPUOffload";
  return sharding == Sharding::zero3 ? "DeepSpeed 0.19.8: stage3.py" : "DeepSpeed 0.19.8: stage_1_and_2.py";
}

bool offloads(const MeshFacts& mesh) {
  if (is_fsdp(mesh.sharding.value)) return mesh.fsdp_offload.value;
  const bool of_params = mesh.sharding.value == Sharding::zero3 && mesh.zero_offload_params.value;
  return is_zero(mesh.sharding.value) && (mesh.zero_offload_optimizer.value || of_params);
}

}  // namespace

void add_offloaded(const Question& question, HostFootprint& out) {
  const TrainingPlan& plan = question.plan;
  if (plan.checkpointing.offload.value != Offload::none) out.missing.emplace_back("the activations that are offloaded");
  if (!offloads(plan.mesh)) return;
  const bool known = question.model != nullptr && question.model->state_tensors >= 0;
  if (!known) {
    const std::string_view who = is_fsdp(plan.mesh.sharding.value) ? "FSDP" : "ZeRO";
    return out.missing.push_back(fmt::format("what {} keeps on the host: shards, gradients, optimizer's state", who));
  }
  add_parts(question, parts_of(plan, *question.model), source_of(plan.mesh.sharding.value), out);
}

}  // namespace oomplan::host

namespace oomplan {

Bytes offloaded_by_rank(const TrainingPlan& plan, const Architecture& architecture, const Footprint& footprint) {
  if (!host::offloads(plan.mesh)) return {};
  const HostModel model = host_model(plan, architecture, footprint);
  if (model.state_tensors < 0) return {};
  Bytes out;
  const host::Parts parts = host::parts_of(plan, model);
  for (const host::Kept& kept : {parts.weights, parts.gradients, parts.state}) out += kept.pinned + kept.process;
  return out;
}

}  // namespace oomplan
