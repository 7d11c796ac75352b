// Which hashes may have been told: all that were, and a few others.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hash.hpp"

namespace oomplan::measure {

class HashFilter {
 public:
  /// Takes at most so many bytes, and half of them at least.
  explicit HashFilter(std::int64_t bytes) : words_(std::bit_floor(static_cast<std::size_t>(bytes) / 8)) {}
  void insert(Hash hash) { words_[word(hash)] |= bit(hash); }
  bool may_hold(Hash hash) const { return (words_[word(hash)] & bit(hash)) != 0; }

 private:
  std::size_t word(Hash hash) const { return static_cast<std::size_t>(hash.low >> 6) & (words_.size() - 1); }
  static std::uint64_t bit(Hash hash) { return std::uint64_t{1} << (hash.low & 63); }

  std::vector<std::uint64_t> words_;
};

}  // namespace oomplan::measure
