// A TOML document under construction: its lines may add to tables in any order, and which they may is half of TOML.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "source.hpp"
#include "tape.hpp"

namespace oomplan::read {

/// A key, or one part of a dotted one.
struct TomlKey {
  std::size_t offset = 0;
  std::string text{};
};

class TomlTree {
 public:
  using Index = std::size_t;

  /// How a value came to be, which decides what may be added to it.
  enum class Form {
    scalar,
    array,         ///< [1, 2]
    inline_table,  ///< {a = 1}, complete as it stands
    implicit,      ///< a of [a.b], until there is an [a]
    header,        ///< [a]
    dotted,        ///< a of a.b = 1
    tables,        ///< of [[a]]
  };

  TomlTree(const Source& source, const ReadBudget& budget);

  static constexpr Index root = 0;

  /// The table of a header [keys] whose bracket is at `offset`; of [[keys]] where `item`.
  Index header(const std::vector<TomlKey>& keys, std::size_t offset, bool item);
  /// The table that `keys` but the last lead to from `table`.
  Index dotted(Index table, const std::vector<TomlKey>& keys);

  /// A new value under a key that must be new, or as the next item of an array.
  Index add(Index table, const TomlKey& key, Form form, std::size_t offset);
  Index add_item(Index array, Form form, std::size_t offset);
  void set(Index scalar, Node::Kind kind, std::string text);

  bool empty() const { return values_[root].children.empty(); }
  void write(Tape& tape) const { write(root, tape); }

 private:
  struct Child {
    TomlKey key{};
    Index value = 0;
  };
  struct Value {
    Form form = Form::scalar;
    Node::Kind kind = Node::Kind::mapping;
    std::size_t offset = 0;
    int depth = 1;
    std::string text{};
    std::vector<Child> children{};               // in the file's order
    std::map<std::string, std::size_t> names{};  // where among the children
  };

  const Child* find(Index table, const std::string& name) const;
  Index create(Index parent, TomlKey key, Form form, std::size_t offset);
  Index step(Index table, const TomlKey& key, std::size_t offset);
  [[noreturn]] void refuse_twice(const TomlKey& key, const Child& first) const;
  void write(Index index, Tape& tape) const;

  const Source& source_;
  ReadBudget budget_;
  int nodes_ = 1;
  std::vector<Value> values_;
};

}  // namespace oomplan::read
