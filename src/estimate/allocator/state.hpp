// The allocator's state and what every part of it does with blocks.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "block.hpp"
#include "free_set.hpp"
#include "oomplan/estimate/allocator.hpp"
#include "sizes.hpp"

namespace oomplan::allocator {

/// What the driver has given out.
struct Device {
  std::int64_t total = 0;
  std::int64_t context = 0;
  std::int64_t used = 0;       ///< By the allocator, in physical pages.
  std::int64_t addresses = 0;  ///< A range of an expandable segment is an eighth longer.
  SegmentOrder order = SegmentOrder::descending;
  std::uint64_t edge = middle;     ///< The next segment ends here, or begins here where they ascend.
  std::uint64_t placed = nowhere;  ///< Where the next segment is told to lie.
  std::uint64_t next_range = 0x600000000000;

  static constexpr std::uint64_t middle = std::uint64_t{1} << 62;
  static constexpr std::uint64_t nowhere = 0;

  std::int64_t free() const { return total - context - used; }
  bool take(std::int64_t size) {
    if (size > free()) return false;
    used += size;
    return true;
  }
  void give_back(std::int64_t size) { used -= size; }
  /// Addresses for `size` bytes.
  std::uint64_t place(std::int64_t size) {
    if (placed != nowhere) return std::exchange(placed, nowhere);
    const std::uint64_t below = edge - static_cast<std::uint64_t>(size);
    if (order == SegmentOrder::descending) return edge = below;
    return std::exchange(edge, edge + static_cast<std::uint64_t>(size));
  }
};

/// What is free of one size and stream.
struct Pool {
  FreeSet free{};
  std::vector<Index> unmapped{};  ///< Of expandable segments, by address.
};

struct Machine {
  AllocatorSettings settings{};
  Device device{};
  std::optional<std::int64_t> allowed{};  ///< By the memory fraction.
  Blocks blocks{};
  std::vector<Pool> pools = std::vector<Pool>(2);  ///< Large and small of one stream, then of the next.
  std::uint64_t searches = 0;  ///< For large blocks, of all streams; only counted where garbage is collected.
  AllocatorStatistics statistics{};
  std::int64_t watched = 0;  ///< The total of a larger card that all was the same on so far; 0: none.
  std::int64_t parts_from =
      std::numeric_limits<std::int64_t>::max();  ///< The least that was not, while it was watched.
  std::shared_ptr<Machine> kept{};    ///< As it was before the request at hand, where the device is short of it.
  std::shared_ptr<Machine> larger{};  ///< As it was before the request that only that card has memory for.

  Pool& pool(PoolKey key) { return pools[key.number()]; }
  Pool& pool_of(Index block) { return pool(blocks[block].pool()); }
  void make_pools(std::uint8_t stream) { pools.resize(std::max(pools.size(), 2 * (std::size_t{stream} + 1))); }
  std::int64_t page(bool small) const { return small ? small_segment : settings.large_segment.count(); }
  bool collects_garbage() const { return allowed && settings.garbage_collection_threshold > 0; }
};

// Blocks and the free set (state.cpp). A free block is in its pool's set, an unmapped one in its pool's list.

inline std::int64_t whole_pages(const Block& b, std::int64_t page) {
  if (b.size < page) return 0;
  const auto begin = static_cast<std::int64_t>(b.address - b.base);
  const std::int64_t first = (begin + page - 1) / page;
  const std::int64_t last = (begin + b.size) / page;
  return std::max<std::int64_t>(last - first, 0) * page;
}

/// What of a free block could not be given back now.
inline std::int64_t stranded(const Machine& m, const Block& b) {
  if (m.settings.expandable_segments) return b.size - whole_pages(b, m.page(b.small));
  return b.split() ? b.size : 0;
}

inline void insert_free(Machine& m, Index block) {
  Block& b = m.blocks[block];
  b.freed_at = m.searches;
  b.stranded = stranded(m, b);
  m.statistics.fragmented += Bytes(b.stranded);
  m.pool(b.pool()).free.insert(m.blocks, block);
}

inline void erase_free(Machine& m, Index block) {
  const Block& b = m.blocks[block];
  m.statistics.fragmented -= Bytes(b.stranded);
  m.pool(b.pool()).free.erase(m.blocks, block);
}

void insert_unmapped(Machine& m, Index block);
void erase_unmapped(Machine& m, Index block);
/// Puts a new block with the first `size` bytes of `block` before it; `block` keeps the rest. Both stay as they were
/// otherwise, and in no set.
Index cut_front(Machine& m, Index block, std::int64_t size);
/// Joins `block` with each neighbour that is as free or as unmapped as it is. `block` itself is in no set.
void merge(Machine& m, Index block);
void add_reserved(Machine& m, std::int64_t size);

// Segments of cudaMalloc (segments.cpp).

/// A whole new segment as one block, or none.
Index new_segment(Machine& m, std::int64_t size, PoolKey of);
/// Of a free block that is all of its segment.
void release_segment(Machine& m, Index block);

// Expandable segments (expandable.cpp).

/// A free block of at least `size`, taken from the set, with memory mapped where it lacked; or none.
Index expand(Machine& m, std::int64_t size, PoolKey of);
/// Gives back the whole pages of a free block.
void unmap(Machine& m, Index block);

/// What the device must have free for the first pages that `size` bytes need and it lacks; 0 where it has all of them.
std::int64_t pages_short(const Machine& m, std::int64_t size, PoolKey of);

/// The address space that an expandable segment has: more than the card.
std::int64_t range_size(const Machine& m, std::int64_t page);

// Beside a larger card (larger.cpp).

/// Before the first of the tries for `size`.
void keep_where_short(Machine& m, std::int64_t size, PoolKey of);
/// Before each: where the watched card has memory for it and this one has not, they part, and what was kept is that
/// card's.
void part_from_larger(Machine& m, std::int64_t size, PoolKey of);

// A state that is there already (held.cpp).

/// False, with nothing changed, where it does not fit the card or the settings. `live` gets the blocks by slot.
bool hold(Machine& m, const std::vector<HeldSegment>& segments, std::vector<Index>& live);

/// What it would be given to begin with this state, by address.
std::vector<HeldSegment> held(const Machine& m, const std::vector<Index>& live);

// Giving back (release.cpp).

/// The one free segment of cudaMalloc there; false where there is none.
bool release_one(Machine& m, std::uint64_t address, std::int64_t size);

/// With max_split_size: enough oversize blocks for a request of `size`. False where there are not enough.
bool release_some(Machine& m, std::int64_t size, PoolKey of);
void release_all(Machine& m);
void collect_garbage(Machine& m);

// Requests (request.cpp).

/// A block of the stream for as many of `left` (> 0) tensors of `size` (> 0) bytes as come to lie side by side,
/// allocated, and `left` without these; or none where the card has no more.
Index request(Machine& m, std::int64_t size, std::uint8_t stream, std::int64_t& left);
void give_back(Machine& m, Index block);

/// PyTorch's text for a request of `size` that failed (message.cpp).
std::string out_of_memory_message(const Machine& m, std::int64_t size);

}  // namespace oomplan::allocator
