#include "verify.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_map>
#include <utility>

namespace oomplan::measure {
namespace {

constexpr int part_bits = 8;
constexpr std::int64_t bytes_of_first = 96;  // in the map, with what malloc adds

struct ByLow {
  std::size_t operator()(const Hash& hash) const { return hash.low; }
};

}  // namespace

Verify::Verify(const Room& room, std::string tmp, RowSet& duplicates)
    : room_(room), duplicates_(duplicates), file_(std::move(tmp)), parts_(1 << part_bits) {}

Result<bool> Verify::add(Hash hash, std::int64_t row, std::string_view canonical) {
  Part& part = parts_[hash.high >> (64 - part_bits)];
  const Record record{hash, row, static_cast<std::size_t>(part.bytes.size()), canonical.size()};
  const Result<bool> added = part.bytes.add(canonical, file_);
  return added ? part.records.add(record, file_) : added;
}

Result<bool> Verify::finish() {
  for (Part& part : parts_) {
    here_.clear();
    if (part.bytes.size() <= room_.table / 2) {
      here_.resize(static_cast<std::size_t>(part.bytes.size()));
      if (Result<bool> read = part.bytes.read(file_, 0, here_); !read) return read;
    }
    if (Result<bool> compared = compare(part); !compared) return compared;
    part = {};
  }
  return true;
}

Result<bool> Verify::compare(Part& part) {
  std::unordered_multimap<Hash, Record, ByLow> firsts;
  return part.records.drain(file_, [&](std::span<const Record> records) -> Result<bool> {
    for (const Record& record : records) {
      const auto [begin, end] = firsts.equal_range(record.hash);
      bool known = false;
      for (auto first = begin; first != end && !known; ++first) {
        const Result<bool> same = equal(part, first->second, record);
        if (!same) return same;
        known = *same;
      }
      if (known) continue;
      if (duplicates_.contains(record.row)) ++restored_;
      duplicates_.erase(record.row);
      firsts.emplace(record.hash, record);
    }
    const std::int64_t bytes = static_cast<std::int64_t>(firsts.size()) * bytes_of_first;
    if (bytes <= room_.table / 2) return true;
    return over_budget({}, "the list of rows that have duplicates", 2 * bytes, room_.table / 2);
  });
}

Result<bool> Verify::equal(const Part& part, const Record& a, const Record& b) {
  if (a.length != b.length) return false;
  if (!here_.empty()) return std::memcmp(here_.data() + a.begin, here_.data() + b.begin, a.length) == 0;
  std::array<char, 16384> ours{};  // piece by piece: a row may be as long as the budget lets one be
  std::array<char, 16384> theirs{};
  for (std::size_t at = 0; at < a.length;) {
    const std::size_t count = std::min(ours.size(), a.length - at);
    if (Result<bool> read = part.bytes.read(file_, a.begin + at, std::span(ours).first(count)); !read) return read;
    if (Result<bool> read = part.bytes.read(file_, b.begin + at, std::span(theirs).first(count)); !read) return read;
    if (std::memcmp(ours.data(), theirs.data(), count) != 0) return false;
    at += count;
  }
  return true;
}

}  // namespace oomplan::measure
