#include "oomplan/estimate/reservation.hpp"

#include <algorithm>
#include <future>
#include <optional>
#include <thread>
#include <utility>

#include "rising_cards.hpp"
#include "workspaces.hpp"

namespace oomplan {
namespace {

constexpr int resolution = 128;
constexpr int good_deal =
    48;  // A part of the tensors; more than twice the resolution, or a tighter card gains nothing.

Bytes step_above(Bytes room) { return room + Bytes(room.count() / resolution + 1); }

/// What the tensors alive have asked for, by slot.
class Requests {
 public:
  void play(const Event& event) {
    if (event.kind == Event::Kind::allocate) {
      if (event.slot >= sizes_.size()) sizes_.resize(2 * std::size_t{event.slot} + 1);
      const std::int64_t size = saturating_mul(std::exchange(times_, 1), event.value);
      sizes_[event.slot] = size;
      now_ = saturating_add(now_, size);
    } else if (event.kind == Event::Kind::times) {
      times_ = event.value;
    } else if (event.kind == Event::Kind::free && event.slot < sizes_.size()) {
      now_ -= std::exchange(sizes_[event.slot], 0);
    }
  }
  std::int64_t now() const { return now_; }

 private:
  std::vector<std::int64_t> sizes_{};
  std::int64_t now_ = 0;
  std::int64_t times_ = 1;
};

PoolMoment& moment_of(std::vector<PoolMoment>& moments, const PhaseOfStep& at) {
  const auto same = std::ranges::find_if(moments, [&](const auto& m) { return PhaseOfStep{m.phase, m.step} == at; });
  return same != moments.end() ? *same : moments.emplace_back(PoolMoment{.phase = at.phase, .step = at.step});
}

/// Ranges of expandable segments never lie between one another, so that no order of them tells.
std::vector<SegmentOrder> orders_that_tell(std::vector<SegmentOrder> orders, const AllocatorSettings& settings) {
  if (settings.expandable_segments) orders.resize(1);
  return orders;
}

}  // namespace

void count_reserved(Footprint& footprint, const Reserved& reserved) {
  if (reserved.peak.saturated()) return;
  const auto count = [&](PhasePeak& peak) {
    for (const PoolMoment& m : reserved.moments) {
      if (m.phase != peak.phase || m.step != peak.step) continue;
      at(peak.by_bucket, Bucket::fragmentation) = m.fragmented;
      at(peak.by_bucket, Bucket::runtime) = m.workspaces;
      at(peak.by_bucket, Bucket::slack) = m.reserved - m.requested - m.workspaces - m.fragmented;
      peak.total += m.reserved - m.requested;
    }
  };
  for (PhasePeak& peak : footprint.peaks) count(peak);
  count(footprint.peak);
  if (footprint.bucket_peaks.empty()) return;
  for (const Bucket bucket : {Bucket::slack, Bucket::fragmentation, Bucket::runtime}) {
    footprint.bucket_peaks[static_cast<std::size_t>(bucket)] =
        *std::ranges::max_element(footprint.peaks, {}, [&](const PhasePeak& p) { return at(p.by_bucket, bucket); });
  }
}

Reservation::Reservation(std::vector<Event> events, const AllocatorSettings& settings, const Workspaces& workspaces,
                         std::vector<SegmentOrder> orders)
    : events_(std::move(events)), settings_(settings), orders_(orders_that_tell(std::move(orders), settings)) {
  first_workspace_ = estimator::add_workspaces(workspaces, events_);
  if (first_workspace_ != estimator::no_workspace)
    workspaces_ = workspaces.size * static_cast<std::int64_t>(workspaces.before.size());
  first_scratch_ = std::min(first_workspace_, workspaces.first_scratch);
  replay_unlimited();
  if (reserved_.peak.saturated()) return;
  const Bytes much = requested_ + Bytes(requested_.count() / good_deal);
  const Bytes tight = requested_ + Bytes(requested_.count() / resolution);
  const Needed smallest = first_that_ends(card_for(held_ > much ? tight : held_));
  reserved_.smallest = smallest.either;
  reserved_.smallest_usual = smallest.usual;
}

/// What an unlimited card reserves in this order; Bytes::max() where even that runs full.
Bytes Reservation::peak_in(SegmentOrder order) const {
  Allocator allocator(settings_, {.order = order});
  const bool ended = std::ranges::all_of(events_, [&](const Event& event) { return allocator.play(event); });
  return ended ? allocator.statistics().peak_reserved : Bytes::max();
}

void Reservation::replay_unlimited() {
  // Beside this one, where there is a thread to be had.
  const bool alone = std::thread::hardware_concurrency() <= 1;
  const std::launch when = alone ? std::launch::deferred : std::launch::async | std::launch::deferred;
  std::vector<std::future<Bytes>> others;
  for (std::size_t i = 1; i < orders_.size(); ++i) {
    others.push_back(std::async(when, [this, order = orders_[i]] { return peak_in(order); }));
  }
  Allocator allocator(settings_, {.order = orders_.front()});
  const AllocatorStatistics& s = allocator.statistics();
  Requests requests;
  Requests kernels;
  Bytes made;  // of the workspaces
  PoolMoment* moment = nullptr;
  bool full = false;
  for (const Event& event : events_) {
    if (event.kind == Event::Kind::mark) moment = &moment_of(reserved_.moments, PhaseOfStep::of(event.value));
    full = full || !allocator.play(event);
    requests.play(event);
    const bool workspace = event.kind == Event::Kind::allocate && event.slot >= first_workspace_;
    if (event.slot >= first_scratch_ && !workspace) kernels.play(event);
    if (event.kind == Event::Kind::free) continue;
    if (workspace) made += Bytes(event.value);
    if (Bytes(requests.now()) > requested_) {
      requested_ = Bytes(requests.now());
      kernels_ = Bytes(kernels.now());
    }
    if (full) continue;  // What the tensors take is known all the same.
    held_ = std::max(held_, s.allocated + s.fragmented);
    const Bytes tensors = Bytes(requests.now() - kernels.now()) - made;
    if (moment == nullptr || tensors <= moment->requested) continue;
    *moment = {moment->phase, moment->step, tensors, made, s.reserved, s.fragmented};
  }
  if (full) return;
  reserved_.allocated = s.peak_allocated;
  reserved_.peak = unlimited_ = s.peak_reserved;
  for (std::future<Bytes>& other : others) unlimited_ = std::max(unlimited_, other.get());
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

/// Where no replay is needed to tell.
std::optional<bool> Reservation::ends_by_size(Bytes room) const {
  if (room < card_for(requested_) || reserved_.peak.saturated()) return false;
  const bool collects = settings_.memory_fraction < 1 && settings_.garbage_collection_threshold > 0;
  return room >= card_for(unlimited_) && !collects ? std::optional(true) : std::nullopt;
}

bool Reservation::ends_in(const std::vector<Bytes>& rising) const {
  std::vector<Bytes> tried;
  for (const Bytes room : rising) {
    const std::optional<bool> ends = ends_by_size(room);
    if (ends == false) return false;
    if (!ends) tried.push_back(room);
  }
  return std::ranges::all_of(orders_, [&](SegmentOrder order) {
    estimator::RisingCards cards(events_, settings_, order);
    for (std::size_t i = 0; i < tried.size(); ++i) {
      if (!cards.ends_in(tried[i], tried[std::min(i + 1, tried.size() - 1)])) return false;
    }
    return true;
  });
}

Reservation::Ends Reservation::ends_on(Bytes room) const {
  if (const std::optional<bool> ends = ends_by_size(room)) return *ends ? Ends::in_all_orders : Ends::never;
  const auto last = std::ranges::find_if_not(orders_, [&](SegmentOrder order) { return ends_in(room, order); });
  if (last == orders_.end()) return Ends::in_all_orders;
  return last == orders_.begin() ? Ends::never : Ends::in_the_first_order;
}

bool Reservation::ends_in(Bytes room, SegmentOrder order) const {
  Allocator allocator(settings_, estimator::tried_card(room, order));
  return std::ranges::all_of(events_, [&](const Event& event) { return allocator.play(event); });
}

TorchPeaks Reservation::peaks_in(Bytes room) const {
  const bool collects = settings_.memory_fraction < 1 && settings_.garbage_collection_threshold > 0;
  if (room >= card_for(reserved_.peak) && !collects) return {reserved_.allocated, reserved_.peak, kernels_};
  Allocator allocator(settings_, estimator::tried_card(room, orders_.front()));
  for (const Event& event : events_) allocator.play(event);
  return {allocator.statistics().peak_allocated, allocator.statistics().peak_reserved, kernels_};
}

Needed Reservation::needed_in(Bytes room) const {
  const Ends ends = ends_on(room);
  const Bytes usual = std::min(reserved_.smallest_usual, room);
  if (ends == Ends::in_all_orders) return {usual, std::min(reserved_.smallest, room), true};
  const Needed above = smallest_above(room);
  return {ends == Ends::never ? std::max(above.usual, room + Bytes(1)) : usual, above.either, false};
}

Needed Reservation::smallest_above(Bytes room) const {
  if (room < reserved_.smallest || reserved_.peak.saturated()) return {reserved_.smallest_usual, reserved_.smallest};
  return first_that_ends(step_above(room));
}

// A card that holds what was held on the unlimited one mostly does; one that is tighter may make the allocator lay
// things out better. So where a good deal is held beyond the tensors, smaller cards come first.
Needed Reservation::first_that_ends(Bytes from) const {
  const Bytes held = card_for(held_);
  const Bytes unlimited = card_for(unlimited_);
  std::vector<estimator::RisingCards> cards;
  for (const SegmentOrder order : orders_) cards.emplace_back(events_, settings_, order);
  std::optional<Bytes> usual;
  Bytes room = from;
  for (Bytes step = step_above(room); step < unlimited; step = step_above(room)) {
    const Bytes next = room < held && step > held ? held : step;
    if (room >= card_for(requested_)) {
      const auto ends = [&](estimator::RisingCards& one) { return one.ends_in(room, next); };
      const auto last = std::ranges::find_if_not(cards, ends);
      if (last != cards.begin() && !usual) usual = room;
      if (last == cards.end()) return {*usual, room};
    }
    room = next;
  }
  return {usual.value_or(std::min(card_for(reserved_.peak), unlimited)), unlimited};
}

}  // namespace oomplan
