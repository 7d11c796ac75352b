// A state that is there before the first event: segments with what they hold, as a memory snapshot has them.
#include <algorithm>
#include <map>
#include <set>

#include "state.hpp"

namespace oomplan::allocator {
namespace {

/// The blocks of one address range, from its beginning on.
class Chain {
 public:
  Chain(Machine& m, const HeldSegment& first) : m_(m), base_(first.address), end_(first.address), small_(first.small) {}

  std::uint64_t base() const { return base_; }
  std::uint64_t end() const { return end_; }

  Index add(std::int64_t size, bool allocated, bool mapped) {
    const bool joins = last_ != none && !allocated && !m_.blocks[last_].allocated && m_.blocks[last_].mapped == mapped;
    if (joins) {
      m_.blocks[last_].size += size;
    } else {
      Block block{.address = end_, .size = size, .base = base_, .previous = last_, .small = small_};
      block.allocated = allocated;
      block.mapped = mapped;
      const Index made = m_.blocks.add(block);
      if (last_ != none) m_.blocks[last_].next = made;
      if (first_ == none) first_ = made;
      last_ = made;
    }
    end_ += static_cast<std::uint64_t>(size);
    return last_;
  }

  /// What a free block's release could return depends on its neighbours, so the sets come last.
  void settle() {
    for (Index block = first_; block != none; block = m_.blocks[block].next) {
      if (m_.blocks[block].allocated) continue;
      m_.blocks[block].mapped ? insert_free(m_, block) : insert_unmapped(m_, block);
    }
    ++m_.statistics.segments;
  }

 private:
  Machine& m_;
  std::uint64_t base_;
  std::uint64_t end_;
  bool small_;
  Index first_ = none;
  Index last_ = none;
};

void add_pieces(Machine& m, const HeldSegment& segment, Chain& chain, std::vector<Index>& live) {
  for (const HeldSegment::Piece& piece : segment.pieces) {
    const bool allocated = piece.slot != HeldSegment::free;
    const Index block = chain.add(piece.size, allocated, true);
    if (!allocated) continue;
    if (piece.slot >= live.size())
      live.resize(std::max<std::size_t>(piece.slot + std::size_t{1}, 2 * live.size()), none);
    live[piece.slot] = block;
    m.statistics.allocated += Bytes(piece.size);
  }
  m.statistics.reserved += Bytes(segment.size);
}

void close_range(Machine& m, Chain& chain, std::int64_t page) {
  const auto used = static_cast<std::int64_t>(chain.end() - chain.base());
  if (used < range_size(m, page)) chain.add(range_size(m, page) - used, false, false);
  chain.settle();
}

/// Mapped stretches of one range of addresses, with what is not mapped between and behind them.
void hold_ranges(Machine& m, const std::vector<HeldSegment>& segments, bool small, std::vector<Index>& live) {
  std::optional<Chain> chain;
  for (const HeldSegment& segment : segments) {
    if (segment.small != small) continue;
    const bool beyond =
        chain && segment.address - chain->base() >= static_cast<std::uint64_t>(range_size(m, m.page(small)));
    if (beyond) close_range(m, *chain, m.page(small));
    if (!chain || beyond) chain.emplace(m, segment);
    if (segment.address > chain->end())
      chain->add(static_cast<std::int64_t>(segment.address - chain->end()), false, false);
    add_pieces(m, segment, *chain, live);
  }
  if (chain) close_range(m, *chain, m.page(small));
}

/// New segments lie beyond all that are there.
void place_beyond(Device& device, const std::vector<HeldSegment>& segments) {
  for (const HeldSegment& segment : segments) {
    const std::uint64_t end = segment.address + static_cast<std::uint64_t>(rounded_up(segment.size, physical_page));
    const bool first = &segment == &segments.front();
    const bool ascending = device.order == SegmentOrder::ascending;
    const std::uint64_t edge = ascending ? end : segment.address;
    device.edge = first ? edge : ascending ? std::max(device.edge, edge) : std::min(device.edge, edge);
  }
}

/// The first of the blocks that are mapped without a gap up to `block`.
Index first_mapped(const Machine& m, Index block) {
  const auto before = [&](Index at) { return m.blocks[at].previous; };
  while (before(block) != none && m.blocks[before(block)].mapped) block = before(block);
  return block;
}

/// The stretch of mapped blocks from `first` on.
HeldSegment stretch_from(const Machine& m, Index first, const std::map<Index, std::uint32_t>& slots) {
  const Block& begin = m.blocks[first];
  HeldSegment out{.address = begin.address,
                  .small = begin.small,
                  .expandable = m.settings.expandable_segments,
                  .stream = begin.stream};
  for (Index at = first; at != none && m.blocks[at].mapped; at = m.blocks[at].next) {
    const auto slot = slots.find(at);
    out.pieces.push_back({m.blocks[at].size, slot == slots.end() ? HeldSegment::free : slot->second});
    out.size += m.blocks[at].size;
  }
  return out;
}

std::int64_t taken_by(const HeldSegment& segment) { return rounded_up(segment.size, physical_page); }

}  // namespace

bool hold(Machine& m, const std::vector<HeldSegment>& segments, std::vector<Index>& live) {
  std::int64_t taken = 0;
  for (const HeldSegment& segment : segments) {
    taken = saturating_add(taken, taken_by(segment));
    if (segment.expandable != m.settings.expandable_segments) return false;
  }
  if (taken > m.device.free()) return false;
  m.device.take(taken);
  place_beyond(m.device, segments);
  if (m.settings.expandable_segments) {
    for (const bool small : {false, true}) hold_ranges(m, segments, small, live);
  } else {
    for (const HeldSegment& segment : segments) {
      Chain chain(m, segment);
      add_pieces(m, segment, chain, live);
      chain.settle();
    }
  }
  AllocatorStatistics& s = m.statistics;
  s.peak_allocated = s.allocated;
  s.peak_reserved = s.reserved;
  s.peak_fragmented = s.fragmented;
  s.peak_segments = s.segments;
  return true;
}

std::vector<HeldSegment> held(const Machine& m, const std::vector<Index>& live) {
  std::map<Index, std::uint32_t> slots;
  std::set<Index> first;
  for (std::uint32_t slot = 0; slot < live.size(); ++slot) {
    if (live[slot] == none) continue;
    slots.emplace(live[slot], slot);
    first.insert(first_mapped(m, live[slot]));
  }
  for (const Pool& pool : m.pools) {
    for (const Index block : pool.free.list(m.blocks)) first.insert(first_mapped(m, block));
  }
  std::vector<HeldSegment> out;
  for (const Index block : first) out.push_back(stretch_from(m, block, slots));
  std::ranges::sort(out, {}, &HeldSegment::address);
  return out;
}

}  // namespace oomplan::allocator
