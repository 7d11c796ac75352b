// Directives, anchors, aliases and tags.
#include <string_view>
#include <utility>

#include "oomplan/core/text.hpp"
#include "yaml_scanner.hpp"

namespace oomplan::read {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' || c == '_'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'A' && c <= 'F') || (c >= 'a' && c <= 'f'); }

char byte_of(std::string_view hex) {
  const auto value = [](char c) { return is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10; };
  return static_cast<char>(value(hex[0]) * 16 + value(hex[1]));
}

std::size_t word_length(const YamlText& text, std::size_t from = 0) {
  std::size_t length = from;
  while (is_word(text.peek(length))) ++length;
  return length;
}

bool in_uri(char c) {
  constexpr std::string_view marks = ";/?:@&=+$,.!~*'()[]%";
  return is_word(c) || (c != '\0' && marks.find(c) != std::string_view::npos);
}

}  // namespace

// ---- Directives ----------------------------------------------------------------------------------------------------

void YamlScanner::fetch_directive() {
  reset_block();
  const std::size_t begin = text_.offset();
  text_.forward();
  const std::string_view name = text_.take(word_length(text_));
  if (name.empty() || (text_.peek() != ' ' && !text_.is_break_or_end())) {
    refuse(begin, "a line that begins with '%' is a directive, and this is none");
  }
  if (name == "YAML") {
    scan_version(begin);
  } else if (name == "TAG") {
    scan_tag_directive(begin);
  } else {
    text_.skip_line();
    tokens_.push_back({Type::directive, begin, text_.offset(), {}, {}, false});
  }
  skip_rest_of_line("a directive");
}

void YamlScanner::scan_version(std::size_t begin) {
  text_.skip(' ');
  std::string major;
  while (is_digit(text_.peek())) major += text_.take(1);
  const bool dot = text_.peek() == '.' && is_digit(text_.peek(1));
  if (major.empty() || !dot) refuse(begin, "%YAML wants a version, such as 1.1");
  text_.forward();
  while (is_digit(text_.peek())) text_.forward();
  if (text_.peek() != ' ' && !text_.is_break_or_end()) refuse(begin, "%YAML wants a version, such as 1.1");
  tokens_.push_back({YamlToken::Type::version, begin, text_.offset(), std::move(major), {}, false});
}

void YamlScanner::scan_tag_directive(std::size_t begin) {
  text_.skip(' ');
  std::string handle = scan_tag_handle();
  if (text_.peek() != ' ') refuse(begin, "%TAG wants a handle and what it stands for");
  text_.skip(' ');
  std::string prefix = scan_tag_suffix();
  if (text_.peek() != ' ' && !text_.is_break_or_end()) refuse(begin, "%TAG wants a handle and what it stands for");
  tokens_.push_back({YamlToken::Type::tag_handle, begin, text_.offset(), std::move(prefix), std::move(handle), false});
}

void YamlScanner::skip_rest_of_line(std::string_view what) {
  text_.skip(' ');
  if (text_.peek() == '#') text_.skip_line();
  if (!text_.is_break_or_end()) refuse(text_.offset(), "only a comment can follow " + std::string(what));
  text_.take_break();
}

// ---- Anchors, aliases, tags ----------------------------------------------------------------------------------------

YamlToken YamlScanner::scan_name(Type type) {
  const std::size_t begin = text_.offset();
  text_.forward();
  std::string name(text_.take(word_length(text_)));
  const bool ends = text_.is_blank() || text_.is("?:,]}%@`");
  if (name.empty() || !ends) {
    refuse(begin, std::string(type == Type::alias ? "the name of an alias" : "the name of an anchor") +
                      " is made of letters, digits, '-' and '_'");
  }
  return {type, begin, text_.offset(), std::move(name), {}, false};
}

YamlToken YamlScanner::scan_tag() {
  const std::size_t begin = text_.offset();
  std::string handle;
  std::string suffix;
  if (text_.peek(1) == '<') {
    text_.forward(2);
    suffix = scan_tag_suffix();
    if (text_.peek() != '>') refuse(begin, "'>' is missing at the end of this tag");
    text_.forward();
  } else if (text_.is_blank(1)) {
    text_.forward();
    suffix = "!";
  } else {
    std::size_t length = 1;
    while (text_.peek(length) != ' ' && !text_.is_break_or_end(length) && text_.peek(length) != '!') ++length;
    const bool named = text_.peek(length) == '!';
    handle = named ? scan_tag_handle() : std::string(text_.take(1));
    suffix = scan_tag_suffix();
  }
  if (text_.peek() != ' ' && !text_.is_break_or_end()) refuse(text_.offset(), "a space is missing behind this tag");
  return {Type::tag, begin, text_.offset(), std::move(suffix), std::move(handle), false};
}

std::string YamlScanner::scan_tag_handle() {
  const bool named = text_.peek(1) != ' ';
  const std::size_t length = named ? word_length(text_, 1) : 1;
  if (text_.peek() != '!' || (named && text_.peek(length) != '!')) refuse(text_.offset(), "this is no handle of a tag");
  return std::string(text_.take(named ? length + 1 : 1));
}

std::string YamlScanner::scan_tag_suffix() {
  const std::size_t begin = text_.offset();
  std::string out;
  while (in_uri(text_.peek())) {
    const char c = text_.peek();
    if (c != '%') {
      out += text_.take(1);
      continue;
    }
    if (!is_hex(text_.peek(1)) || !is_hex(text_.peek(2))) refuse(text_.offset(), "'%' wants two hexadecimal digits");
    out += byte_of(text_.take(3).substr(1));
  }
  if (out.empty() || valid_utf8(out) != out.size()) refuse(begin, "this is no name of a tag");
  return out;
}

}  // namespace oomplan::read
