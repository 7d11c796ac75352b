// The text being read: where a byte of it stands, and errors that point at one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "oomplan/read/document.hpp"

namespace oomplan::read {

/// Thrown through a library's parser to stop it, and caught in parse_document.
struct Refused {
  Diagnostics diagnostics;
};

class Source {
 public:
  Source(std::string_view file, std::string_view text);

  std::string_view text() const { return text_; }

  /// The place of the byte at `offset`; past the end, the place after the last byte that is not space.
  Location at(std::size_t offset) const;
  /// The offset where line `line` (from 1) begins; the text's end where there is no such line.
  std::size_t line_start(int line) const;

  Diagnostic error(std::size_t offset, std::string code, std::string message, std::string hint = {}) const;
  [[noreturn]] void refuse(std::size_t offset, std::string code, std::string message, std::string hint = {}) const;

 private:
  std::string_view file_;
  std::string_view text_;
  std::vector<std::uint32_t> lines_;  // where each begins
};

/// The line around `offset` without its end.
std::string_view line_around(std::string_view text, std::size_t offset);

}  // namespace oomplan::read
