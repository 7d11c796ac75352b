#include "oomplan/weigh.hpp"

#include <cmath>
#include <utility>

#include "oomplan/text.hpp"

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

Scales::Scales(const TrainingPlan& plan, const Architecture& architecture)
    : plan_(plan), architecture_(architecture), peaks_(estimate(plan, architecture, Detail::peaks)) {}

void Scales::replay() {
  const Result<AllocatorSettings> settings = parse_alloc_conf(plan_.alloc_conf.value, "alloc_conf");
  Result<Footprint> footprint = estimate(plan_, architecture_, Detail::events);
  if (!settings) {
    reservation_.emplace(settings.errors());
  } else if (!footprint) {
    reservation_.emplace(footprint.errors());
  } else {
    reservation_.emplace(Reservation(std::move(footprint->events), *settings));
  }
}

Weighed Scales::weigh(const Gpu& gpu, Bytes limit) {
  if (!peaks_) return {.errors = peaks_.errors()};
  if (const auto undecided = undecided_on(*peaks_, gpu)) return {.errors = {*undecided}};
  const Bytes beside = sum(runtime_terms(gpu));
  const Bytes tensors = peaks_->peak.tensors() + beside;
  if (tensors > limit) return {.needed = tensors, .at_least = true};
  if (!reservation_) replay();
  if (!*reservation_) return {.errors = reservation_->errors()};
  if (const auto undecided = undecided_on(**reservation_, gpu)) return {.errors = {*undecided}};
  const Bytes room = gpu.total - beside;
  const bool ends = (**reservation_).ends_in(room);
  const Bytes needed = beside + needed_in(**reservation_, room, ends).bytes;
  const Fit fit{.gpu = gpu, .needed = needed, .paged = paged_of(*peaks_)};
  return {.needed = needed,
          .fits = ends && needed <= limit,
          .fragmentation = !ends || needed > limit,
          .paged_to_host = fit.paged_to_host()};
}

}  // namespace oomplan
