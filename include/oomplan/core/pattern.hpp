// Regular expressions as Python's re reads them, of the parts that names of modules and parameters are matched with.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace oomplan {

/// Literals, ".", classes, \d \w \s and escaped signs, groups (captured, or "(?:"), "|", "?", "*", "+", {m,n}, ^ and $.
class Pattern {
 public:
  /// Nothing where the text has anything else, is no ASCII, or is longer or nested deeper than names need.
  static std::optional<Pattern> parse(std::string_view text);

  /// Steps that are left to all matches that share it.
  struct Budget {
    std::int64_t steps = 5'000'000;
  };

  /// re.fullmatch, re.match. Nothing where it would take too many steps to say.
  std::optional<bool> matches_all(std::string_view name, Budget& budget) const { return matches(name, true, budget); }
  std::optional<bool> matches_start(std::string_view name, Budget& budget) const {
    return matches(name, false, budget);
  }

 private:
  enum class Kind { letter, group, begin, end };
  struct Piece {
    Kind kind = Kind::letter;
    std::bitset<256> letters{};
    std::size_t group = 0;
    std::size_t least = 1;
    std::size_t most = 1;
  };
  using Sequence = std::vector<Piece>;

  class Reader;
  class Matcher;

  std::optional<bool> matches(std::string_view name, bool whole, Budget& budget) const;

  std::vector<std::vector<Sequence>> groups_{};  ///< Each a choice of sequences; the first is the whole.
};

/// Whether a name holds no sign of a regular expression but the dot.
bool is_module_name(std::string_view text);

/// Whether LoRA targets are one regular expression: one entry that no module can be called.
bool is_expression(const std::vector<std::string>& targets);

}  // namespace oomplan
