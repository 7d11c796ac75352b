// How long the rows of each step are: a list, or a range and how it is gone through.
#pragma once

#include "oomplan/plan/codec.hpp"

namespace oomplan::planning {

/// Each is played.
inline constexpr std::size_t most_steps = 4096;

/// [512, 64, 2048], or {min: 64, max: 2048, distribution: uniform, steps: 32}. uniform spreads over the range in an
/// order without trend, the same every time; ascending and descending go through it. steps: 32 where not given.
std::optional<std::vector<std::int64_t>> read_lengths(const Node& node);
std::string write_lengths(const std::vector<std::int64_t>& lengths);

namespace as {
inline constexpr Codec<std::vector<std::int64_t>> lengths{
    "a list of up to 4096 positive integers, a file of them, or {min, max, distribution: uniform, ascending or "
    "descending, steps}",
    read_lengths, write_lengths};
}  // namespace as

}  // namespace oomplan::planning
