// The tokens of a Python script, as Python's own tokenizer cuts them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "source.hpp"

namespace oomplan::read {

struct Token {
  enum class Kind { name, number, string, mark, shell, line_end };

  Kind kind = Kind::line_end;
  std::size_t begin = 0;  ///< Offsets of bytes in the source.
  std::size_t end = 0;
  std::string text{};  ///< As written; of a string its value, escapes resolved.
  bool fixed = true;   ///< Of a string: it is one text whatever runs, which f"…" and b"…" are not.
  bool first = false;  ///< The first of its logical line.
  int indent = 0;      ///< Of the first of a line: the columns before it, a tab up to the next multiple of 8.
};

/// All of them; a logical line ends with one line_end, and lines without code have none. A line of IPython that is no
/// Python (`!pip …`, `%env …`) is one shell token, and so is what is assigned of a shell (`x = !ls`). Brackets match.
/// Throws Refused (read/syntax, read/too-deep, read/too-many-nodes).
std::vector<Token> python_tokens(const Source& source, const ReadBudget& budget);

}  // namespace oomplan::read
