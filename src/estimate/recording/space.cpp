#include "space.hpp"

#include <algorithm>
#include <iterator>

#include "../allocator/sizes.hpp"

namespace oomplan::recording {
namespace {

// Far below where sums of addresses and sizes could run over, far above any address that a driver gives.
constexpr std::int64_t highest = std::int64_t{1} << 61;

bool is_sound(std::int64_t address, std::int64_t size) {
  return address > 0 && address < highest && size > 0 && size < highest;
}

}  // namespace

Space::Stretches::iterator Space::stretch_at(std::int64_t address) {
  auto found = stretches_.upper_bound(address);
  if (found == stretches_.begin()) return stretches_.end();
  --found;
  return address < found->first + found->second.size ? found : stretches_.end();
}

/// Whether no block in use overlaps.
bool Space::is_free(std::int64_t address, std::int64_t size) const {
  const auto next = used_.lower_bound(address);
  if (next != used_.end() && next->first < address + size) return false;
  if (next == used_.begin()) return true;
  const auto before = std::prev(next);
  return before->first + before->second.size <= address;
}

/// Whether no segment overlaps.
bool Space::is_clear(std::int64_t address, std::int64_t size) const {
  const auto next = stretches_.lower_bound(address);
  if (next != stretches_.end() && next->first < address + size) return false;
  if (next == stretches_.begin()) return true;
  const auto before = std::prev(next);
  return before->first + before->second.size <= address;
}

bool Space::add_segment(std::int64_t address, const Stretch& stretch) {
  if (!is_sound(address, stretch.size) || !is_clear(address, stretch.size)) return false;
  stretches_.emplace(address, stretch);
  if (stretch.expandable) join(stretches_.find(address));
  return true;
}

bool Space::add_block(std::int64_t address, std::int64_t size) {
  if (!is_sound(address, size) || !is_free(address, size)) return false;
  const auto in = stretch_at(address);
  if (in == stretches_.end() || address + size > in->first + in->second.size) return false;
  used_.emplace(address, Used{size, false});
  return true;
}

bool Space::undo_allocate(std::int64_t address) { return used_.erase(address) == 1; }

/// The block that a request of `asked` bytes has where `room` bytes lie before the next one: what is less than is ever
/// cut off belongs to it.
std::int64_t Space::size_between(std::int64_t asked, std::int64_t room, const Stretch& in) const {
  const std::int64_t size = allocator::block_size(asked, settings_);
  if (in.small || in.expandable || size > room) return size;
  const bool whole = settings_.max_split && size >= settings_.max_split->count();
  return whole || room - size <= allocator::largest_small ? room : size;
}

bool Space::undo_free(std::int64_t address, std::int64_t asked) {
  if (!is_sound(address, asked) || !is_free(address, 1)) return false;
  const auto in = stretch_at(address);
  if (in == stretches_.end()) return false;
  const auto next = used_.lower_bound(address);
  std::int64_t end = in->first + in->second.size;
  if (next != used_.end()) end = std::min(end, next->first);
  const std::int64_t size = size_between(asked, end - address, in->second);
  if (size > end - address) return false;
  used_.emplace(address, Used{size, true});
  grow_before(address, in);
  return true;
}

/// A block begins at `address`: the one before it goes up to it where no free block could lie between.
void Space::grow_before(std::int64_t address, const Stretches::iterator& in) {
  const auto at = used_.find(address);
  if (at == used_.begin() || in->second.small || in->second.expandable) return;
  const auto before = std::prev(at);
  const std::int64_t gap = address - before->first - before->second.size;
  const bool beside = before->first >= in->first && before->second.guessed;
  if (beside && gap > 0 && gap <= allocator::largest_small) before->second.size += gap;
}

bool Space::undo_segment_alloc(std::int64_t address, std::int64_t size) {
  const auto found = stretches_.find(address);
  if (found == stretches_.end() || found->second.size != size || !is_free(address, size)) return false;
  stretches_.erase(found);
  return true;
}

bool Space::undo_segment_free(std::int64_t address, std::int64_t size) {
  if (!is_sound(address, size) || !is_clear(address, size)) return false;
  stretches_.emplace(address, Stretch{size, size == allocator::small_segment, false});
  return true;
}

bool Space::undo_map(std::int64_t address, std::int64_t size) {
  if (!is_sound(address, size) || !is_free(address, size)) return false;
  const auto found = stretch_at(address);
  if (found == stretches_.end() || !found->second.expandable) return false;
  const std::int64_t begin = found->first;
  const Stretch whole = found->second;
  const std::int64_t behind = begin + whole.size - (address + size);
  if (behind < 0) return false;
  stretches_.erase(found);
  if (address > begin) stretches_.emplace(begin, Stretch{address - begin, whole.small, true});
  if (behind > 0) stretches_.emplace(address + size, Stretch{behind, whole.small, true});
  return true;
}

bool Space::undo_unmap(std::int64_t address, std::int64_t size) {
  if (!is_sound(address, size) || !is_clear(address, size)) return false;
  join(stretches_.emplace(address, Stretch{size, is_small(address, size), true}).first);
  return true;
}

/// Of which pool pages are that are there no more at the end: of their neighbours', else by their size.
bool Space::is_small(std::int64_t address, std::int64_t size) const {
  const auto next = stretches_.lower_bound(address);
  if (next != stretches_.end() && next->second.expandable && next->first == address + size) return next->second.small;
  if (next != stretches_.begin()) {
    const auto& [begin, before] = *std::prev(next);
    if (before.expandable && begin + before.size == address) return before.small;
  }
  return size % settings_.large_segment.count() != 0;
}

void Space::join(Stretches::iterator at) {
  const auto next = std::next(at);
  const auto meets = [](const auto& a, const auto& b) {
    return a.first + a.second.size == b.first && b.second.expandable && a.second.expandable &&
           a.second.small == b.second.small;
  };
  if (next != stretches_.end() && meets(*at, *next)) {
    at->second.size += next->second.size;
    stretches_.erase(next);
  }
  if (at == stretches_.begin()) return;
  const auto before = std::prev(at);
  if (!meets(*before, *at)) return;
  before->second.size += at->second.size;
  stretches_.erase(at);
}

}  // namespace oomplan::recording
