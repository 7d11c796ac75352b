// Lines a real run's memory snapshot up with the prediction.
#pragma once

#include <cstddef>

#include "oomplan/compare/comparison.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/read/snapshot.hpp"

namespace oomplan {

/// `predicted` is what snapshot_of() made. Allocations are lined up phase by phase, by the longest common sequence of
/// their sizes and frees (E. W. Myers, An O(ND) Difference Algorithm and Its Variations, Algorithmica 1, 1986); a phase
/// in which more than a few thousand differ is counted by size. Of a run the first two steps are lined up, of a trace
/// that is cut the first whole step after a step of the optimizer, with the prediction's second. Errors: those of
/// recording_of() for the snapshot's trace.
Result<Comparison> compare(const Snapshot& predicted, const Snapshot& observed, std::size_t device);

/// The device that is meant where none is named: the first with a trace, else the first with segments; 0 of none.
std::size_t device_of(const Snapshot& snapshot);

}  // namespace oomplan
