// What PyTorch's caching allocator makes of a run: how much it reserves, and on how small a card the run still ends.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "oomplan/estimate/allocator.hpp"
#include "oomplan/estimate/footprint.hpp"

namespace oomplan {

/// The pool on an unlimited card at the highest moment of one phase of one step.
struct PoolMoment {
  Phase phase = Phase::load;
  int step = 0;        ///< From 1; 0 is load.
  Bytes requested{};   ///< By the tensors then alive.
  Bytes workspaces{};  ///< cuBLAS's, in the same pool. What kernels take is gone before the next tensor is made.
  Bytes reserved{};    ///< By the allocator for both.
  Bytes fragmented{};  ///< Of it: free, but in segments or pages that hold tensors too.
};

/// What a run makes the allocator reserve.
struct Reserved {
  std::vector<PoolMoment> moments{};  ///< In order of time; those after even the largest card is full are not there.
  Bytes allocated = Bytes::max();     ///< On an unlimited card, whole blocks: max_memory_allocated() there.
  Bytes peak = Bytes::max();          ///< On an unlimited card; Bytes::max() where the largest that there is runs full.
  Bytes smallest = Bytes::max();      ///< The smallest card on which the run was found to end, in steps of 1/128.
  Bytes smallest_usual = Bytes::max();  ///< The same with the first of the orders alone; at most `smallest`.
};

/// What a run needs of a card: the smallest that it was found to end on.
struct Needed {
  Bytes usual = Bytes::max();   ///< With the first of the driver's orders, the one that figures are of.
  Bytes either = Bytes::max();  ///< Whichever order it takes; at least `usual`.
  bool ends = false;            ///< Whether the run ends on the card that was asked for, whichever order it takes.
};

/// What torch.cuda prints of a run on one card.
struct TorchPeaks {
  Bytes allocated{};  ///< max_memory_allocated()
  Bytes reserved{};   ///< max_memory_reserved()
  Bytes kernels{};    ///< Of `allocated`: what CUDA kernels take for themselves at the highest moment.
};

/// What is no tensor in the pool. cuBLAS: each handle takes a workspace of `size` before the event that needs it, for
/// good. Kernels: the events' own slots from `first_scratch` on, gone when the kernel is launched.
struct Workspaces {
  Bytes size{};
  std::vector<std::size_t> before{};
  std::uint32_t first_scratch = std::numeric_limits<std::uint32_t>::max();
};

/// Orders of the driver that a run has to end in. The first is the one that figures are of.
inline const std::vector<SegmentOrder> either_order{SegmentOrder::descending, SegmentOrder::ascending};

/// Gives the footprint's peaks their workspaces, slack and fragmentation, where the largest card did not run full.
void count_reserved(Footprint& footprint, const Reserved& reserved);

/// A run's events replayed. On a card that is smaller than `reserved` the allocator gives back what is free and tries
/// again, so that a run may end there; sizes are what the allocator may take, nothing beside it counted. Addresses
/// never run out: a real card has them for more than its memory, and a second range takes what the first has none for.
class Reservation {
 public:
  /// Of a footprint's events.
  Reservation(std::vector<Event> events, const AllocatorSettings& settings, const Workspaces& workspaces = {},
              std::vector<SegmentOrder> orders = either_order);

  const Reserved& reserved() const { return reserved_; }
  /// Whether the allocator has room for the run on the largest card that there is; else nothing of it is known but
  /// least().
  bool played() const { return !reserved_.peak.saturated(); }
  /// What the tensors take of a card at the least.
  Bytes least() const;
  /// Of cuBLAS's workspaces, what the events hold.
  Bytes workspaces() const { return workspaces_; }
  /// Whether the run ends on each of the cards, wherever of the orders' places new segments lie. `rising` is sorted.
  bool ends_in(const std::vector<Bytes>& rising) const;
  /// What torch.cuda prints on a card of `room`, on which the run ends.
  TorchPeaks peaks_in(Bytes room) const;
  /// What the run needs on a card of `room`: at most that where it ends there, else more: what fits is not monotone.
  Needed needed_in(Bytes room) const;

 private:
  enum class Ends : std::uint8_t { never, in_the_first_order, in_all_orders };
  Ends ends_on(Bytes room) const;
  void replay_unlimited();
  Bytes peak_in(SegmentOrder order) const;
  std::optional<bool> ends_by_size(Bytes room) const;
  bool ends_in(Bytes room, SegmentOrder order) const;
  Bytes card_for(Bytes taken) const;
  Needed first_that_ends(Bytes from) const;
  Needed smallest_above(Bytes room) const;

  std::vector<Event> events_;
  AllocatorSettings settings_;
  std::vector<SegmentOrder> orders_;
  Bytes workspaces_{};
  std::uint32_t first_scratch_ = 0;    ///< The slots of kernels' own are those from it on,
  std::uint32_t first_workspace_ = 0;  ///< and those of workspaces from this on.
  Bytes kernels_{};                    ///< What kernels hold for themselves when most is requested.
  Bytes unlimited_{};                  ///< On a card of as much no order lets the allocator run short.
  Bytes requested_{};                  ///< At the most.
  Bytes held_{};  ///< At the most, on an unlimited card: by tensors, and by what is free but cannot be given back.
  Reserved reserved_{};
};

}  // namespace oomplan
