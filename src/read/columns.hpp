// From columns counted in characters, as toml++ has them, to bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "source.hpp"

namespace oomplan::read {

class Columns {
 public:
  explicit Columns(const Source& source);

  /// The offset of the character at `column` (from 1) of `line` (from 1); the text's end where there is none.
  std::size_t offset(int line, int column) const;

 private:
  std::size_t characters_before(std::size_t offset) const;

  const Source& source_;
  std::vector<std::uint32_t> before_;  // characters before each stretch of the text; a line can be megabytes long
};

}  // namespace oomplan::read
