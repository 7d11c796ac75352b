// One of two runs: its tensors, and when each comes and goes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "oomplan/compare/comparison.hpp"
#include "oomplan/read/snapshot.hpp"

namespace oomplan::comparing {

struct Tensor {
  std::int64_t bytes = 0;  ///< Rounded up to 512.
  std::uint32_t stack = 0;
  std::uint32_t entry = 0;  ///< Of the trace, from 1; 0 of what was there before it.
};

struct Move {
  std::uint32_t tensor = 0;
  bool allocates = false;
  std::uint32_t entry = 0;
  std::optional<PhaseOfStep> at{};  ///< Set by tell_moments().
};

struct Side {
  std::vector<Tensor> tensors{};
  std::vector<std::uint32_t> start{};  ///< In use before the first move.
  std::vector<Move> moves{};
};

/// Frees of what is not in use are left out.
Side side_of(const Snapshot& snapshot, std::size_t device);

/// How many tensors of each size are in use.
using Sizes = std::map<std::int64_t, std::int64_t>;
/// The bytes that are in one of both only.
std::int64_t apart(const Sizes& a, const Sizes& b);
std::int64_t total(const Sizes& sizes);

/// What is in use after the first `moves`.
std::vector<std::uint32_t> live_after(const Side& side, std::size_t moves);
Sizes sizes_of(const Side& side, const std::vector<std::uint32_t>& tensors);

/// After how many of the first `moves` most is in use.
std::size_t highest(const Side& side, std::size_t moves);

}  // namespace oomplan::comparing
