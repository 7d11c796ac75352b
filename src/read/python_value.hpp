// Values that a Python script writes down: literals, names of literals, and sums of them. Nothing is ever run.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "python_token.hpp"

namespace oomplan::read {

/// Tokens from `begin` up to `end`.
struct Tokens {
  std::size_t begin = 0;
  std::size_t end = 0;

  bool empty() const { return begin >= end; }
};

/// What a name stands for within a function, or outside of all.
struct Binding {
  std::vector<Tokens> values{};  ///< Of each `name = value`.
  bool other = false;            ///< Bound in another way too: a parameter, a loop, an import, `+=`.
};

/// The names bound in each scope, which is numbered; 0 is the module.
using Bindings = std::map<std::pair<int, std::string>, Binding, std::less<>>;

class PythonValues {
 public:
  PythonValues(const Source& source, const std::vector<Token>& tokens, const Bindings& bindings,
               const ReadBudget& budget);

  /// The value as a node whose place is where it is written, of a name where the name got it; a node of kind expression
  /// with the text where it is more than a value. Of `8 - name`, or a name that this is given to, its items are the
  /// value and an expression with that name. Throws Refused where the budget is exceeded.
  Node value(Tokens range, int scope);
  /// A mapping of the keywords of a call's arguments, its positional arguments, and `**` of what is no mapping.
  struct CallArguments {
    Node positional{};
    Node keywords{};
  };
  CallArguments arguments(Tokens inside, int scope);

  std::size_t matching(std::size_t open) const { return matches_[open]; }
  bool is_mark(std::size_t at, std::string_view text) const;
  /// Those of `range` that commas outside of brackets part; a comma at the end parts nothing.
  std::vector<Tokens> parts(Tokens range, std::string_view comma = ",") const;
  Node made(Node::Kind kind, std::size_t token, std::string text = {});
  /// Takes so many keys and values off the budget.
  void count(std::size_t offset, std::size_t nodes = 1);

 private:
  class Reader;

  Node expression(Tokens range);
  bool is_name(Tokens range) const;
  Tokens written(Tokens range, int scope) const;
  void add_difference(Node& node, Tokens range, int scope);

  const Source& source_;
  const std::vector<Token>& tokens_;
  const Bindings& bindings_;
  ReadBudget budget_;
  std::vector<std::size_t> matches_;
  std::size_t nodes_ = 5;  ///< Those that every script's root has.
  std::size_t bytes_ = 0;
  int depth_ = 0;
};

}  // namespace oomplan::read
