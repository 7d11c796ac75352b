// The free blocks of a pool in order of size, then address: what best fit searches.
//
// Sizes fall into bins, sixteen to each power of two, and a bitmap says which bins are not empty, so that the next
// larger block is found without a walk. The blocks of a bin are a list through the blocks themselves. What is freed
// mostly lies beside what was freed before it, so that its place is looked for from there; a bin in which that took
// long has an index too.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "block.hpp"

namespace oomplan::allocator {

/// All blocks that it is given are of one `Blocks`, and keep their size and address as long as they are in the set.
class FreeSet {
 public:
  void insert(Blocks& blocks, Index block);
  void erase(Blocks& blocks, Index block);
  /// The one of this size and address, or none.
  Index at(const Blocks& blocks, std::int64_t size, std::uint64_t address) const;
  /// The first that is at least `size` (>= 0) large, or none.
  Index at_least(const Blocks& blocks, std::int64_t size) const;
  /// The next one in order, or none.
  Index after(const Blocks& blocks, Index block) const;
  /// All that are at least `size` large, in order.
  std::vector<Index> list(const Blocks& blocks, std::int64_t size = 0) const;
  void clear();

 private:
  struct Key {
    std::int64_t size = 0;
    std::uint64_t address = 0;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Bin {
    Index first = none;
    Index latest = none;  ///< What came last, or was beside what went.
    std::uint32_t count = 0;
    mutable std::uint32_t walked = 0;  ///< The longest way to a place.
    bool indexed = false;
  };
  static constexpr std::size_t bins = 832;
  static constexpr std::uint32_t longest_walk = 1024;

  static std::size_t bin_of(std::int64_t size) {
    const std::uint64_t units = static_cast<std::uint64_t>(size) / 512;
    if (units < 16) return units;
    const auto power = static_cast<std::size_t>(std::bit_width(units)) - 1;
    return (power - 3) * 16 + ((units >> (power - 4)) & 15U);
  }
  static bool is_lower(const Block& block, const Key& key) {
    return block.size != key.size ? block.size < key.size : block.address < key.address;
  }
  static constexpr std::uint64_t bit(std::size_t bin) { return std::uint64_t{1} << (bin % 64); }
  bool is_filled(std::size_t bin) const { return (filled_[bin / 64] & bit(bin)) != 0; }

  Index below(const Blocks& blocks, std::size_t bin, const Key& key) const;
  Index walk_below(const Blocks& blocks, const Bin& bin, const Key& key) const;
  void link(Blocks& blocks, Bin& bin, Index block, Index lower);
  Index first_from(std::size_t bin) const;
  void insert_indexed(Blocks& blocks, Index block);
  void erase_indexed(const Blocks& blocks, Index block);
  void make_index(const Blocks& blocks, std::size_t bin);

  std::array<Bin, bins> bins_{};
  std::array<std::uint64_t, bins / 64> filled_{};
  std::map<std::size_t, std::map<Key, Index>> indices_{};  ///< Of the long bins.
};

/// The highest of a bin that is lower than `key`, or none; the bin is not empty.
inline Index FreeSet::walk_below(const Blocks& blocks, const Bin& bin, const Key& key) const {
  Index at = bin.latest;
  std::uint32_t steps = 0;
  if (is_lower(blocks[at], key)) {
    for (Index next = blocks[at].higher; next != none && is_lower(blocks[next], key); next = blocks[at].higher) {
      at = next;
      ++steps;
    }
  } else {
    do {
      at = blocks[at].lower;
      ++steps;
    } while (at != none && !is_lower(blocks[at], key));
  }
  bin.walked = std::max(bin.walked, steps);
  return at;
}

/// Behind `lower`, or at the beginning.
inline void FreeSet::link(Blocks& blocks, Bin& bin, Index block, Index lower) {
  Block& b = blocks[block];
  b.lower = lower;
  b.higher = std::exchange(lower == none ? bin.first : blocks[lower].higher, block);
  if (b.higher != none) blocks[b.higher].lower = block;
  bin.latest = block;
  ++bin.count;
}

inline void FreeSet::insert(Blocks& blocks, Index block) {
  Block& b = blocks[block];
  b.bin = static_cast<std::uint16_t>(bin_of(b.size));
  Bin& bin = bins_[b.bin];
  if (bin.indexed) [[unlikely]]
    return insert_indexed(blocks, block);
  if (bin.count == 0) filled_[b.bin / 64] |= bit(b.bin);
  link(blocks, bin, block, bin.count == 0 ? none : walk_below(blocks, bin, {b.size, b.address}));
  if (bin.walked > longest_walk) [[unlikely]]
    make_index(blocks, b.bin);
}

inline void FreeSet::erase(Blocks& blocks, Index block) {
  const Block& b = blocks[block];
  Bin& bin = bins_[b.bin];
  (b.lower == none ? bin.first : blocks[b.lower].higher) = b.higher;
  if (b.higher != none) blocks[b.higher].lower = b.lower;
  if (bin.latest == block) bin.latest = b.lower == none ? b.higher : b.lower;
  if (--bin.count == 0) filled_[b.bin / 64] &= ~bit(b.bin);
  if (bin.indexed) [[unlikely]]
    erase_indexed(blocks, block);
}

inline Index FreeSet::first_from(std::size_t bin) const {
  for (std::size_t word = bin / 64; word < filled_.size(); ++word, bin = word * 64) {
    const std::uint64_t rest = filled_[word] & (~std::uint64_t{0} << (bin % 64));
    if (rest != 0) return bins_[word * 64 + static_cast<std::size_t>(std::countr_zero(rest))].first;
  }
  return none;
}

inline Index FreeSet::at_least(const Blocks& blocks, std::int64_t size) const {
  const std::size_t number = bin_of(size);
  if (is_filled(number)) {
    const Index first = bins_[number].first;
    if (blocks[first].size >= size) return first;
    const Index found = blocks[below(blocks, number, {size, 0})].higher;
    if (found != none) return found;
  }
  return number + 1 < bins ? first_from(number + 1) : none;
}

inline Index FreeSet::after(const Blocks& blocks, Index block) const {
  const Block& b = blocks[block];
  if (b.higher != none) return b.higher;
  const std::size_t next = b.bin + std::size_t{1};
  return next < bins ? first_from(next) : none;
}

}  // namespace oomplan::allocator
