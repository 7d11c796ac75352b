#include "pickle_builder.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace oomplan::read {
namespace {

constexpr std::uint32_t unset = 0xFFFFFFFFU;
constexpr std::size_t least_rows = 1024;

std::uint32_t mixed(std::uint64_t hash) {
  hash ^= hash >> 32U;
  return static_cast<std::uint32_t>((hash * 0x9E3779B97F4A7C15U) >> 32U);
}

std::uint32_t hash_of(std::span<const PickleValue> items) {
  std::uint64_t hash = items.size();
  for (const PickleValue item : items) hash = (std::rotl(hash, 5) ^ item.bits()) * 0x9E3779B97F4A7C15U;
  return mixed(hash);
}

std::uint32_t hash_of(std::string_view text) {
  std::uint64_t hash = text.size();
  while (text.size() >= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), sizeof word);
    hash = (std::rotl(hash, 5) ^ word) * 0x9E3779B97F4A7C15U;
    text.remove_prefix(8);
  }
  for (const char c : text) hash = (std::rotl(hash, 5) ^ static_cast<unsigned char>(c)) * 0x9E3779B97F4A7C15U;
  return mixed(hash);
}

/// The row of an open-addressed table that holds what `equal` knows, or the free one for it.
template <class Row, class Equal>
std::size_t row_of(const std::vector<Row>& rows, std::uint32_t hash, const Equal& equal) {
  const std::size_t mask = rows.size() - 1;
  std::size_t at = hash & mask;
  while (rows[at].index != unset && !(rows[at].hash == hash && equal(rows[at].index))) at = (at + 1) & mask;
  return at;
}

template <class Row>
void grow(std::vector<Row>& rows, std::size_t used) {
  if (2 * used < rows.size()) return;
  const std::vector<Row> old = std::exchange(rows, std::vector<Row>(2 * rows.size()));
  for (const Row& row : old) {
    if (row.index != unset) rows[row_of(rows, row.hash, [](std::uint32_t) { return false; })] = row;
  }
}

}  // namespace

PickleBuilder::PickleBuilder() : slice_rows_(least_rows) { tree_.text_rows_.resize(least_rows); }

PickleValue PickleBuilder::integer(std::int64_t value) {
  if (value >= 0 && value <= Value::most) return {Kind::integer, static_cast<std::uint32_t>(value)};
  tree_.wide_.push_back(value);
  return {Kind::wide, static_cast<std::uint32_t>(tree_.wide_.size() - 1)};
}

PickleValue PickleBuilder::real(double value) {
  tree_.wide_.push_back(std::bit_cast<std::int64_t>(value));
  return {Kind::real, static_cast<std::uint32_t>(tree_.wide_.size() - 1)};
}

PickleValue PickleBuilder::text(std::string_view text) {
  grow(tree_.text_rows_, tree_.texts_.size());
  const std::uint32_t hash = hash_of(text);
  PickleTree::Row& row =
      tree_.text_rows_[row_of(tree_.text_rows_, hash, [&](std::uint32_t i) { return tree_.text_at(i) == text; })];
  if (row.index == unset) {
    row = {hash, static_cast<std::uint32_t>(tree_.texts_.size())};
    tree_.texts_.push_back(
        {static_cast<std::uint32_t>(tree_.characters_.size()), static_cast<std::uint32_t>(text.size())});
    tree_.characters_ += text;
  }
  return {Kind::text, row.index};
}

PickleValue PickleBuilder::container(Kind kind) {
  tree_.containers_.push_back({});
  return {kind, static_cast<std::uint32_t>(tree_.containers_.size() - 1)};
}

void PickleBuilder::extend_list(Value list, std::span<const Value> items) {
  if (!items.empty()) add_slice(list, interned(items));
}

void PickleBuilder::extend_dict(Value dict, std::span<const Value> pairs) {
  if (pairs.empty()) return;
  keys_.clear();
  values_.clear();
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
    keys_.push_back(pairs[i]);
    values_.push_back(pairs[i + 1]);
  }
  const std::uint32_t keys = tree_.slices_[interned(keys_)].items;
  const std::uint32_t values = stored(values_);
  tree_.slices_.push_back({values, keys, static_cast<std::uint32_t>(values_.size())});
  add_slice(dict, static_cast<std::uint32_t>(tree_.slices_.size() - 1));
}

