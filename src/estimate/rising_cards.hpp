// A run on cards that are each larger than the one before: what two of them have in common is played once.
#pragma once

#include <optional>
#include <vector>

#include "oomplan/estimate/allocator.hpp"

namespace oomplan::estimator {

/// A card on which a run is tried: addresses never run out on it.
inline Card tried_card(Bytes room, SegmentOrder order) {
  return {.total = room, .order = order, .addresses = Card::unlimited};
}

class RisingCards {
 public:
  /// `events` and `settings` outlive it.
  RisingCards(const std::vector<Event>& events, const AllocatorSettings& settings, SegmentOrder order)
      : events_(events), settings_(settings), order_(order) {}

  /// Whether the run ends on a card of `room`; `next` is the card that is asked about after it.
  bool ends_in(Bytes room, Bytes next);

 private:
  /// Where the run on a card goes on: behind the last event where it ended on a smaller one just as it would here, and
  /// without an allocator where it failed so.
  struct Start {
    Bytes room;
    std::size_t at = 0;
    std::optional<Allocator> allocator{};
  };
  Start start_for(Bytes room);

  const std::vector<Event>& events_;
  const AllocatorSettings& settings_;
  SegmentOrder order_;
  std::optional<Start> start_{};
};

}  // namespace oomplan::estimator
