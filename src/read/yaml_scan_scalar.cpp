// Scalars: plain, quoted, and of blocks.
#include <algorithm>
#include <string_view>
#include <utility>

#include "oomplan/core/code_point.hpp"
#include "yaml_scanner.hpp"

namespace oomplan::read {
namespace {

// What a break between two lines of text becomes, and those behind it: one newline is a space, and each further one
// itself.
std::string folded(std::string_view first, const std::string& further) {
  if (first != "\n") return std::string(first) + further;
  return further.empty() ? " " : further;
}

}  // namespace

// ---- Plain ---------------------------------------------------------------------------------------------------------

std::size_t YamlScanner::plain_length() const {
  std::size_t length = 0;
  for (; text_.is_word(length) || !text_.is_blank(length); ++length) {
    if (text_.is_word(length)) continue;
    const char c = text_.peek(length);
    const bool ends_key = c == ':' && (text_.is_blank(length + 1) || (in_flow() && text_.is(",[]{}", length + 1)));
    if (ends_key || (in_flow() && text_.is(",?[]{}", length))) break;
  }
  return length;
}

YamlToken YamlScanner::scan_plain() {
  YamlToken out{Type::scalar, text_.offset(), text_.offset(), {}, {}, true};
  const auto indent = static_cast<std::size_t>(indent_ + 1);
  std::string space;
  while (text_.peek() != '#') {
    const std::size_t length = plain_length();
    if (length == 0) break;
    key_allowed_ = false;
    out.text += space;
    out.text += text_.take(length);
    out.end = text_.offset();
    space = scan_plain_space();
    if (space.empty() || (!in_flow() && text_.column() < indent)) break;
  }
  return out;
}

// Empty where the scalar ends: at other text, or before a line that begins with a document's marker.
std::string YamlScanner::scan_plain_space() {
  const std::size_t begin = text_.offset();
  text_.skip(' ');
  const std::string_view spaces = text_.text().substr(begin, text_.offset() - begin);
  if (!text_.is_break()) return std::string(spaces);
  const std::string_view first = text_.take_break();
  key_allowed_ = true;
  std::string further;
  while (true) {
    if (text_.is_marker("---") || text_.is_marker("...")) return {};
    text_.skip(' ');
    if (!text_.is_break()) return folded(first, further);
    further += text_.take_break();
  }
}

// ---- Quoted --------------------------------------------------------------------------------------------------------

YamlToken YamlScanner::scan_quoted() {
  const std::size_t begin = text_.offset();
  const char quote = text_.peek();
  const bool twice = quote == '"';
  text_.forward();
  YamlToken out{Type::scalar, begin, begin, {}, {}, false};
  scan_quoted_text(twice, begin, out.text);
  while (text_.peek() != quote) {
    scan_quoted_space(begin, out.text);
    scan_quoted_text(twice, begin, out.text);
  }
  text_.forward();
  out.end = text_.offset();
  return out;
}

void YamlScanner::scan_quoted_text(bool twice, std::size_t begin, std::string& out) {
  while (!text_.is_blank()) {
    const char c = text_.peek();
    if (!twice && c == '\'' && text_.peek(1) == '\'') {
      text_.forward(2);
      out += '\'';
    } else if (twice && c == '\\') {
      scan_escape(begin, out);
    } else if (c == (twice ? '"' : '\'')) {
      return;
    } else {
      std::size_t length = 1;
      while (text_.is_word(length) || (!text_.is_blank(length) && !text_.is("'\"\\", length))) ++length;
      out += text_.take(length);
    }
  }
}

void YamlScanner::scan_quoted_space(std::size_t begin, std::string& out) {
  const std::size_t from = text_.offset();
  while (text_.is(" \t")) text_.forward();
  if (text_.at_end()) refuse(begin, "this quote is never closed");
  if (!text_.is_break()) {
    out += text_.text().substr(from, text_.offset() - from);
    return;
  }
  const std::string_view first = text_.take_break();
  std::string further;
  scan_quoted_breaks(further);
  out += folded(first, further);
}

void YamlScanner::scan_quoted_breaks(std::string& out) {
  while (true) {
    if (text_.is_marker("---") || text_.is_marker("...")) {
      refuse(text_.offset(), "a document's marker cannot stand within quotes");
    }
    while (text_.is(" \t")) text_.forward();
    if (!text_.is_break()) return;
    out += text_.take_break();
  }
}

void YamlScanner::scan_escape(std::size_t begin, std::string& out) {
  constexpr std::string_view letters = "0abt\tnvfre \"\\/";
  constexpr std::string_view meant{"\0\x07\x08\t\t\n\x0B\x0C\r\x1B \"\\/", 14};
  const std::size_t at = text_.offset();
  text_.forward();
  if (text_.is_break()) {
    text_.take_break();
    return scan_quoted_breaks(out);
  }
  if (text_.at_end()) refuse(begin, "this quote is never closed");
  const char c = text_.peek();
  text_.forward();
  if (const auto found = letters.find(c); found != std::string_view::npos) {
    out += meant[found];
  } else if (c == 'N' || c == '_') {
    out += c == 'N' ? "\xC2\x85" : "\xC2\xA0";
  } else if (c == 'L' || c == 'P') {
    out += c == 'L' ? "\xE2\x80\xA8" : "\xE2\x80\xA9";
  } else if (c == 'x' || c == 'u' || c == 'U') {
    scan_code_point(at, c == 'x' ? 2 : c == 'u' ? 4 : 8, out);
  } else {
    refuse(at, "this escape has no meaning in YAML: a backslash is written '\\\\', or the text in single quotes");
  }
}

void YamlScanner::scan_code_point(std::size_t at, std::size_t digits, std::string& out) {
  std::uint32_t code = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    const char c = text_.peek();
    const bool decimal = c >= '0' && c <= '9';
    const char letter = static_cast<char>(c | 0x20);
    if (!decimal && (letter < 'a' || letter > 'f')) {
      refuse(at, "this escape wants " + std::to_string(digits) + " hexadecimal digits");
    }
    code = code * 16 + static_cast<std::uint32_t>(decimal ? c - '0' : letter - 'a' + 10);
    text_.forward();
  }
  if (is_no_character(code)) refuse(at, "no character has this number");
  append_utf8(code, out);
}

