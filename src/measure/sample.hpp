// A dataset by a sample of its blocks.
#pragma once

#include <vector>

#include "blocks.hpp"
#include "oomplan/measure/measure.hpp"
#include "size_sketch.hpp"

namespace oomplan::measure {

/// One block's rows, and how often it was drawn.
struct SampledBlock {
  double bytes = 0;  ///< Its chance to be drawn, but for a factor.
  std::int64_t times = 1;
  double rows = 0;
  double decoded = 0;
  std::vector<SizeSketch::Bin> bins{};
};

/// The whole by its blocks: of `bytes` bytes, and of `rows` rows where that is known.
Sampled estimates_of(const std::vector<SampledBlock>& blocks, std::int64_t bytes, std::optional<std::int64_t> rows);

/// Draws so many, and gives each block that came once, with how often, in the order of the files. Errors: those of
/// Blocks::at.
Result<std::vector<std::pair<Block, std::int64_t>>> drawn_from(Blocks& blocks, std::int64_t draws, std::uint64_t seed);

// Estimates from draws of blocks, with their 95 % intervals.

/// One draw: what a block has of two things, each by the block's chance to be drawn (Hansen and Hurwitz 1943).
struct Drawn {
  double above = 0;
  double below = 0;
};

/// How many times the one is the other in the whole, by Student's t over the jackknife's error. Two draws at least.
Estimate ratio_of(const std::vector<Drawn>& draws);

/// The 97.5 % quantile of Student's t.
double student_t(std::size_t degrees_of_freedom);

}  // namespace oomplan::measure