std::uint32_t PickleBuilder::interned(std::span<const Value> items) {
  grow(slice_rows_, interned_);
  const std::uint32_t hash = hash_of(items);
  const auto equal = [&](std::uint32_t i) {
    const PickleTree::Slice& slice = tree_.slices_[i];
    return slice.count == items.size() && std::ranges::equal(items, tree_.items_.part(slice.items, slice.count));
  };
  PickleTree::Row& row = slice_rows_[row_of(slice_rows_, hash, equal)];
  if (row.index == unset) {
    row = {hash, static_cast<std::uint32_t>(tree_.slices_.size())};
    tree_.slices_.push_back({stored(items), PickleTree::unset, static_cast<std::uint32_t>(items.size())});
    ++interned_;
  }
  return row.index;
}

std::uint32_t PickleBuilder::stored(std::span<const Value> items) {
  const auto begin = static_cast<std::uint32_t>(tree_.items_.size());
  tree_.items_.append(items);
  return begin;
}

void PickleBuilder::add_slice(Value container, std::uint32_t slice) {
  PickleTree::Container& at = tree_.containers_[container.index()];
  if (at.slice == unset) {
    at.slice = slice;
    return;
  }
  const auto link = static_cast<std::uint32_t>(tree_.links_.size());
  tree_.links_.push_back({slice, at.last == unset ? link : tree_.links_[at.last].next});
  if (at.last != unset) tree_.links_[at.last].next = link;
  at.last = link;
}

std::size_t PickleBuilder::memory() const {
  return 4 * tree_.items_.size() + sizeof(PickleTree::Slice) * tree_.slices_.size() + 8 * tree_.containers_.size() +
         8 * tree_.links_.size() + 8 * tree_.wide_.size() + tree_.characters_.size() + 24 * tree_.texts_.size() +
         8 * slice_rows_.size();
}

bool PickleBuilder::has_room() const {
  constexpr std::size_t most = Value::most;
  return tree_.wide_.size() < most && tree_.containers_.size() < most && tree_.texts_.size() < most;
}

PickleTree PickleBuilder::finish(Value root) && {
  tree_.root_ = root;
  return std::move(tree_);
}

double PickleTree::real(Value value) const {
  return value.kind() == Kind::real ? std::bit_cast<double>(wide_[value.index()]) : 0;
}

std::int64_t PickleTree::integer(Value value) const {
  if (value.kind() == Kind::integer) return value.index();
  return value.kind() == Kind::wide ? wide_[value.index()] : 0;
}

std::string_view PickleTree::text(Value value) const {
  return value.kind() == Kind::text ? text_at(value.index()) : std::string_view();
}

PickleValue PickleTree::key(std::string_view text) const {
  const Row& row = text_rows_[row_of(text_rows_, hash_of(text), [&](std::uint32_t i) { return text_at(i) == text; })];
  return row.index == unset ? Value() : Value(Kind::text, row.index);
}

// A dict of more keys than this is no part of a snapshot, and to search it again and again would take forever.
constexpr std::uint32_t most_keys = 1024;

PickleValue PickleTree::find(Value dict, Value key) const {
  Value found;
  std::uint32_t seen = 0;
  if (dict.kind() != Kind::dict || key.kind() != Kind::text) return found;
  each_slice(dict, [&](std::uint32_t index) {
    const Slice& slice = slices_[index];
    seen += std::min(slice.count, most_keys);
    for (std::uint32_t i = 0; i < slice.count && seen <= most_keys; ++i) {
      if (items_[slice.keys + i] == key) found = items_[slice.items + i];
    }
    return seen < most_keys;
  });
  return found;
}

PickleValue PickleTree::find(Value dict, Column& column) const {
  if (dict.kind() != Kind::dict || column.key.kind() != Kind::text) return {};
  const Container& at = containers_[dict.index()];
  if (at.slice == unset || at.last != unset || slices_[at.slice].count > most_keys) return find(dict, column.key);
  const Slice& slice = slices_[at.slice];
  if (slice.keys == column.keys) return items_[slice.items + column.index];
  for (std::uint32_t i = slice.count; i-- > 0;) {
    if (items_[slice.keys + i] != column.key) continue;
    column = {column.key, slice.keys, i};
    return items_[slice.items + i];
  }
  return {};
}

}  // namespace oomplan::read
