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
  longest_ = std::max(longest_, literal.size());
  const auto [known, is_new] = known_.try_emplace(std::string(literal), literals_.size());
  if (is_new) literals_.push_back({std::string(literal), {}});
  literals_[known->second].ids.push_back(id);
}

// What four bytes of a literal cost as a key: places that have them are looked at in full, which in what a log is full
// of is each of its lines.
int Prefilter::cost_at(std::string_view literal, std::size_t offset, const Noise& noise) const {
  constexpr int of_noise = 100'000;
  const char* at = literal.data() + offset;
  const bool is_short = offset + sizeof(std::uint64_t) > literal.size();
  const bool noisy = is_short ? noise.keys.contains(key_at(at)) : noise.longs.contains(long_of(at));
  return commonness(literal.substr(offset, gram)) + shared_[slot_of(bit_of(key_at(at)))] + (noisy ? of_noise : 0);
}

// Where the window begins that costs the least.
std::size_t Prefilter::best_window(std::string_view literal, const Noise& noise) const {
  const std::size_t window = stride_ + gram - 1;
  const std::size_t seen = literal.size() >= window + gram ? window + gram : window;
  std::vector<int> costs(literal.size() - gram + 1);
  for (std::size_t i = 0; i < costs.size(); ++i) costs[i] = cost_at(literal, i, noise);
  std::size_t best = 0;
  int least = std::numeric_limits<int>::max();
  for (std::size_t begin = 0; begin + seen <= literal.size(); ++begin) {
    const auto first = costs.begin() + static_cast<std::ptrdiff_t>(begin);
    const int cost = std::accumulate(first, first + static_cast<std::ptrdiff_t>(stride_), 0);
    if (cost < least) {
      least = cost;
      best = begin;
    }
  }
  return best;
}

Prefilter::Tables Prefilter::tables_for(const Noise& noise) const {
  Tables out;
  for (std::uint32_t index = 0; index < literals_.size(); ++index)
    enter(index, best_window(literals_[index].text, noise), noise, out.entries);
  std::stable_sort(out.entries.begin(), out.entries.end(),
                   [](const Entry& a, const Entry& b) { return slot_of(a.bit) < slot_of(b.bit); });
  out.begins.assign((std::size_t{1} << slot_width) + 1, 0);
  for (const Entry& entry : out.entries) ++out.begins[slot_of(entry.bit) + 1];
  std::partial_sum(out.begins.begin(), out.begins.end(), out.begins.begin());
  out.live_ends.assign(out.begins.begin(), out.begins.end() - 1);
  out.short_ends = out.live_ends;
  return out;
}

void Prefilter::finish() {
  known_.clear();
  shared_.assign(std::size_t{1} << slot_width, 0);
  for (const Literal& literal : literals_)
    for (std::size_t i = 0; i + gram <= literal.text.size(); ++i)
      ++shared_[slot_of(bit_of(key_at(literal.text.data() + i)))];
  tables_ = tables_for({});
  set_bits(std::vector<bool>(literals_.size()), tables_);
}

std::uint32_t Prefilter::long_of(const char* text) {
  std::uint64_t word = 0;
  std::memcpy(&word, text, sizeof word);
  return static_cast<std::uint32_t>((word * 0x9E3779B97F4A7C15U) >> (64 - slot_width));
}

// Where eight bytes begin that tell a literal from what the log is full of: at `near`, or else the first that do.
std::size_t Prefilter::word_beside(std::string_view literal, std::size_t near, const Noise& noise) {
  const auto tells = [&](std::size_t at) { return !noise.longs.contains(long_of(literal.data() + at)); };
  if (literal.size() < sizeof(std::uint64_t) || tells(near)) return near;
  for (std::size_t at = 0; at + sizeof(std::uint64_t) <= literal.size(); ++at)
    if (tells(at)) return at;
  return near;
}

void Prefilter::enter(std::uint32_t literal, std::size_t begin, const Noise& noise, std::vector<Entry>& entries) const {
  const std::string_view text = literals_[literal].text;
  for (std::size_t i = begin; i < begin + stride_; ++i) {
    const std::uint32_t bit = bit_of(key_at(text.data() + i));
    Entry entry{bit, literal, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(text.size())};
    const std::size_t bytes = std::min(text.size(), sizeof entry.word);
    const std::size_t last = text.size() - bytes;
    entry.word_offset = static_cast<std::uint32_t>(word_beside(text, std::min(i > 2 ? i - 2 : 0, last), noise));
    std::memcpy(&entry.word, text.data() + entry.word_offset, bytes);
    std::memset(&entry.mask, 0xFF, bytes);
    entry.is_short = i + sizeof entry.word > text.size();
    if (!entry.is_short) entry.longs = long_of(text.data() + i);
    entries.push_back(entry);
  }
}

