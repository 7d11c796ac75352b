#include "oomplan/reservation.hpp"

#include <algorithm>
#include <utility>

namespace oomplan {
namespace {

constexpr int resolution = 128;
constexpr int codes_a_step = 16;

/// What the tensors alive have asked for, by slot.
class Requests {
 public:
  void play(const Event& event) {
    if (event.kind == Event::Kind::allocate) {
      if (event.slot >= sizes_.size()) sizes_.resize(2 * std::size_t{event.slot} + 1);
      sizes_[event.slot] = event.value;
      now_ = saturating_add(now_, event.value);
    } else if (event.kind == Event::Kind::free && event.slot < sizes_.size()) {
      now_ -= std::exchange(sizes_[event.slot], 0);
    }
  }
  std::int64_t now() const { return now_; }

 private:
  std::vector<std::int64_t> sizes_{};
  std::int64_t now_ = 0;
};

PoolMoment& moment_of(std::vector<PoolMoment>& moments, std::int64_t code) {
  const auto phase = static_cast<Phase>(code % codes_a_step);
  const int step = static_cast<int>(code / codes_a_step);
  const auto same = std::ranges::find_if(moments, [&](const auto& m) { return m.phase == phase && m.step == step; });
  return same != moments.end() ? *same : moments.emplace_back(PoolMoment{.phase = phase, .step = step});
}

/// Whether a limit acts that depends on the card, before the card is full.
bool limited_by_fraction(const AllocatorSettings& settings) { return settings.memory_fraction < 1.0; }

}  // namespace

void count_reserved(Footprint& footprint, const Reserved& reserved) {
  const auto count = [&](PhasePeak& peak) {
    for (const PoolMoment& m : reserved.moments) {
      if (m.phase != peak.phase || m.step != peak.step) continue;
      at(peak.by_bucket, Bucket::fragmentation) = m.fragmented;
      at(peak.by_bucket, Bucket::slack) = m.reserved - m.requested - m.fragmented;
      peak.total += m.reserved - m.requested;
    }
  };
  for (PhasePeak& peak : footprint.peaks) count(peak);
  count(footprint.peak);
  if (footprint.bucket_peaks.empty()) return;
  for (const Bucket bucket : {Bucket::slack, Bucket::fragmentation}) {
    footprint.bucket_peaks[static_cast<std::size_t>(bucket)] =
        *std::ranges::max_element(footprint.peaks, {}, [&](const PhasePeak& p) { return at(p.by_bucket, bucket); });
  }
}

Reservation::Reservation(const Footprint& footprint, const AllocatorSettings& settings)
    : events_(footprint.events), settings_(settings), requested_(footprint.peak.total) {
  replay_unlimited();
  if (reserved_.peak.saturated()) return;
  find_start();
  reserved_.smallest = ends_in(requested_) ? requested_ : bisect(requested_, reserved_.peak);
}

void Reservation::replay_unlimited() {
  Allocator allocator(settings_);
  Requests requests;
  PoolMoment* moment = nullptr;
  for (const Event& event : events_) {
    if (event.kind == Event::Kind::mark) moment = &moment_of(reserved_.moments, event.value);
    if (!allocator.play(event)) return;
    requests.play(event);
    if (moment == nullptr || requests.now() <= moment->requested.count()) continue;
    const AllocatorStatistics& s = allocator.statistics();
    *moment = {moment->phase, moment->step, Bytes(requests.now()), s.reserved, s.fragmented};
  }
  reserved_.peak = allocator.statistics().peak_reserved;
}

// On every card of at least `requested_` all goes as on an unlimited one, up to the first event that reserves more.
void Reservation::find_start() {
  start_.allocator = Allocator(settings_);
  if (limited_by_fraction(settings_)) return;
  Allocator ahead(settings_);
  for (std::size_t i = 0; i < events_.size(); ++i) {
    ahead.play(events_[i]);
    if (ahead.statistics().reserved > requested_) break;
    if (events_[i].kind == Event::Kind::mark) start_ = {i + 1, ahead};
  }
}

bool Reservation::ends_in(Bytes room) const {
  if (room < requested_ || reserved_.peak.saturated()) return false;
  if (room >= reserved_.peak && !limited_by_fraction(settings_)) return true;
  Allocator allocator = start_.allocator;
  allocator.move_to({.total = room});
  return std::all_of(events_.begin() + static_cast<std::ptrdiff_t>(start_.event), events_.end(),
                     [&](const Event& event) { return allocator.play(event); });
}

Bytes Reservation::smallest_above(Bytes room) const {
  return room < requested_ || reserved_.peak.saturated() ? reserved_.smallest : bisect(room, reserved_.peak);
}

Bytes Reservation::bisect(Bytes fails, Bytes ends) const {
  while (ends - fails > Bytes(ends.count() / resolution)) {
    const Bytes middle((fails.count() + ends.count()) / 2);
    (ends_in(middle) ? ends : fails) = middle;
  }
  return ends;
}

}  // namespace oomplan
