// The words of TOML 1.0: space, keys, strings, and the bare words that scalars are.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "source.hpp"

namespace oomplan::read {

/// A place in the text that moves over what it takes. Every refusal points at it.
class TomlText {
 public:
  explicit TomlText(const Source& source) : source_(source), text_(source.text()) {}

  std::size_t offset() const { return at_; }
  bool ended() const { return at_ >= text_.size(); }
  /// The byte here, or NUL at the end, which no text holds.
  char peek() const { return ended() ? '\0' : text_[at_]; }
  bool starts_with(std::string_view what) const { return text_.substr(at_).starts_with(what); }
  /// Takes `what` if it is here.
  bool take(std::string_view what);
  void expect(std::string_view what, const std::string& message);

  void skip_space();
  /// Space, line ends and comments.
  void skip_blank();
  /// What may stand behind a value or a header on its line, and the line's end.
  void end_line();

  /// One part of a key: bare or quoted.
  std::string key_part();
  /// One of the four kinds of string, whose quote is here.
  std::string string();
  /// A number, date or boolean, as written.
  std::string_view word();

  [[noreturn]] void refuse(const std::string& message) const { refuse_at(at_, message); }
  [[noreturn]] void refuse_at(std::size_t offset, const std::string& message) const {
    source_.refuse(offset, "read/syntax", message);
  }

 private:
  bool take_line_end();
  void skip_comment();
  std::string quoted(char quote, bool block);
  void character(std::string& out, bool block);
  void escape(std::string& out, bool block);
  std::string unicode(std::size_t digits);
  void continue_line();
  std::string_view take_all(std::string_view allowed);

  const Source& source_;
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace oomplan::read
