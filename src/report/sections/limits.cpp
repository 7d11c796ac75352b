#include "layout.hpp"
#include "oomplan/core/text.hpp"
#include "sections.hpp"

namespace oomplan::report {

namespace {

std::string left_out(const Report& report) {
  const auto& plan = report.found.plan;
  std::string out = "other processes on the GPU";
  if (!plan || !counts_resuming(*plan)) out += ", loading a checkpoint to resume from";
  if (!plan || !plan->evaluation.evaluates.value) out += ", evaluation";
  if (!plan || !counts_saving(*plan)) out += ", saving";
  const std::size_t last = out.rfind(", ");
  return last == out.npos ? out : out.replace(last, 2, " and ");
}

/// FSDP1 moves what it wraps to the GPU before it cuts it (torch: _move_states_to_device), and bitsandbytes quantizes
/// there; FSDP2 as accelerate calls it brings one parameter after the other.
bool loads_whole(const TrainingPlan& plan) {
  const Sharding sharding = plan.mesh.sharding.value;
  const bool quantized = plan.quantization.kind.value != Quantization::none;
  return sharding == Sharding::fsdp1 || (sharding == Sharding::fsdp2 && quantized);
}

/// Of the rank's part of what is trained: fp32 weights, gradients and Adam's two states, and what goes to and from the
/// GPU in 16 bits; of all parameters their 16 bits where they are offloaded too.
std::string offloaded(const Report& report) {
  const MeshFacts& mesh = report.found.plan->mesh;
  if (!is_zero(mesh.sharding.value) || !report.found.footprint) return {};
  const std::int64_t ranks = mesh.world_size.value;
  std::int64_t bytes = 0;
  if (mesh.zero_offload_optimizer.value)
    bytes = saturating_mul(report.found.footprint->trainable_parameters, 18) / ranks;
  if (mesh.zero_offload_params.value)
    bytes = saturating_add(bytes, saturating_mul(report.found.footprint->parameters, 2) / ranks);
  if (bytes == 0) return {};
  return " What is offloaded takes about " + to_text(Bytes(bytes)) +
         " of host RAM a rank, pinned, which may round each piece up to a power of two.";
}

}  // namespace

std::string limits_section(const Report& report, const ViewOptions& options) {
  std::string out = "Not in the number: " + left_out(report) + ".";
  if (options.terse >= 1) return wrapped(out, 0, 2, options.width) + "\n";
  if (report.found.plan && report.found.plan->quantization.kind.value == Quantization::int8) {
    out += " Nor are columns of outliers, which LLM.int8() keeps beside its inputs: their number depends on the model.";
  }
  if (report.found.fits.empty()) out += " Without --gpu also the CUDA context and cuBLAS's workspaces.";
  const bool alone = !report.found.plan ||
                     (report.found.plan->mesh.sharding.value == Sharding::none &&
                      report.found.plan->mesh.tensor_parallel.value <= 1 && !is_pipelined(report.found.plan->mesh));
  if (alone) {
    out += " ONE GPU: on several, data parallel training holds another copy of the trained gradients.";
  }
  if (report.found.plan && loads_whole(*report.found.plan)) {
    out += " Nor is loading: before it is sharded the whole model may be on each GPU.";
  }
  if (report.found.plan) out += offloaded(report);
  return wrapped(out, 0, 2, options.width) + "\n";
}

}  // namespace oomplan::report
