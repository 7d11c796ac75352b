// Every allocation and free of a run in order, all of its layers counted: what an allocator is replayed on.
#pragma once

#include <vector>

#include "oomplan/estimate/events.hpp"
#include "timeline.hpp"

namespace oomplan::estimator {

/// Loops in layers' code: each turn by itself, or those that a middle turn stands for together. Together, that turn is
/// one, and beside it what the others leave for a later loop is allocated at once, and so is freed what they find: all
/// requests in their sizes, and what is held at the highest moment, but in another order.
enum class Turns : std::uint8_t { apart, together };

/// What playing every layer would have written down, where repeats_exactly(timeline): allocations, frees, and a mark
/// where a phase begins, its value a PhaseOfStep's code. Empty storages are left out.
struct Unrolled {
  std::vector<oomplan::Event> events{};
  std::vector<std::size_t> handles{};  ///< The events before which cuBLAS handles are made.
  std::uint32_t first_scratch = 0;     ///< The slots of what kernels take for themselves are those from it on.
  friend bool operator==(const Unrolled&, const Unrolled&) = default;
};
Unrolled unroll(const Timeline& timeline, Turns turns = Turns::apart);

}  // namespace oomplan::estimator
