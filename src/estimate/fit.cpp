#include <fmt/format.h>

#include <algorithm>
#include <optional>

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

// What fits is not monotone in the memory, and what is on a card beside the run varies: so smaller cards are tried too.
constexpr int per_cents_below = 5;

FitVerdict verdict_in(const Reservation& reservation, Bytes room) {
  if (!reservation.played()) return room < reservation.least() ? FitVerdict::does_not_fit : FitVerdict::undecided;
  if (!reservation.ends_in(room)) return FitVerdict::does_not_fit;
  for (int below = 1; below <= per_cents_below; ++below) {
    if (!reservation.ends_in(room - Bytes(room.count() / 100 * below))) return FitVerdict::at_the_edge;
  }
  return FitVerdict::fits;
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

std::optional<Diagnostic> undecided_on(const Reservation& reservation, const Gpu& gpu) {
  const Bytes room = gpu.total - sum(runtime_terms(gpu));
  if (reservation.played() || room < reservation.least()) return std::nullopt;
  Diagnostic d;
  d.code = "estimate/unmodelled";
  d.message = fmt::format("the tensors take {}, and the allocator is not played on cards of more than {}",
                          to_text(reservation.least()), to_text(Card::unlimited));
  return d;
}

std::vector<RuntimeTerm> runtime_terms(const Gpu& gpu) {
  return {{"CUDA context", gpu.context, gpu.context_source},
          {"cuBLAS workspaces", gpu.cublas_workspace * cublas_handles,
           "torch: CublasHandlePool, one a thread that multiplies matrices (forward and backward); in PyTorch's pool"}};
}

Needed needed_in(const Reservation& reservation, Bytes room, bool ends) {
  if (!reservation.played()) return {reservation.least(), true};
  return {ends ? std::min(reservation.reserved().smallest, room) : reservation.smallest_above(room), false};
}

Fit fit(const Reservation& reservation, const Gpu& gpu, Bytes paged) {
  Fit fit{.gpu = gpu, .runtime = runtime_terms(gpu), .paged = paged};
  const Bytes beside = sum(fit.runtime) - reservation.workspaces();
  const Bytes room = gpu.total - beside;
  fit.verdict = verdict_in(reservation, room);
  const Needed needed = needed_in(reservation, room, fit.fits());
  fit.needed = beside + needed.bytes;
  fit.at_least = needed.at_least;
  fit.headroom = gpu.total - fit.needed;
  if (fit.fits()) fit.torch = reservation.peaks_in(room);
  return fit;
}

Bytes paged_of(const Footprint& footprint) {
  Bytes most;
  for (const PhasePeak& peak : footprint.peaks) most = std::max(most, at(peak.by_bucket, Bucket::paged));
  return most;
}

}  // namespace oomplan
