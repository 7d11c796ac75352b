#include "layout.hpp"
#include "sections.hpp"

namespace oomplan::report {

std::string limits_section(const Report& report, const ViewOptions&) {
  const bool evaluates = report.found.plan && report.found.plan->evaluation.evaluates.value;
  std::string out = "Not in the number: other processes on the GPU";
  out += evaluates ? " and saving." : ", evaluation and saving.";
  if (report.found.plan && report.found.plan->quantization.kind.value == Quantization::int8) {
    out += " Nor are columns of outliers, which LLM.int8() keeps beside its inputs: their number depends on the model.";
  }
  if (report.found.fits.empty()) out += " Without --gpu also the CUDA context and cuBLAS's workspaces.";
  if (!report.found.plan || report.found.plan->mesh.sharding.value == Sharding::none) {
    out += " Assumed: one GPU, one process; data parallel training holds another copy of the trained gradients.";
  }
  return wrapped(out, 0, 2) + "\n";
}

}  // namespace oomplan::report
