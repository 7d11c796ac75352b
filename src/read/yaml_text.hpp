// YAML's text as PyYAML's reader walks it: which bytes end a line, and where the walk stands.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace oomplan::read {

/// Lines end at \n, \r, \r\n, U+0085, U+2028 and U+2029. Behind the last byte stands a NUL, which no text has in it.
class YamlText {
 public:
  explicit YamlText(std::string_view text) : text_(text) {}

  std::string_view text() const { return text_; }
  std::size_t offset() const { return at_; }
  std::size_t line() const { return line_; }
  /// In bytes; before a key or a dash of a block stands ASCII only.
  std::size_t column() const { return at_ - line_start_; }

  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool is(std::string_view any, std::size_t ahead = 0) const {
    for (const char c : any) {
      if (c == peek(ahead)) return true;
    }
    return false;
  }
  /// A letter of ASCII or a digit, which mean nothing to YAML.
  bool is_word(std::size_t ahead = 0) const { return words[static_cast<unsigned char>(peek(ahead))]; }
  bool at_end(std::size_t ahead = 0) const { return at_ + ahead >= text_.size(); }

  /// The bytes of the line break that stands there; 0 where none does.
  std::size_t break_size(std::size_t ahead = 0) const {
    return may_break(peek(ahead)) ? break_size_of(text_.substr(at_ + ahead)) : 0;
  }
  bool is_break(std::size_t ahead = 0) const { return break_size(ahead) > 0; }
  bool is_break_or_end(std::size_t ahead = 0) const { return at_end(ahead) || is_break(ahead); }
  /// The end, a space, a tab or a line break.
  bool is_blank(std::size_t ahead = 0) const {
    const char c = peek(ahead);
    return c == ' ' || c == '\t' || is_break_or_end(ahead);
  }
  /// "---" or "..." alone at the line's beginning.
  bool is_marker(std::string_view marker) const;

  /// Over bytes of this line.
  void forward(std::size_t count = 1) { at_ += count; }
  std::string_view take(std::size_t count);
  void skip(char c) {
    while (peek() == c) forward();
  }
  /// Up to the line's end.
  void skip_line() {
    while (!is_break_or_end()) forward();
  }
  /// Over a line break, which is then "\n" in a value, or U+2028 or U+2029 itself. Empty where there is none.
  std::string_view take_break();

 private:
  /// What a line break may begin with.
  static bool may_break(char c) { return c == '\n' || c == '\r' || c == '\xC2' || c == '\xE2'; }
  static std::size_t break_size_of(std::string_view rest);

  static constexpr std::array<bool, 256> words = [] {
    std::array<bool, 256> out{};
    for (const char c : std::string_view("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")) {
      out[static_cast<unsigned char>(c)] = true;
    }
    return out;
  }();

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 0;
  std::size_t line_start_ = 0;
};

}  // namespace oomplan::read
