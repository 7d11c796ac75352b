// Puts a pickle's values together, each kept once where that is worth it.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "pickle.hpp"

namespace oomplan::read {

class PickleBuilder {
 public:
  using Value = PickleValue;
  using Kind = Value::Kind;

  PickleBuilder();

  Value integer(std::int64_t value);
  Value real(double value);
  Value text(std::string_view text);
  Value container(Kind kind);
  void extend_list(Value list, std::span<const Value> items);
  /// Key, value, key, value.
  void extend_dict(Value dict, std::span<const Value> pairs);

  /// About how many bytes the tree takes.
  std::size_t memory() const;
  /// False once an index has no room for more; what was made since is wrong.
  bool has_room() const;
  PickleTree finish(Value root) &&;

 private:
  std::uint32_t interned(std::span<const Value> items);
  std::uint32_t stored(std::span<const Value> items);
  void add_slice(Value container, std::uint32_t slice);

  PickleTree tree_{};
  std::vector<PickleTree::Row> slice_rows_;
  std::uint32_t interned_ = 0;
  std::vector<Value> keys_{};
  std::vector<Value> values_{};
};

}  // namespace oomplan::read