void Prefilter::set_bits(const std::vector<bool>& muted, Tables& tables) {
  Bits& bits = tables.bits;
  bits = {};
  const auto set = [](auto& table, std::uint32_t bit) { table[bit / 64] |= std::uint64_t{1} << (bit % 64); };
  for (auto begin = tables.entries.begin(); begin != tables.entries.end();) {
    const std::uint32_t slot = slot_of(begin->bit);
    const auto end = tables.entries.begin() + tables.begins[slot + 1];
    const auto live_end = std::stable_partition(begin, end, [&](const Entry& entry) { return !muted[entry.literal]; });
    const auto short_end = std::stable_partition(begin, live_end, [](const Entry& entry) { return entry.is_short; });
    tables.live_ends[slot] = static_cast<std::uint32_t>(live_end - tables.entries.begin());
    tables.short_ends[slot] = static_cast<std::uint32_t>(short_end - tables.entries.begin());
    for (auto entry = begin; entry != live_end; ++entry) {
      set(bits.keys, entry->bit);
      if (entry->is_short) set(bits.shorts, entry->bit);
      if (!entry->is_short) set(bits.longs, entry->longs);
    }
    begin = end;
  }
}

void Prefilter::tell(std::size_t at, std::uint32_t literal, std::vector<Hit>& hits) const {
  for (const std::uint32_t id : literals_[literal].ids) hits.push_back({at, id, literal});
}

void Prefilter::check(std::string_view text, std::size_t at, std::span<const Entry> entries,
                      std::vector<Hit>& hits) const {
  // Far enough from both ends any literal has room.
  const bool inside = at >= longest_ && text.size() - at >= longest_;
  for (const Entry& entry : entries) {
    if (!inside && (at < entry.offset || text.size() - (at - entry.offset) < entry.size)) continue;
    const std::size_t begin = at - entry.offset;
    const std::size_t from = begin + entry.word_offset;
    std::uint64_t here = 0;
    if (inside || text.size() - from >= sizeof here) [[likely]] {
      std::memcpy(&here, text.data() + from, sizeof here);
    } else {
      std::memcpy(&here, text.data() + from, text.size() - from);
    }
    if (((here ^ entry.word) & entry.mask) != 0) continue;
    if (text.substr(begin, entry.size) == literals_[entry.literal].text) tell(begin, entry.literal, hits);
  }
}

std::size_t Prefilter::find(std::string_view text, std::size_t from, const Tables& tables,
                            std::vector<Hit>& hits) const {
  hits.clear();
  const Bits& bits = tables.bits;
  const std::size_t end = text.size() < gram ? 0 : text.size() - gram + 1;
  const char* data = text.data();
  const std::size_t stride = stride_;
  const auto has = [](const auto& table, std::uint32_t place) { return (table[place / 64] >> (place % 64) & 1U) != 0; };
  for (std::size_t at = from; at < end; at += stride) {
    const std::uint32_t bit = bit_of(key_at(data + at));
    if (!has(bits.keys, bit)) [[likely]]
      continue;
    const bool is_short = has(bits.shorts, bit);
    const bool is_long = at + sizeof(std::uint64_t) <= text.size() && has(bits.longs, long_of(data + at));
    if (!is_short && !is_long) continue;
    const std::uint32_t slot = slot_of(bit);
    const std::uint32_t begin = is_short ? tables.begins[slot] : tables.short_ends[slot];
    const std::uint32_t stop = is_long ? tables.live_ends[slot] : tables.short_ends[slot];
    check(text, at, std::span(tables.entries).subspan(begin, stop - begin), hits);
    if (!hits.empty()) return at + stride;
  }
  return text.size();
}

std::size_t Prefilter::find(std::string_view text, std::size_t from, const Muted& muted, std::vector<Hit>& hits) const {
  return find(text, from, muted.tables(), hits);
}

void Prefilter::Muted::learn(std::string_view line) {
  if (learned_ == most_learned) return;
  ++learned_;
  constexpr std::size_t longest = 1024;
  line = line.substr(0, longest);
  for (std::size_t i = 0; i + gram <= line.size(); ++i) noise_.keys.insert(key_at(line.data() + i));
  for (std::size_t i = 0; i + sizeof(std::uint64_t) <= line.size(); ++i) noise_.longs.insert(long_of(line.data() + i));
  own_ = filter_.tables_for(noise_);
  set_bits(muted_, *own_);
}

void Prefilter::find_last(std::string_view text, std::size_t from, std::uint32_t literal,
                          std::vector<Hit>& hits) const {
  hits.clear();
  from = std::min(from, text.size());
  const std::size_t at = text.substr(from).rfind(literals_[literal].text);
  if (at != std::string_view::npos) tell(from + at, literal, hits);
}

}  // namespace oomplan::diagnose
