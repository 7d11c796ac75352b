// What rows have for a tokenizer, column by column.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "canonical_cursor.hpp"
#include "oomplan/measure/measure.hpp"
#include "size_sketch.hpp"

namespace oomplan::measure {

class TokenCounts {
 public:
  /// A row in the canonical form.
  void add(std::string_view canonical);
  void add(const TokenCounts& more);
  Tokens tokens() const;

 private:
  struct Text {
    std::int64_t strings = 0;
    std::int64_t bytes = 0;
    std::int64_t pieces = 0;
  };
  /// A value of a column: its text, or how long a list of whole numbers it is.
  struct Value {
    Text text{};
    std::int64_t numbers = -1;
  };
  struct Column {
    std::int64_t rows = 0;
    SizeSketch bytes{};
    SizeSketch pieces{};
  };
  using Columns = std::map<std::string, Column, std::less<>>;

  static Value value(CanonicalCursor& in);
  static void pass(CanonicalCursor& in, Text& text);
  static void pass_children(CanonicalCursor& in, char end, Text& text);
  void add(std::string_view name, const Value& value, Text& row);
  void add(Columns& columns, const Columns& more);
  Column* column(Columns& columns, std::string_view name);

  Columns texts_{};
  Columns lists_{};
  std::int64_t left_out_ = 0;
  SizeSketch bytes_{};
  SizeSketch pieces_{};
};

// Text as GPT-2's tokenizer cuts it before it looks for tokens (openai/gpt-2, src/encoder.py, `pat`).

/// How many pieces UTF-8 text has: words, numbers, runs of marks, each with a space before it, and other white space. A
/// token never reaches over two of them. Of ASCII exact; beyond it, where letters are not told from marks, never more
/// than there are.
std::int64_t pieces_in(std::string_view text);

}  // namespace oomplan::measure
