#include "free_set.hpp"

namespace oomplan::allocator {

void FreeSet::make_index(const Blocks& blocks, std::size_t bin) {
  std::map<Key, Index>& index = indices_[bin];
  for (Index at = bins_[bin].first; at != none; at = blocks[at].higher) {
    index.emplace_hint(index.end(), Key{blocks[at].size, blocks[at].address}, at);
  }
  bins_[bin].indexed = true;
  bins_[bin].walked = 0;
}

void FreeSet::insert_indexed(Blocks& blocks, Index block) {
  const Block& b = blocks[block];
  link(blocks, bins_[b.bin], block, below(blocks, b.bin, {b.size, b.address}));
  indices_.at(b.bin).emplace(Key{b.size, b.address}, block);
}

void FreeSet::erase_indexed(const Blocks& blocks, Index block) {
  const Block& b = blocks[block];
  const auto index = indices_.find(b.bin);
  index->second.erase(Key{b.size, b.address});
  if (bins_[b.bin].count > longest_walk / 2) return;
  bins_[b.bin].indexed = false;
  indices_.erase(index);
}

Index FreeSet::below(const Blocks& blocks, std::size_t bin, const Key& key) const {
  if (!bins_[bin].indexed) return walk_below(blocks, bins_[bin], key);
  const std::map<Key, Index>& index = indices_.at(bin);
  const auto found = index.lower_bound(key);
  return found == index.begin() ? none : std::prev(found)->second;
}

Index FreeSet::at(const Blocks& blocks, std::int64_t size, std::uint64_t address) const {
  const std::size_t number = size < 0 ? bins : bin_of(size);
  if (number >= bins || !is_filled(number)) return none;
  const Index lower = below(blocks, number, {size, address});
  const Index found = lower == none ? bins_[number].first : blocks[lower].higher;
  return found != none && blocks[found].size == size && blocks[found].address == address ? found : none;
}

std::vector<Index> FreeSet::list(const Blocks& blocks, std::int64_t size) const {
  std::vector<Index> out;
  for (Index at = at_least(blocks, size); at != none; at = after(blocks, at)) out.push_back(at);
  return out;
}

void FreeSet::clear() {
  for (std::size_t i = 0; i < bins; ++i) {
    if (is_filled(i)) bins_[i] = {};
  }
  filled_ = {};
  indices_.clear();
}

}  // namespace oomplan::allocator
