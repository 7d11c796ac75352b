#include "oomplan/estimate.hpp"

namespace oomplan {
namespace {

// Backward runs on a thread of its own, with a cuBLAS handle and so a workspace of its own; neither is ever freed.
constexpr int cublas_handles = 2;

}  // namespace

Fit fit(const Footprint& footprint, const Gpu& gpu) {
  Fit fit;
  fit.gpu = gpu;
  fit.runtime.push_back({"CUDA context", gpu.context, gpu.context_source});
  fit.runtime.push_back({"cuBLAS workspaces", gpu.cublas_workspace * cublas_handles,
                         "torch: CublasHandlePool, one a thread that multiplies matrices (forward and backward)"});
  fit.needed = footprint.peak.total;
  for (const RuntimeTerm& term : fit.runtime) fit.needed += term.bytes;
  fit.headroom = gpu.total - fit.needed;
  fit.fits = !fit.needed.saturated() && fit.headroom >= Bytes(0);
  return fit;
}

}  // namespace oomplan
