// What the allocator holds at one moment of a trace: segments, and the blocks that are in use in them. Moves backwards.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "oomplan/estimate/allocator.hpp"

namespace oomplan::recording {

/// Every change returns false, with nothing changed, where what is there contradicts it.
class Space {
 public:
  explicit Space(const AllocatorSettings& settings) : settings_(settings) {}

  struct Stretch {
    std::int64_t size = 0;
    bool small = false;
    bool expandable = false;
  };

  /// Of the end: a segment, and what is in use in it.
  bool add_segment(std::int64_t address, const Stretch& stretch);
  bool add_block(std::int64_t address, std::int64_t size);

  bool undo_allocate(std::int64_t address);
  bool undo_free(std::int64_t address, std::int64_t asked);
  bool undo_segment_alloc(std::int64_t address, std::int64_t size);
  bool undo_segment_free(std::int64_t address, std::int64_t size);
  bool undo_map(std::int64_t address, std::int64_t size);
  bool undo_unmap(std::int64_t address, std::int64_t size);

  /// All of it, in the order of addresses; each block in use gets the slot that `slot_of` has for its address.
  template <class SlotOf>
  std::vector<HeldSegment> segments(const SlotOf& slot_of) const;

 private:
  struct Used {
    std::int64_t size = 0;
    bool guessed = false;
  };
  using Stretches = std::map<std::int64_t, Stretch>;
  using Blocks = std::map<std::int64_t, Used>;

  Stretches::iterator stretch_at(std::int64_t address);
  bool is_free(std::int64_t address, std::int64_t size) const;
  bool is_clear(std::int64_t address, std::int64_t size) const;
  std::int64_t size_between(std::int64_t asked, std::int64_t room, const Stretch& in) const;
  void grow_before(std::int64_t address, const Stretches::iterator& in);
  bool is_small(std::int64_t address, std::int64_t size) const;
  void join(Stretches::iterator at);

  const AllocatorSettings& settings_;
  Stretches stretches_{};
  Blocks used_{};
};

template <class SlotOf>
std::vector<HeldSegment> Space::segments(const SlotOf& slot_of) const {
  std::vector<HeldSegment> out;
  auto block = used_.begin();
  for (const auto& [address, stretch] : stretches_) {
    HeldSegment& segment = out.emplace_back();
    segment = {static_cast<std::uint64_t>(address), stretch.size, stretch.small, stretch.expandable, {}};
    std::int64_t at = address;
    for (; block != used_.end() && block->first < address + stretch.size; ++block) {
      if (block->first > at) segment.pieces.push_back({block->first - at, HeldSegment::free});
      segment.pieces.push_back({block->second.size, slot_of(block->first)});
      at = block->first + block->second.size;
    }
    if (at < address + stretch.size) segment.pieces.push_back({address + stretch.size - at, HeldSegment::free});
  }
  return out;
}

}  // namespace oomplan::recording
