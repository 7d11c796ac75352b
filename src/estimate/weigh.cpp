#include "oomplan/estimate/weigh.hpp"

#include <cmath>
#include <utility>

#include "oomplan/core/text.hpp"

namespace oomplan {

std::optional<double> parse_headroom(std::string_view text) {
  const bool sign = text.ends_with('%');
  if (sign) text.remove_suffix(1);
  const std::optional<double> percent = parse_number(text);
  if (!percent || *percent < 0 || *percent >= 100) return std::nullopt;
  const bool unclear = !sign && *percent > 0 && *percent < 1;
  return unclear ? std::nullopt : std::optional(*percent / 100);
}

Bytes limit_of(const Gpu& gpu, double headroom) {
  return gpu.total - Bytes(static_cast<std::int64_t>(std::ceil(static_cast<double>(gpu.total.count()) * headroom)));
}

namespace {

/// The tensors and what lies beside them for certain: while loading nothing is multiplied yet.
Bytes at_least_beside(const Footprint& footprint, const Gpu& gpu, const MeshFacts& mesh) {
  const bool loading = footprint.peak.phase == Phase::load;
  return footprint.peak.tensors() + (loading ? gpu.context : sum(runtime_terms(gpu, mesh)));
}

}  // namespace

Scales::Scales(const TrainingPlan& plan, const Architecture& architecture)
    : plan_(plan), architecture_(architecture), peaks_(estimate(plan, architecture, Detail::peaks)) {}

const Result<Reservation>& Scales::replayed_with(Bytes workspace) {
  const auto known = reservations_.find(workspace);
  if (known != reservations_.end()) return known->second;
  const auto keep = [&](Result<Reservation> result) -> const Result<Reservation>& {
    return reservations_.emplace(workspace, std::move(result)).first->second;
  };
  const Result<AllocatorSettings> settings = parse_alloc_conf(plan_.runtime.alloc_conf.value, "alloc_conf");
  if (!settings) return keep(settings.errors());
  Result<Footprint> footprint = estimate(plan_, architecture_, Detail::events);
  if (!footprint) return keep(footprint.errors());
  return keep(Reservation(std::move(footprint->events), *settings, {workspace, std::move(footprint->cublas_handles)}));
}

Weighed Scales::weigh(const Gpu& gpu, Bytes limit) {
  if (!peaks_) return {.errors = peaks_.errors()};
  if (const auto undecided = undecided_on(plan_, *peaks_, gpu)) return {.errors = {*undecided}};
  const Bytes tensors = at_least_beside(*peaks_, gpu, plan_.mesh);
  if (tensors > limit) return {.needed = tensors, .at_least = true};
  const Result<Reservation>& reservation = replayed_with(gpu.cublas_workspace);
  if (!reservation) return {.errors = reservation.errors()};
  if (const auto undecided = undecided_on(*reservation, gpu, plan_.mesh)) return {.errors = {*undecided}};
  const Bytes beside = sum(runtime_terms(gpu, plan_.mesh)) - reservation->workspaces();
  const Bytes room = gpu.total - beside;
  const bool ends = reservation->ends_in(room);
  const Bytes needed = beside + needed_in(*reservation, room, ends).bytes;
  const Fit fit{.gpu = gpu, .needed = needed, .paged = paged_of(*peaks_)};
  return {.needed = needed,
          .fits = ends && needed <= limit,
          .fragmentation = !ends || needed > limit,
          .paged_to_host = fit.paged_to_host()};
}

}  // namespace oomplan
