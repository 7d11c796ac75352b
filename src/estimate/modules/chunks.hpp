// Sounds that a tower takes in chunks of so many frames, each by itself (Qwen2.5-Omni, Qwen3-Omni).
#pragma once

#include <algorithm>

#include "modules/packed_attention.hpp"

namespace oomplan::estimator {

/// A convolution of three frames that steps by two leaves these.
constexpr std::int64_t halved(std::int64_t frames) { return (frames - 1) / 2 + 1; }

/// How a clip of `frames` frames is cut into chunks of `size` each, of which the last may be shorter, and convolutions
/// of such a step halve each chunk so many times.
struct Chunks {
  std::int64_t frames = 1;
  std::int64_t size = 1;
  std::int64_t times = 1;

  std::int64_t count() const { return divided_up(frames, size); }
  std::int64_t longest() const { return std::min(frames, size); }
  /// What is left of so many frames.
  std::int64_t left(std::int64_t of) const {
    for (std::int64_t i = 0; i < times; ++i) of = halved(of);
    return of;
  }
  /// Once halved: those of the size, and what is left.
  std::vector<Pieces> pieces() const {
    std::vector<Pieces> out;
    if (frames >= size) out.push_back({frames / size, left(size)});
    if (frames % size > 0) out.push_back({1, left(frames % size)});
    return out;
  }
  /// All of a clip's, once halved.
  std::int64_t rows() const {
    std::int64_t out = 0;
    for (const Pieces& p : pieces()) out += p.count * p.length;
    return out;
  }
  /// A clip's rows in windows of as many chunks as `seen` frames are, which see each other
  /// (modeling_qwen3_omni_moe.py: get_audio_cu_seqlens).
  std::vector<Pieces> windows(std::int64_t seen) const {
    const std::int64_t window = std::max<std::int64_t>(left(longest()) * (seen / size), 1);
    std::vector<Pieces> out;
    if (rows() >= window) out.push_back({rows() / window, window});
    if (rows() % window > 0) out.push_back({1, rows() % window});
    return out;
  }
};

}  // namespace oomplan::estimator
