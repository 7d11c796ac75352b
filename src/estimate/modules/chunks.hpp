// Sounds that a tower hears in chunks of so many frames, each by itself (Qwen2.5-Omni).
#pragma once

#include <algorithm>

#include "modules/packed_attention.hpp"

namespace oomplan::estimator {

/// A convolution of three frames that steps by two leaves these.
constexpr std::int64_t halved(std::int64_t frames) { return (frames - 1) / 2 + 1; }

/// How a clip of `frames` frames is cut into chunks of `size` each, of which the last may be shorter.
struct Chunks {
  std::int64_t frames = 1;
  std::int64_t size = 1;

  std::int64_t count() const { return divided_up(frames, size); }
  std::int64_t longest() const { return std::min(frames, size); }
  /// Once halved: those of the size, and what is left.
  std::vector<Pieces> pieces() const {
    std::vector<Pieces> out;
    if (frames >= size) out.push_back({frames / size, halved(size)});
    if (frames % size > 0) out.push_back({1, halved(frames % size)});
    return out;
  }
  /// All of a clip's, once halved.
  std::int64_t rows() const {
    std::int64_t out = 0;
    for (const Pieces& p : pieces()) out += p.count * p.length;
    return out;
  }
};

}  // namespace oomplan::estimator
