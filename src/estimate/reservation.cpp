#include "oomplan/reservation.hpp"

#include <algorithm>
#include <utility>

namespace oomplan {
namespace {

constexpr int resolution = 128;
constexpr int good_deal =
    48;  // A part of the tensors; more than twice the resolution, or a tighter card gains nothing.
constexpr int codes_a_step = 16;

Bytes step_above(Bytes room) { return room + Bytes(room.count() / resolution + 1); }

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

}  // namespace

void count_reserved(Footprint& footprint, const Reserved& reserved) {
  if (reserved.peak.saturated()) return;
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

Reservation::Reservation(std::vector<Event> events, const AllocatorSettings& settings)
    : events_(std::move(events)), settings_(settings) {
  replay_unlimited();
  if (reserved_.peak.saturated()) return;
  const Bytes much = requested_ + Bytes(requested_.count() / good_deal);
  const Bytes tight = requested_ + Bytes(requested_.count() / resolution);
  reserved_.smallest = first_that_ends(card_for(held_ > much ? tight : held_));
}

void Reservation::replay_unlimited() {
  Allocator allocator(settings_);
  Requests requests;
  PoolMoment* moment = nullptr;
  bool full = false;
  for (const Event& event : events_) {
    if (event.kind == Event::Kind::mark) moment = &moment_of(reserved_.moments, event.value);
    full = full || !allocator.play(event);
    requests.play(event);
    requested_ = std::max(requested_, Bytes(requests.now()));
    if (full) continue;  // What the tensors take is known all the same.
    held_ = std::max(held_, allocator.statistics().allocated + allocator.statistics().fragmented);
    if (moment == nullptr || requests.now() <= moment->requested.count()) continue;
    const AllocatorStatistics& s = allocator.statistics();
    *moment = {moment->phase, moment->step, Bytes(requests.now()), s.reserved, s.fragmented};
  }
  if (!full) reserved_.peak = allocator.statistics().peak_reserved;
}

Bytes Reservation::least() const {
  if (!(settings_.memory_fraction < 1)) return requested_;
  const double card = static_cast<double>(requested_.count()) / settings_.memory_fraction;
  return card < static_cast<double>(Bytes::max().count()) ? Bytes(static_cast<std::int64_t>(card)) : Bytes::max();
}

/// The smallest card of which the allocator may take so much: all of it, or the fraction that it is set to.
Bytes Reservation::card_for(Bytes taken) const {
  const double fraction = settings_.memory_fraction;
  if (!(fraction < 1)) return taken;
  const double card = static_cast<double>(taken.count()) / fraction + 1;
  return card < static_cast<double>(Card::unlimited.count()) ? Bytes(static_cast<std::int64_t>(card)) : Bytes::max();
}

bool Reservation::ends_in(Bytes room) const {
  if (room < card_for(requested_) || reserved_.peak.saturated()) return false;
  const bool collects = settings_.memory_fraction < 1 && settings_.garbage_collection_threshold > 0;
  if (room >= card_for(reserved_.peak) && !collects) return true;
  Allocator allocator(settings_, {.total = room});
  return std::ranges::all_of(events_, [&](const Event& event) { return allocator.play(event); });
}

Bytes Reservation::smallest_above(Bytes room) const {
  if (room < reserved_.smallest || reserved_.peak.saturated()) return reserved_.smallest;
  return first_that_ends(step_above(room));
}

// A card that holds what was held on the unlimited one mostly does; one that is tighter may make the allocator lay
// things out better. So where a good deal is held beyond the tensors, smaller cards come first.
Bytes Reservation::first_that_ends(Bytes from) const {
  const Bytes held = card_for(held_);
  const Bytes roomy = card_for(reserved_.peak);
  Bytes room = from;
  for (Bytes next = step_above(room); next < roomy; next = step_above(room)) {
    if (ends_in(room)) return room;
    room = room < held && next > held ? held : next;
  }
  return roomy;
}

}  // namespace oomplan
