// A run on cards that are each larger than the one before: what two of them have in common is played once.
#pragma once

#include <optional>
#include <vector>

#include "oomplan/estimate/allocator.hpp"

namespace oomplan::estimator {

class RisingCards {
 public:
  /// `events` and `settings` outlive it.
  RisingCards(const std::vector<Event>& events, const AllocatorSettings& settings, SegmentOrder order)
      : events_(events), settings_(settings), card_{.order = order, .addresses = Card::unlimited} {}

  /// Whether the run ends on a card of `room`; `next` is the card that is asked about where it does not.
  bool ends_in(Bytes room, Bytes next);

 private:
  /// Where the run on a card goes on; at the last event where it failed on a smaller one just as it would here.
  struct Start {
    Bytes room;
    std::size_t at = 0;
    std::optional<Allocator> allocator{};
  };
  Start start_for(Bytes room);

  const std::vector<Event>& events_;
  const AllocatorSettings& settings_;
  Card card_;
  std::optional<Start> start_{};
};

}  // namespace oomplan::estimator
