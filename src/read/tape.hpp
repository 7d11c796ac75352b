// What every syntax is parsed into first: its values in a row. The budgets are enforced here, while the parser runs,
// and an alias is a piece of the row copied, which costs from the same budgets.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "source.hpp"

namespace oomplan::read {

/// The budget is exceeded; `when` ends the sentence (" once aliases are expanded").
[[noreturn]] void refuse_depth(const Source& source, std::size_t offset, int depth, const std::string& when = {});
[[noreturn]] void refuse_nodes(const Source& source, std::size_t offset, int nodes, const std::string& when = {});

/// The error for a key given at `offset` that was given at `first` already.
Diagnostic duplicate_key(const Source& source, const std::string& key, std::size_t offset, std::size_t first);

struct Item {
  enum class Type { scalar, open, close };
  Type type = Type::scalar;
  Node::Kind kind = Node::Kind::null;  // of a scalar or of what opens
  bool merge = false;                  // YAML's `<<`, where it stands as a key
  std::size_t offset = 0;
  std::string text{};
};

class Tape {
 public:
  Tape(const Source& source, const ReadBudget& budget);

  /// Each throws Refused where the budget is exceeded. In a mapping, keys (scalars) and values take turns.
  void scalar(std::size_t offset, Node::Kind kind, std::string text);
  void merge_key(std::size_t offset);
  void open(std::size_t offset, Node::Kind kind);
  void close();
  /// Once more the items from `begin` up to `end`; `offset` is where a refusal points.
  void repeat(std::size_t begin, std::size_t end, std::size_t offset);

  std::size_t size() const { return items_.size(); }
  const std::vector<Item>& items() const { return items_; }
  const Source& source() const { return source_; }
  const ReadBudget& budget() const { return budget_; }

 private:
  void push(Item item, std::size_t blamed);
  void check(std::size_t blamed) const;

  const Source& source_;
  ReadBudget budget_;
  std::vector<Item> items_;
  bool expanding_ = false;
  int depth_ = 0;
  int nodes_ = 0;
  std::size_t bytes_ = 0;
};

/// The tape as a tree. Throws Refused for a key that is given twice, for one that is no scalar, and for a merge of what
/// is no mapping.
Node build(const Tape& tape);

}  // namespace oomplan::read
