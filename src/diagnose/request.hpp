// Which tensors an allocator's request may have been for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "oomplan/diagnose/evidence.hpp"

namespace oomplan::diagnose {

/// The sizes that a text rounds to it: "7.83 GiB" is anything from 7.825 to 7.835.
struct SizeRange {
  double least = 0;
  double most = 0;
  bool holds(std::int64_t bytes) const {
    return static_cast<double>(bytes) >= least && static_cast<double>(bytes) <= most;
  }
};
SizeRange range_of(const Reading& size);

/// What PyTorch's allocator asks the driver for, where its cache has no block of `bytes`; its message names that
/// (CUDACachingAllocator.cpp, get_allocation_size).
std::int64_t asked_for(std::int64_t bytes);

/// Those of `allocations` that `requested` may be, the likeliest first: made in `phase`, then of the exact size, then
/// by their number.
std::vector<Match> matches_of(const Reading& requested, const std::vector<LiveGroup>& allocations,
                              std::optional<Phase> phase);

}  // namespace oomplan::diagnose
