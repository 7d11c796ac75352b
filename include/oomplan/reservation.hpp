// What PyTorch's caching allocator makes of a run: how much it reserves, and on how small a card the run still ends.
#pragma once

#include <cstdint>
#include <vector>

#include "oomplan/allocator.hpp"
#include "oomplan/footprint.hpp"

namespace oomplan {

/// The pool on an unlimited card at the highest moment of one phase of one step.
struct PoolMoment {
  Phase phase = Phase::load;
  int step = 0;        ///< From 1; 0 is load.
  Bytes requested{};   ///< By the tensors then alive.
  Bytes reserved{};    ///< By the allocator for them.
  Bytes fragmented{};  ///< Of it: free, but in segments or pages that hold tensors too.
};

/// What a run makes the allocator reserve.
struct Reserved {
  std::vector<PoolMoment> moments{};  ///< In order of time; those after even the largest card is full are not there.
  Bytes peak = Bytes::max();          ///< On an unlimited card; Bytes::max() where the largest that there is runs full.
  Bytes smallest = Bytes::max();      ///< The smallest card on which the run was found to end, in steps of 1/128.
};

/// Gives the footprint's peaks their slack and fragmentation, where the largest card did not run full.
void count_reserved(Footprint& footprint, const Reserved& reserved);

/// A run's events replayed. On a card that is smaller than `reserved` the allocator gives back what is free and tries
/// again, so that a run may end there; sizes are what the allocator may take, nothing beside it counted.
class Reservation {
 public:
  /// Of a footprint's events.
  Reservation(std::vector<Event> events, const AllocatorSettings& settings);

  const Reserved& reserved() const { return reserved_; }
  /// Whether the allocator has room for the run on the largest card that there is; else nothing of it is known but
  /// least().
  bool played() const { return !reserved_.peak.saturated(); }
  /// What the tensors take of a card at the least.
  Bytes least() const;
  /// Whether the run ends on a card of `room`.
  bool ends_in(Bytes room) const;
  /// The smallest found above `room`, on which the run does not end: what fits is not monotone.
  Bytes smallest_above(Bytes room) const;

 private:
  void replay_unlimited();
  Bytes card_for(Bytes taken) const;
  Bytes first_that_ends(Bytes from) const;

  std::vector<Event> events_;
  AllocatorSettings settings_;
  Bytes requested_{};  ///< At the most.
  Bytes held_{};       ///< At the most, on an unlimited card: by tensors, and by what is free but cannot be given back.
  Reserved reserved_{};
};

}  // namespace oomplan
