#include "toml_text.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "oomplan/core/code_point.hpp"

namespace oomplan::read {
namespace {

constexpr std::string_view space = " \t";
constexpr std::string_view bare = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
constexpr std::string_view in_word = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+.:";
constexpr char del = '\x7f';

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

bool TomlText::take(std::string_view what) {
  const bool here = starts_with(what);
  if (here) at_ += what.size();
  return here;
}

void TomlText::expect(std::string_view what, const std::string& message) {
  if (!take(what)) refuse(message);
}

std::string_view TomlText::take_all(std::string_view allowed) {
  const std::size_t begin = at_;
  at_ = std::min(text_.find_first_not_of(allowed, at_), text_.size());
  return text_.substr(begin, at_ - begin);
}

void TomlText::skip_space() { take_all(space); }

bool TomlText::take_line_end() { return take("\n") || take("\r\n"); }

void TomlText::skip_comment() {
  if (peek() != '#') return;
  const std::size_t end = std::min(text_.find('\n', at_), text_.size());
  at_ = std::min(text_.find_first_of("\r\x7f", at_), end);
  if (at_ < end && !starts_with("\r\n")) refuse("this character cannot stand in a comment");
}

void TomlText::skip_blank() {
  do {
    skip_space();
    skip_comment();
  } while (take_line_end());
}

void TomlText::end_line() {
  skip_space();
  skip_comment();
  if (!ended() && !take_line_end()) refuse("the line must end here");
}

std::string TomlText::key_part() {
  if (starts_with("\"\"\"") || starts_with("'''")) refuse("a key stands on one line");
  if (peek() == '"' || peek() == '\'') return quoted(peek(), false);
  const std::string_view part = take_all(bare);
  if (part.empty()) refuse("a key must begin here: letters, digits, '_', '-', or a string in quotes");
  return std::string(part);
}

std::string TomlText::string() {
  const char quote = peek();
  return quoted(quote, starts_with(std::string(3, quote)));
}

// "1979-05-27 07:32:00" is one word with a space in it.
std::string_view TomlText::word() {
  const std::size_t begin = at_;
  const std::string_view first = take_all(in_word);
  const std::string_view rest = text_.substr(at_, 4);
  const bool date = first.size() == 10 && first[4] == '-' && first[7] == '-';
  if (date && rest.size() == 4 && rest[0] == ' ' && is_digit(rest[1]) && is_digit(rest[2]) && rest[3] == ':') {
    ++at_;
    take_all(in_word);
  }
  return text_.substr(begin, at_ - begin);
}

std::string TomlText::quoted(char quote, bool block) {
  const std::size_t begin = at_;
  const std::string end(block ? 3 : 1, quote);
  at_ += end.size();
  if (block) take_line_end();
  std::string out;
  while (!take(end)) {
    if (ended() || (!block && (peek() == '\n' || starts_with("\r\n")))) refuse_at(begin, "this quote is never closed");
    if (quote == '"' && take("\\")) {
      escape(out, block);
    } else {
      character(out, block);
    }
  }
  for (int more = 0; block && more < 2 && peek() == quote; ++more) out += text_[at_++];  // """"" ends with two inside
  return out;
}

void TomlText::character(std::string& out, bool block) {
  const bool line_end = block && (peek() == '\n' || starts_with("\r\n"));
  if (line_end) take("\r");  // within a string too a line ends in one character, as tomllib has it
  if (!line_end && (peek() == '\r' || peek() == del)) refuse("this character must be written as an escape");
  out += text_[at_++];
}

void TomlText::escape(std::string& out, bool block) {
  constexpr std::string_view letters = "btnfr\"\\";
  constexpr std::string_view meanings = "\b\t\n\f\r\"\\";
  const char c = peek();
  if (block && (space.find(c) != std::string_view::npos || c == '\n' || c == '\r')) return continue_line();
  const std::size_t known = letters.find(c);
  if (known == std::string_view::npos && c != 'u' && c != 'U') refuse("this is no escape of TOML");
  ++at_;
  out += known != std::string_view::npos ? std::string(1, meanings[known]) : unicode(c == 'u' ? 4 : 8);
}

std::string TomlText::unicode(std::size_t digits) {
  const std::string_view hex = text_.substr(at_, digits);
  std::uint32_t code = 0;
  const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), code, 16);
  const bool whole = hex.size() == digits && error == std::errc{} && end == hex.data() + hex.size();
  if (!whole || is_no_character(code)) refuse("this is no character of Unicode");
  at_ += digits;
  std::string out;
  append_utf8(code, out);
  return out;
}

// A backslash at the end of a line takes all space with it up to the next word.
void TomlText::continue_line() {
  const std::size_t backslash = at_ - 1;
  skip_space();
  if (!take_line_end()) refuse_at(backslash, "this is no escape of TOML");
  do {
    skip_space();
  } while (take_line_end());
}

}  // namespace oomplan::read
