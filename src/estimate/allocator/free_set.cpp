#include "free_set.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

namespace oomplan::allocator {
namespace {

constexpr std::size_t chunk_limit = 256;

constexpr std::uint64_t bit(std::size_t bin) { return std::uint64_t{1} << (bin % 64); }

}  // namespace

std::size_t FreeSet::bin_of(std::int64_t size) {
  const std::uint64_t units = static_cast<std::uint64_t>(size) / 512;
  if (units < 16) return units;
  const auto power = static_cast<std::size_t>(std::bit_width(units)) - 1;
  return (power - 3) * 16 + ((units >> (power - 4)) & 15U);
}

/// Behind all that are not lower than `key`.
FreeSet::Cursor FreeSet::behind(const Bin& bin, std::size_t number, const Free& key) {
  std::size_t chunk = bin.size() - 1;
  if (!bin[chunk].empty() && !(bin[chunk].back() < key)) return {number, chunk, bin[chunk].size()};
  if (chunk > 0) {
    const auto found =
        std::partition_point(bin.begin() + 1, bin.end(), [&](const Chunk& c) { return !(c.front() < key); });
    chunk = static_cast<std::size_t>(found - bin.begin()) - 1;
  }
  const Chunk& in = bin[chunk];
  const auto at = std::partition_point(in.begin(), in.end(), [&](const Free& entry) { return !(entry < key); });
  return {number, chunk, static_cast<std::size_t>(at - in.begin())};
}

void FreeSet::insert(const Free& entry) {
  const std::size_t number = bin_of(entry.size);
  Bin& bin = table_[number];
  filled_[number / 64] |= bit(number);
  if (bin.empty()) bin.emplace_back();
  const Cursor place = behind(bin, number, entry);
  Chunk& chunk = bin[place.chunk];
  chunk.insert(chunk.begin() + static_cast<std::ptrdiff_t>(place.at), entry);
  if (chunk.size() <= chunk_limit) return;
  const auto middle = chunk.begin() + chunk_limit / 2;
  Chunk lower(middle, chunk.end());
  chunk.erase(middle, chunk.end());
  bin.insert(bin.begin() + static_cast<std::ptrdiff_t>(place.chunk) + 1, std::move(lower));
}

void FreeSet::erase(const Free& entry) {
  const std::size_t number = bin_of(entry.size);
  Cursor place = behind(table_[number], number, entry);
  --place.at;
  erase(place);
}

void FreeSet::erase(const Cursor& cursor) {
  Bin& bin = table_[cursor.bin];
  Chunk& chunk = bin[cursor.chunk];
  chunk.erase(chunk.begin() + static_cast<std::ptrdiff_t>(cursor.at));
  if (!chunk.empty()) return;
  if (bin.size() > 1) {
    bin.erase(bin.begin() + static_cast<std::ptrdiff_t>(cursor.chunk));
  } else {
    filled_[cursor.bin / 64] &= ~bit(cursor.bin);
  }
}

FreeSet::Cursor FreeSet::lowest(std::size_t bin) const {
  return {bin, table_[bin].size() - 1, table_[bin].back().size() - 1};
}

FreeSet::Cursor FreeSet::lowest_from(std::size_t bin) const {
  for (std::size_t word = bin / 64; word < filled_.size(); ++word, bin = word * 64) {
    const std::uint64_t rest = filled_[word] & (~std::uint64_t{0} << (bin % 64));
    if (rest != 0) return lowest(word * 64 + static_cast<std::size_t>(std::countr_zero(rest)));
  }
  return {};
}

FreeSet::Cursor FreeSet::at_least(std::int64_t size) const {
  const std::size_t number = bin_of(size);
  if ((filled_[number / 64] & bit(number)) != 0) {
    Cursor found = behind(table_[number], number, {size, 0, none});
    if (found.at-- > 0) return found;
  }
  return number + 1 < bins ? lowest_from(number + 1) : Cursor{};
}

FreeSet::Cursor FreeSet::at(const Free& entry) const {
  if (entry.size < 0) return {};
  const std::size_t number = bin_of(entry.size);
  if ((filled_[number / 64] & bit(number)) == 0) return {};
  Cursor found = behind(table_[number], number, entry);
  if (found.at-- == 0) return {};
  const Free& there = (*this)[found];
  return there.size == entry.size && there.address == entry.address ? found : Cursor{};
}

FreeSet::Cursor FreeSet::after(Cursor cursor) const {
  if (cursor.at-- > 0) return cursor;
  if (cursor.chunk-- > 0) return {cursor.bin, cursor.chunk, table_[cursor.bin][cursor.chunk].size() - 1};
  return cursor.bin + 1 < bins ? lowest_from(cursor.bin + 1) : Cursor{};
}

std::vector<Free> FreeSet::list(std::int64_t size) const {
  std::vector<Free> out;
  for (Cursor at = at_least(size); at; at = after(at)) out.push_back((*this)[at]);
  return out;
}

void FreeSet::clear() {
  for (Cursor at = lowest_from(0); at; at = lowest_from(at.bin)) {
    table_[at.bin].resize(1);
    table_[at.bin].front().clear();
    filled_[at.bin / 64] &= ~bit(at.bin);
  }
}

}  // namespace oomplan::allocator
