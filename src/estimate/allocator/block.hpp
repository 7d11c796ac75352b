// Blocks: stretches of a segment, each allocated, free, or (in an expandable segment) without memory behind it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace oomplan::allocator {

using Index = std::uint32_t;
inline constexpr Index none = 0xFFFFFFFFU;

/// Which pool: small and large requests never share a segment, nor do those of two streams.
struct PoolKey {
  bool small = false;
  std::uint8_t stream = 0;

  std::size_t number() const { return 2 * std::size_t{stream} + (small ? 1 : 0); }
};

struct Block {
  std::uint64_t address = 0;
  std::int64_t size = 0;
  std::uint64_t base = 0;      // where its segment begins
  std::int64_t stranded = 0;   // of a free block: what no release could return
  std::uint64_t freed_at = 0;  // the pool's count of searches when it became free
  Index previous = none;       // its neighbours in the segment
  Index next = none;
  Index lower = none;     // its neighbours in the set of free blocks
  Index higher = none;    // or of an allocated one, the next of the same slot
  std::uint16_t bin = 0;  // of the set, by its size
  bool small = false;     // of which pool
  std::uint8_t stream = 0;
  bool allocated = false;
  bool mapped = true;

  PoolKey pool() const { return {small, stream}; }
  bool split() const { return previous != none || next != none; }
};

/// All blocks, by index. An index is used again once its block is gone.
class Blocks {
 public:
  Blocks() { blocks_.reserve(room_at_first); }

  Block& operator[](Index i) { return blocks_[i]; }
  const Block& operator[](Index i) const { return blocks_[i]; }

  Index add(const Block& block) {
    if (unused_ == none) {
      blocks_.push_back(block);
      return static_cast<Index>(blocks_.size() - 1);
    }
    const Index i = unused_;
    unused_ = blocks_[i].next;
    blocks_[i] = block;
    return i;
  }
  void remove(Index i) {
    blocks_[i].next = unused_;
    unused_ = i;
  }
  void clear() {
    blocks_.clear();
    unused_ = none;
  }

 private:
  static constexpr std::size_t room_at_first = 8192;  // Pages of it that no block is in cost nothing.

  std::vector<Block> blocks_{};
  Index unused_ = none;  // a list through `next`
};

}  // namespace oomplan::allocator
