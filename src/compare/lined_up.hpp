// Which move of one run is which of the other.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "side.hpp"

namespace oomplan::comparing {

inline constexpr std::uint32_t no_move = std::numeric_limits<std::uint32_t>::max();

/// A stretch of both runs that was held against each other: all of it, or a phase of a step.
struct Piece {
  std::optional<PhaseOfStep> at{};
  std::vector<std::uint32_t> predicted{};  ///< Moves.
  std::vector<std::uint32_t> observed{};
  std::vector<std::pair<std::size_t, std::size_t>> same{};  ///< Places in both.
  bool in_order = true;                                     ///< Else sizes were counted.
};

struct LinedUp {
  std::vector<Piece> pieces{};
  std::string undecided{};  ///< Why not all was lined up.
  std::size_t until = 0;    ///< So many moves of the prediction are before the snapshot's end.
};

/// `observed` as tell_moments() left it; `cut`: a trace that begins within the run.
LinedUp line_up(const Side& predicted, const Side& observed, ToldBy& by, bool cut);

}  // namespace oomplan::comparing
