#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "oomplan/core/text.hpp"
#include "oomplan/estimate/estimate.hpp"

namespace oomplan {
namespace {

// Backward runs on a thread of its own, with a cuBLAS handle and so a workspace of its own; neither is ever freed.
constexpr int cublas_handles = 2;

/// aten/src/ATen/native/transformers/cuda/sdp_utils.cpp: check_flash_attention_hardware_support. Below it Liger's fused
/// linear cross entropy accumulates the head's gradient otherwise (liger_kernel/ops/fused_linear_cross_entropy.py).
constexpr double played_capability = 8.0;

bool is_as_played(const Gpu& gpu) {
  const std::optional<double> capability = parse_number(gpu.compute_capability);
  return !capability || *capability >= played_capability;
}

/// What the run was played with and older GPUs do otherwise; empty where there is nothing.
std::string_view newer_kernel(const TrainingPlan& plan, const Footprint& footprint) {
  if (std::ranges::count(footprint.attention_kernels, "flash") > 0) return "flash attention";
  const Loss loss = plan.recipe.loss.value;
  const bool liger = loss == Loss::liger_fused_linear || loss == Loss::liger_0_8_0_fused_linear;
  return liger ? "Liger's fused linear cross entropy as it is played" : "";
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

std::optional<Diagnostic> undecided_on(const TrainingPlan& plan, const Footprint& footprint, const Gpu& gpu) {
  const std::string_view kernel = newer_kernel(plan, footprint);
  if (kernel.empty() || is_as_played(gpu)) return std::nullopt;
  Diagnostic d;
  d.code = "estimate/unmodelled";
  d.message = fmt::format("{} (compute capability {}) does not run {}, and what it runs instead is not modelled yet",
                          gpu.title, gpu.compute_capability, kernel);
  return d;
}

std::optional<Diagnostic> undecided_on(const Reservation& reservation, const Gpu& gpu, const MeshFacts& mesh) {
  const Bytes room = gpu.total - sum(runtime_terms(gpu, mesh));
  if (reservation.played() || room < reservation.least()) return std::nullopt;
  Diagnostic d;
  d.code = "estimate/unmodelled";
  d.message = fmt::format("the tensors take {}, and the allocator is not played on cards of more than {}",
                          to_text(reservation.least()), to_text(Card::unlimited));
  return d;
}

namespace {

/// What a rank's first collective makes at most, and each further group of ranks: HSDP has one of shards and one of
/// replicas.
Bytes communicators_of(const MeshFacts& mesh) {
  if (mesh.sharding.value == Sharding::none || mesh.world_size.value < 2) return {};
  const int groups = mesh.sharding.value == Sharding::fsdp2 && mesh.fsdp_replicas.value > 1 ? 2 : 1;
  return Bytes::mib(1526) * groups;
}

}  // namespace

std::vector<RuntimeTerm> runtime_terms(const Gpu& gpu, const MeshFacts& mesh) {
  std::vector<RuntimeTerm> terms{
      {"CUDA context", gpu.context, gpu.context_source},
      {"cuBLAS workspaces", gpu.cublas_workspace * cublas_handles,
       "torch: CublasHandlePool, one a thread that multiplies matrices (forward and backward); in PyTorch's pool"}};
  const Bytes communicators = communicators_of(mesh);
  if (communicators == Bytes()) return terms;
  terms.push_back(
      {"NCCL communicators", communicators,
       "NVIDIA/nccl issue 864: 1.6 GB for the first; 544 MiB to that by ranks, topology and channels (issue "
       "964), of which the most is counted"});
  return terms;
}

Needed needed_in(const Reservation& reservation, Bytes room, bool ends) {
  if (!reservation.played()) return {reservation.least(), true};
  return {ends ? std::min(reservation.reserved().smallest, room) : reservation.smallest_above(room), false};
}

Fit fit(const Reservation& reservation, const Gpu& gpu, Bytes paged, const MeshFacts& mesh) {
  Fit fit{.gpu = gpu, .runtime = runtime_terms(gpu, mesh), .paged = paged, .communicators = communicators_of(mesh)};
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
