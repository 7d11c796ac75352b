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

/// What scripts that train a denoiser hold and run beside it, unless they have run it before.
constexpr std::string_view made_before =
    " Nor are the VAE and the text encoders: latents (an eighth of the pictures' sides) and the texts' embeddings come "
    "ready made, as from scripts that cache them.";

/// FSDP1 moves what it wraps to the GPU before it cuts it (torch: _move_states_to_device), and bitsandbytes quantizes
/// there; FSDP2 as accelerate calls it brings one parameter after the other.
bool loads_whole(const TrainingPlan& plan) {
  const Sharding sharding = plan.mesh.sharding.value;
  const bool quantized = plan.quantization.kind.value != Quantization::none;
  return sharding == Sharding::fsdp1 || (sharding == Sharding::fsdp2 && quantized);
}

std::string offloaded(const Report& report) {
  const auto& found = report.found;
  if (!found.footprint || !found.architecture || found.host) return {};
  const Bytes each = offloaded_by_rank(*found.plan, *found.architecture, *found.footprint);
  if (each == Bytes(0)) return {};
  return " What is offloaded takes " + to_text(each) + " of host RAM a rank: --host-ram holds it against a machine's.";
}

}  // namespace

std::string limits_section(const Report& report, const ViewOptions& options) {
  std::string out = "Not in the number: " + left_out(report) + ".";
  if (report.found.architecture && report.found.architecture->task == Task::denoising) out += made_before;
  if (options.terse >= 1) return wrapped(out, 0, 2, options.width) + "\n";
  if (report.found.plan && report.found.plan->quantization.kind.value == Quantization::int8) {
    out += " Nor are columns of outliers, which LLM.int8() keeps beside its inputs: their number depends on the model.";
  }
  if (report.found.fits.empty()) {
    const bool vllm = report.found.plan && has_vllm(report.found.plan->recipe);
    out += " Without --gpu also the CUDA context";
    out += vllm ? ", vLLM's part of the card and cuBLAS's workspaces." : " and cuBLAS's workspaces.";
  }
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
