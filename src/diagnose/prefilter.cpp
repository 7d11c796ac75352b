#include "prefilter.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace oomplan::diagnose {
namespace {

std::uint32_t key_at(const char* text) {
  std::uint32_t key = 0;
  std::memcpy(&key, text, sizeof key);
  return key;
}

// What a log is full of makes a poor key.
int commonness(std::string_view gram) {
  int out = 0;
  for (const char c : gram) {
    if (c == ' ' || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == ':') out += 3;
    if (std::string_view("etaoinsrl").find(c) != std::string_view::npos) out += 1;
  }
  return out;
}

}  // namespace

void Prefilter::add(std::string_view literal, std::uint32_t id) {
  const std::size_t window = stride_ + gram - 1;
  std::size_t best = 0;
  int least = 1 << 20;
  for (std::size_t begin = 0; begin + window <= literal.size(); ++begin) {
    int common = 0;
    for (std::size_t i = begin; i < begin + stride_; ++i) common += commonness(literal.substr(i, gram));
    if (common < least) {
      least = common;
      best = begin;
    }
  }
  const auto index = static_cast<std::uint32_t>(literals_.size());
  literals_.push_back({std::string(literal), id});
  for (std::size_t i = best; i < best + stride_; ++i) {
    const std::uint32_t key = key_at(literal.data() + i);
    entries_.push_back(
        {key, index, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(literal.size()), literal.back()});
    bits_[slot(key) / 64] |= std::uint64_t{1} << (slot(key) % 64);
  }
}

void Prefilter::finish() {
  std::stable_sort(entries_.begin(), entries_.end(),
                   [](const Entry& a, const Entry& b) { return slot(a.key) < slot(b.key); });
  begins_.assign(slots + 1, 0);
  for (const Entry& entry : entries_) ++begins_[slot(entry.key) + 1];
  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
}

void Prefilter::check(std::string_view text, std::size_t at, std::uint32_t key, std::vector<Hit>& hits) const {
  const std::uint32_t here = slot(key);
  for (std::uint32_t i = begins_[here]; i < begins_[here + 1]; ++i) {
    const Entry& entry = entries_[i];
    if (entry.key != key || at < entry.offset) continue;
    const std::size_t begin = at - entry.offset;
    if (text.size() - begin < entry.size || text[begin + entry.size - 1] != entry.last) continue;
    const Literal& literal = literals_[entry.literal];
    if (text.substr(begin, entry.size) == literal.text) hits.push_back({begin, literal.id});
  }
}

std::size_t Prefilter::find(std::string_view text, std::size_t from, std::vector<Hit>& hits) const {
  hits.clear();
  const std::size_t end = text.size() < gram ? 0 : text.size() - gram + 1;
  const char* data = text.data();
  const std::size_t stride = stride_;
  for (std::size_t at = from; at < end; at += stride) {
    const std::uint32_t key = key_at(data + at);
    const std::uint32_t bit = slot(key);
    if ((bits_[bit / 64] >> (bit % 64) & 1U) == 0) [[likely]]
      continue;
    check(text, at, key, hits);
    if (!hits.empty()) return at + stride;
  }
  return text.size();
}

}  // namespace oomplan::diagnose