// ---- Of blocks -----------------------------------------------------------------------------------------------------

YamlToken YamlScanner::scan_block() {
  YamlToken out{Type::scalar, text_.offset(), text_.offset(), {}, {}, false};
  const bool folds = text_.peek() == '>';
  text_.forward();
  const BlockHeader header = scan_block_header();
  skip_rest_of_line("'|' or '>'");
  const auto least = static_cast<std::size_t>(std::max(indent_ + 1, 1));
  std::string breaks;
  std::size_t indent = least + static_cast<std::size_t>(std::max(header.increment, 1)) - 1;
  if (header.increment == 0) {
    indent = std::max(least, scan_block_indent(breaks));
  } else {
    breaks = scan_block_breaks(indent);
  }
  std::string_view line_break;
  while (text_.column() == indent && !text_.at_end()) {
    out.text += breaks;
    const bool flush = !text_.is(" \t");
    const std::size_t from = text_.offset();
    text_.skip_line();
    out.text += text_.text().substr(from, text_.offset() - from);
    line_break = text_.take_break();
    breaks = scan_block_breaks(indent);
    if (text_.column() != indent || text_.at_end()) break;
    const bool joins = folds && line_break == "\n" && flush && !text_.is(" \t");
    if (!joins) out.text += line_break;
    if (joins && breaks.empty()) out.text += ' ';
  }
  if (header.chomping != '-') out.text += line_break;
  if (header.chomping == '+') out.text += breaks;
  out.end = text_.offset();
  return out;
}

YamlScanner::BlockHeader YamlScanner::scan_block_header() {
  BlockHeader out;
  const auto chomping = [&] {
    if (text_.is("+-")) out.chomping = text_.take(1).front();
  };
  chomping();
  const bool first = out.chomping != ' ';
  if (text_.peek() >= '0' && text_.peek() <= '9') {
    out.increment = text_.take(1).front() - '0';
    if (out.increment == 0) refuse(text_.offset() - 1, "a block's indent is 1 to 9 spaces");
    if (!first) chomping();
  }
  if (text_.peek() != ' ' && !text_.is_break_or_end()) {
    refuse(text_.offset(), "only '+', '-', a digit or a comment can follow '|' or '>'");
  }
  return out;
}

// The breaks before the first line of text, and the furthest that a space stands in them.
std::size_t YamlScanner::scan_block_indent(std::string& breaks) {
  std::size_t furthest = 0;
  while (text_.peek() == ' ' || text_.is_break()) {
    if (text_.is_break()) {
      breaks += text_.take_break();
    } else {
      text_.forward();
      furthest = std::max(furthest, text_.column());
    }
  }
  return furthest;
}

std::string YamlScanner::scan_block_breaks(std::size_t indent) {
  std::string out;
  while (true) {
    while (text_.column() < indent && text_.peek() == ' ') text_.forward();
    if (!text_.is_break()) return out;
    out += text_.take_break();
  }
}

}  // namespace oomplan::read
