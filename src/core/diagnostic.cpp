#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "oomplan/core/result.hpp"
#include "oomplan/core/text.hpp"

namespace oomplan {
namespace {

constexpr std::size_t widest_excerpt = 100;  // bytes; a minified JSON file is one line of megabytes

std::string_view word(Severity severity) {
  switch (severity) {
    case Severity::note:
      return "note";
    case Severity::warning:
      return "warning";
    case Severity::error:
      return "error";
  }
  return "error";
}

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::string prefix(const Location& where) {
  if (where.file.empty() && where.line <= 0) return "";
  std::string out = where.file.empty() ? "line" : printable(where.file);
  if (where.line > 0) out += fmt::format("{}{}", where.file.empty() ? ' ' : ':', where.line);
  if (where.line > 0 && where.column > 0) out += fmt::format(":{}", where.column);
  return out + ": ";
}

// The part of a long line that is shown, on borders of characters.
struct Window {
  std::size_t begin = 0;
  std::size_t end = 0;
};

Window window(std::string_view line, std::size_t caret) {
  if (line.size() <= widest_excerpt) return {0, line.size()};
  Window out{caret > widest_excerpt / 2 ? caret - widest_excerpt / 2 : 0, 0};
  out.begin = std::min(out.begin, line.size() - widest_excerpt);
  out.end = out.begin + widest_excerpt;
  while (out.begin < caret && continues_character(line[out.begin])) ++out.begin;
  while (out.end < line.size() && out.end > caret && continues_character(line[out.end])) --out.end;
  return out;
}

// A tab would be as wide as the terminal likes, and the caret would miss.
std::string shown(std::string_view text) {
  std::string out(text);
  std::replace(out.begin(), out.end(), '\t', ' ');
  return printable(out);
}

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues_character(c); }));
}

std::string excerpt(std::string_view line, int column) {
  const std::size_t caret = std::min(static_cast<std::size_t>(std::max(column, 1) - 1), line.size());
  const Window part = window(line, caret);
  const std::string_view before = part.begin > 0 ? "..." : "";
  const std::string_view after = part.end < line.size() ? "..." : "";
  const std::string left = shown(line.substr(part.begin, caret - part.begin));
  const std::string right = shown(line.substr(caret, part.end - caret));
  std::string out = fmt::format("    {}{}{}{}\n", before, left, right, after);
  if (column > 0) out += fmt::format("    {:>{}}\n", "^", before.size() + characters(left) + 1);
  return out;
}

}  // namespace

std::string to_text(const Diagnostic& diagnostic) {
  std::string out =
      fmt::format("{}{}: {}", prefix(diagnostic.where), word(diagnostic.severity), printable(diagnostic.message));
  if (!diagnostic.code.empty()) out += fmt::format(" [{}]", diagnostic.code);
  out += '\n';
  if (!diagnostic.excerpt.empty()) out += excerpt(diagnostic.excerpt, diagnostic.where.column);
  if (!diagnostic.hint.empty()) out += fmt::format("hint: {}\n", printable(diagnostic.hint));
  return out;
}

}  // namespace oomplan
