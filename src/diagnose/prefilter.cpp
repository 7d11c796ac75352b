#include "prefilter.hpp"

#include <algorithm>
#include <cstring>

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
    entries_.push_back({key, index, static_cast<std::uint32_t>(i)});
    bits_[slot(key) / 64] |= std::uint64_t{1} << (slot(key) % 64);
  }
}

void Prefilter::finish() {
  std::stable_sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.key < b.key; });
}

void Prefilter::check(std::string_view text, std::size_t at, std::uint32_t key, std::vector<Hit>& hits) const {
  auto entry = std::lower_bound(entries_.begin(), entries_.end(), key,
                                [](const Entry& e, std::uint32_t k) { return e.key < k; });
  for (; entry != entries_.end() && entry->key == key; ++entry) {
    const Literal& literal = literals_[entry->literal];
    if (at < entry->offset) continue;
    const std::size_t begin = at - entry->offset;
    if (text.substr(begin, literal.text.size()) == literal.text) hits.push_back({begin, literal.id});
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
