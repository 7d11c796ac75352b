#include <fmt/format.h>

#include <algorithm>

#include "oomplan/estimate.hpp"
#include "oomplan/text.hpp"

namespace oomplan {
namespace {

// Backward runs on a thread of its own, with a cuBLAS handle and so a workspace of its own; neither is ever freed.
constexpr int cublas_handles = 2;

/// aten/src/ATen/native/transformers/cuda/sdp_utils.cpp: check_flash_attention_hardware_support.
constexpr double flash_capability = 8.0;

bool has_flash_attention(const Gpu& gpu) {
  const std::optional<double> capability = parse_number(gpu.compute_capability);
  return !capability || *capability >= flash_capability;
}

}  // namespace

std::optional<Diagnostic> undecided_on(const Footprint& footprint, const Gpu& gpu) {
  const auto& kernels = footprint.attention_kernels;
  const bool flash = std::find(kernels.begin(), kernels.end(), "flash") != kernels.end();
  if (!flash || has_flash_attention(gpu)) return std::nullopt;
  Diagnostic d;
  d.code = "estimate/unmodelled";
  d.message =
      fmt::format("{} (compute capability {}) has no flash attention, and what runs in its place is not modelled yet",
                  gpu.title, gpu.compute_capability);
  return d;
}

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
