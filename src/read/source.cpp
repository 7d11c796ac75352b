#include "source.hpp"

#include <algorithm>
#include <utility>

namespace oomplan::read {

Source::Source(std::string_view file, std::string_view text) : file_(file), text_(text), lines_{0} {
  for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
    lines_.push_back(static_cast<std::uint32_t>(at + 1));
  }
}

Location Source::at(std::size_t offset) const {
  // A caret in the void after the last newline shows nothing.
  if (offset >= text_.size()) offset = text_.find_last_not_of(" \t\r\n") + 1;
  const auto next = std::upper_bound(lines_.begin(), lines_.end(), offset);
  return {std::string(file_), static_cast<int>(next - lines_.begin()), static_cast<int>(offset - *(next - 1)) + 1};
}

std::size_t Source::line_start(int line) const {
  if (line < 1) return 0;
  return static_cast<std::size_t>(line) > lines_.size() ? text_.size() : lines_[static_cast<std::size_t>(line) - 1];
}

Diagnostic Source::error(std::size_t offset, std::string code, std::string message, std::string hint) const {
  Location where = at(offset);
  const std::size_t start = line_start(where.line);
  return {Severity::error,  std::move(code), std::move(message),
          std::move(where), std::move(hint), std::string(line_around(text_, start))};
}

void Source::refuse(std::size_t offset, std::string code, std::string message, std::string hint) const {
  throw Refused{{error(offset, std::move(code), std::move(message), std::move(hint))}};
}

std::string_view line_around(std::string_view text, std::size_t offset) {
  if (offset > text.size()) return {};
  const std::size_t before = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace oomplan::read
