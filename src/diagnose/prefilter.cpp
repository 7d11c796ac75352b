#include "prefilter.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
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
  const auto [known, is_new] = known_.try_emplace(std::string(literal), literals_.size());
  if (is_new) literals_.push_back({std::string(literal), {}});
  literals_[known->second].ids.push_back(id);
}

void Prefilter::finish() {
  known_.clear();
  std::vector<int> shared(std::size_t{1} << slot_width);
  const auto slot_at = [](std::string_view text, std::size_t i) { return slot_of(bit_of(key_at(text.data() + i))); };
  for (const Literal& literal : literals_)
    for (std::size_t i = 0; i + gram <= literal.text.size(); ++i) ++shared[slot_at(literal.text, i)];
  const std::size_t window = stride_ + gram - 1;
  for (std::uint32_t index = 0; index < literals_.size(); ++index) {
    const std::string_view text = literals_[index].text;
    std::size_t best = 0;
    int least = std::numeric_limits<int>::max();
    const std::size_t seen = text.size() >= window + gram ? window + gram : window;
    for (std::size_t begin = 0; begin + seen <= text.size(); ++begin) {
      int common = 0;
      for (std::size_t i = begin; i < begin + stride_; ++i)
        common += commonness(text.substr(i, gram)) + shared[slot_at(text, i)];
      if (common < least) {
        least = common;
        best = begin;
      }
    }
    enter(index, best);
  }
  std::stable_sort(entries_.begin(), entries_.end(),
                   [](const Entry& a, const Entry& b) { return slot_of(a.bit) < slot_of(b.bit); });
  set_bits(std::vector<bool>(literals_.size()), bits_);
  begins_.assign((std::size_t{1} << slot_width) + 1, 0);
  for (const Entry& entry : entries_) ++begins_[slot_of(entry.bit) + 1];
  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
}

std::uint32_t Prefilter::long_of(const char* text) {
  std::uint64_t word = 0;
  std::memcpy(&word, text, sizeof word);
  return static_cast<std::uint32_t>((word * 0x9E3779B97F4A7C15U) >> (64 - slot_width));
}

void Prefilter::enter(std::uint32_t literal, std::size_t begin) {
  const std::string_view text = literals_[literal].text;
  for (std::size_t i = begin; i < begin + stride_; ++i) {
    const std::uint32_t bit = bit_of(key_at(text.data() + i));
    Entry entry{bit, literal, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(text.size())};
    const std::size_t bytes = std::min(text.size(), sizeof entry.word);
    const std::size_t last = text.size() - bytes;
    entry.word_offset = static_cast<std::uint32_t>(std::min(i > 2 ? i - 2 : 0, last));
    std::memcpy(&entry.word, text.data() + entry.word_offset, bytes);
    std::memset(&entry.mask, 0xFF, bytes);
    entry.is_short = i + sizeof entry.word > text.size();
    if (!entry.is_short) entry.longs = long_of(text.data() + i);
    entries_.push_back(entry);
  }
}

void Prefilter::set_bits(const std::vector<bool>& muted, Bits& bits) const {
  bits = {};
  const auto set = [](auto& table, std::uint32_t bit) { table[bit / 64] |= std::uint64_t{1} << (bit % 64); };
  for (const Entry& entry : entries_) {
    if (muted[entry.literal]) continue;
    set(bits.keys, entry.bit);
    if (entry.is_short) set(bits.shorts, entry.bit);
    if (!entry.is_short) set(bits.longs, entry.longs);
  }
}

void Prefilter::tell(std::size_t at, std::uint32_t literal, std::vector<Hit>& hits) const {
  for (const std::uint32_t id : literals_[literal].ids) hits.push_back({at, id, literal});
}

void Prefilter::check(std::string_view text, std::size_t at, std::uint32_t bit, const std::vector<bool>& muted,
                      std::vector<Hit>& hits) const {
  const std::uint32_t slot = slot_of(bit);
  for (std::uint32_t i = begins_[slot]; i < begins_[slot + 1]; ++i) {
    const Entry& entry = entries_[i];
    if (at < entry.offset || text.size() - (at - entry.offset) < entry.size) continue;
    const std::size_t begin = at - entry.offset;
    const std::size_t from = begin + entry.word_offset;
    std::uint64_t here = 0;
    if (text.size() - from >= sizeof here) [[likely]] {
      std::memcpy(&here, text.data() + from, sizeof here);
    } else {
      std::memcpy(&here, text.data() + from, text.size() - from);
    }
    if (((here ^ entry.word) & entry.mask) != 0) continue;
    const bool passed_over = !muted.empty() && muted[entry.literal];
    if (!passed_over && text.substr(begin, entry.size) == literals_[entry.literal].text)
      tell(begin, entry.literal, hits);
  }
}

std::size_t Prefilter::find(std::string_view text, std::size_t from, const Bits& bits, const std::vector<bool>& muted,
                            std::vector<Hit>& hits) const {
  hits.clear();
  const std::size_t end = text.size() < gram ? 0 : text.size() - gram + 1;
  const char* data = text.data();
  const std::size_t stride = stride_;
  const auto has = [](const auto& table, std::uint32_t place) { return (table[place / 64] >> (place % 64) & 1U) != 0; };
  for (std::size_t at = from; at < end; at += stride) {
    const std::uint32_t bit = bit_of(key_at(data + at));
    if (!has(bits.keys, bit)) [[likely]]
      continue;
    if (!has(bits.shorts, bit) && (at + sizeof(std::uint64_t) > text.size() || !has(bits.longs, long_of(data + at))))
      continue;
    check(text, at, bit, muted, hits);
    if (!hits.empty()) return at + stride;
  }
  return text.size();
}

std::size_t Prefilter::find(std::string_view text, std::size_t from, const Muted& muted, std::vector<Hit>& hits) const {
  return find(text, from, muted.bits_, muted.muted_, hits);
}

void Prefilter::find_last(std::string_view text, std::size_t from, std::uint32_t literal,
                          std::vector<Hit>& hits) const {
  hits.clear();
  from = std::min(from, text.size());
  const std::size_t at = text.substr(from).rfind(literals_[literal].text);
  if (at != std::string_view::npos) tell(from + at, literal, hits);
}

}  // namespace oomplan::diagnose
