// What two sequences have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace oomplan::comparing {

using Aligned = std::vector<std::pair<std::size_t, std::size_t>>;  ///< Indices of equals, both ascending.

/// Pairs of a longest common subsequence, by Myers' greedy algorithm. `open_end`: what `b` has behind the end of `a`
/// does not count. Nothing where more than `most` are in one of both only, or where that would take too long: the work
/// is their number times the length.
std::optional<Aligned> align(std::span<const std::int64_t> a, std::span<const std::int64_t> b, bool open_end = false,
                             std::size_t most = 3'000);

/// The n-th of a value with the n-th of the same; ascending in `a` only.
Aligned align_by_count(std::span<const std::int64_t> a, std::span<const std::int64_t> b);

}  // namespace oomplan::comparing
