#include "python_token.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "tape.hpp"

namespace oomplan::read {
namespace {

constexpr int tab_stop = 8;
constexpr int tokens_for_a_node = 20;  // most tokens of a script say no value

// The longest first.
constexpr auto marks =
    std::to_array<std::string_view>({"**=", "//=", ">>=", "<<=", "...", "!=", "->", "**", "//", ">>", "<<", "<=",
                                     ">=",  "==",  ":=",  "+=",  "-=",  "*=", "/=", "%=", "&=", "|=", "^=", "@="});

bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (static_cast<unsigned char>(c) & 0x80U) != 0;
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

char closing(char open) { return open == '(' ? ')' : open == '[' ? ']' : '}'; }

std::optional<unsigned> hex_value(std::string_view digits) {
  unsigned out = 0;
  for (const char c : digits) {
    const bool lower = c >= 'a' && c <= 'f';
    if (!is_digit(c) && !lower && !(c >= 'A' && c <= 'F')) return std::nullopt;
    out = out * 16 + static_cast<unsigned>(is_digit(c) ? c - '0' : (lower ? c - 'a' : c - 'A') + 10);
  }
  return out;
}

void append_utf8(std::string& to, unsigned code) {
  constexpr unsigned low = 0x3F;
  const auto byte = [&](unsigned value) { to += static_cast<char>(static_cast<unsigned char>(value)); };
  if (code < 0x80) return byte(code);
  if (code < 0x800) return byte(0xC0U | (code >> 6U)), byte(0x80U | (code & low));
  if (code < 0x10000)
    return byte(0xE0U | (code >> 12U)), byte(0x80U | ((code >> 6U) & low)), byte(0x80U | (code & low));
  byte(0xF0U | (code >> 18U)), byte(0x80U | ((code >> 12U) & low)), byte(0x80U | ((code >> 6U) & low));
  byte(0x80U | (code & low));
}

bool is_character(unsigned code) { return code < 0xD800 || (code > 0xDFFF && code <= 0x10FFFF); }

class Lexer {
 public:
  Lexer(const Source& source, const ReadBudget& budget)
      : source_(source),
        text_(source.text()),
        depth_(std::min(budget.depth, 256)),
        most_(static_cast<std::size_t>(budget.nodes) * tokens_for_a_node) {}

  std::vector<Token> all() {
    while (at_ < text_.size()) {
      if (line_start_ && open_.empty()) {
        begin_line();
      } else {
        next();
      }
    }
    if (!open_.empty()) source_.refuse(open_.back(), "read/syntax", "this bracket is never closed");
    end_line();
    return std::move(out_);
  }

 private:
  bool at(std::string_view what) const { return text_.substr(at_).starts_with(what); }
  char here() const { return at_ < text_.size() ? text_[at_] : '\n'; }
  void skip_line() { at_ = std::min(text_.find('\n', at_), text_.size()); }

  void begin_line() {
    int indent = 0;
    for (; at_ < text_.size() && is_space(text_[at_]); ++at_) {
      indent = text_[at_] == '\t' ? (indent / tab_stop + 1) * tab_stop : indent + 1;
    }
    line_start_ = false;
    indent_ = indent;
    new_line_ = true;
    // IPython's own lines: a shell's, a magic's, a question.
    if (here() == '!' || here() == '%' || here() == '?') shell();
  }

  void shell() {
    const std::size_t begin = at_;
    skip_line();
    while (at_ < text_.size() && text_.substr(begin, at_ - begin).ends_with('\\')) {
      ++at_;
      skip_line();
    }
    push({Token::Kind::shell, begin, at_, std::string(text_.substr(begin, at_ - begin))});
  }

  void next() {
    const char c = text_[at_];
    if (c == '\n') {
      ++at_;
      if (open_.empty()) end_line();
    } else if (is_space(c)) {
      ++at_;
    } else if (c == '#') {
      skip_line();
    } else if (c == '\\' && text_.substr(at_ + 1).find_first_not_of("\r") != text_.npos &&
               text_[at_ + 1 + text_.substr(at_ + 1).find_first_not_of("\r")] == '\n') {
      at_ = text_.find('\n', at_) + 1;
    } else if (const auto quote = string_start()) {
      string(*quote);
    } else if (is_name_start(c)) {
      word(Token::Kind::name);
    } else if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) {
      number();
    } else {
      mark();
    }
  }

  void end_line() {
    line_start_ = true;
    if (!out_.empty() && out_.back().kind != Token::Kind::line_end) push({Token::Kind::line_end, at_, at_});
  }

  void push(Token token) {
    if (out_.size() >= most_) refuse_nodes(source_, token.begin, static_cast<int>(most_));
    token.first = new_line_ && token.kind != Token::Kind::line_end;
    token.indent = token.first ? indent_ : 0;
    if (token.first) new_line_ = false;
    out_.push_back(std::move(token));
  }

  void word(Token::Kind kind) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name_part(text_[at_])) ++at_;
    push({kind, begin, at_, std::string(text_.substr(begin, at_ - begin))});
  }

  void number() {
    const std::size_t begin = at_;
    const bool radix = text_[at_] == '0' && at_ + 1 < text_.size() && is_name_start(text_[at_ + 1]);
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const bool sign = (c == '+' || c == '-') && !radix && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E');
      if (!is_name_part(c) && c != '.' && !(sign && at_ > begin)) break;
      ++at_;
    }
    push({Token::Kind::number, begin, at_, std::string(text_.substr(begin, at_ - begin))});
  }

  // ---- Strings -----------------------------------------------------------------------------------------------------

  struct Quote {
    std::size_t prefix = 0;
    bool raw = false;
    bool fixed = true;
  };

  std::optional<Quote> string_start() const {
    Quote out;
    for (; out.prefix < 3; ++out.prefix) {
      const std::size_t i = at_ + out.prefix;
      if (i >= text_.size()) return std::nullopt;
      const char c = text_[i];
      if (c == '"' || c == '\'') return out;
      const char lower = static_cast<char>(c | 0x20);
      if (lower != 'r' && lower != 'b' && lower != 'f' && lower != 'u' && lower != 't') return std::nullopt;
      out.raw = out.raw || lower == 'r';
      out.fixed = out.fixed && (lower == 'r' || lower == 'u');
    }
    return std::nullopt;
  }

  void string(const Quote& quote) {
    const std::size_t begin = at_;
    at_ += quote.prefix;
    const std::string_view one = text_.substr(at_, 1);
    const bool triple = text_.substr(at_).starts_with(one == "'" ? "'''" : "\"\"\"");
    const std::string_view end = text_.substr(at_, triple ? 3 : 1);
    at_ += end.size();
    std::string value;
    while (!at(end)) {
      if (at_ >= text_.size() || (!triple && text_[at_] == '\n')) {
        source_.refuse(begin, "read/syntax", "this string is never closed");
      }
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        escape(quote.raw, value);
      } else {
        value += text_[at_++];
      }
    }
    at_ += end.size();
    Token token{Token::Kind::string, begin, at_, std::move(value)};
    token.fixed = quote.fixed;
    push(std::move(token));
  }

  void escape(bool raw, std::string& value) {
    constexpr std::string_view letters = "\\'\"abfnrtv";
    constexpr std::string_view meant = "\\'\"\a\b\f\n\r\t\v";
    const char c = text_[at_ + 1];
    const auto letter = letters.find(c);
    if (raw) {
      value.append(text_.substr(at_, 2));
    } else if (letter != letters.npos) {
      value += meant[letter];
    } else if (c == 'x' || c == 'u' || c == 'U') {
      return coded(c == 'x' ? 2 : c == 'u' ? 4 : 8, value);
    } else if (c != '\n') {
      value.append(text_.substr(at_, 2));
    }
    at_ += 2;
  }

  void coded(std::size_t digits, std::string& value) {
    const std::string_view code = text_.substr(at_ + 2, digits);
    const auto number = code.size() == digits ? hex_value(code) : std::nullopt;
    if (!number || !is_character(*number)) source_.refuse(at_, "read/syntax", "this escape names no character");
    append_utf8(value, *number);
    at_ += 2 + digits;
  }

  // ---- Marks -------------------------------------------------------------------------------------------------------

  void mark() {
    const std::size_t begin = at_;
    const char c = text_[at_];
    // `files = !ls`: what a shell prints.
    if (c == '!' && !at("!=") && open_.empty()) return shell();
    const auto* longer = std::ranges::find_if(marks, [&](std::string_view one) { return at(one); });
    at_ += longer == marks.end() ? 1 : longer->size();
    if (c == '(' || c == '[' || c == '{') open(begin);
    if (c == ')' || c == ']' || c == '}') close(begin);
    push({Token::Kind::mark, begin, at_, std::string(text_.substr(begin, at_ - begin))});
  }

  void open(std::size_t begin) {
    open_.push_back(begin);
    if (open_.size() > static_cast<std::size_t>(depth_)) refuse_depth(source_, begin, depth_);
  }

  void close(std::size_t begin) {
    if (open_.empty() || closing(text_[open_.back()]) != text_[begin]) {
      source_.refuse(begin, "read/syntax", "this bracket closes none that is open");
    }
    open_.pop_back();
  }

  const Source& source_;
  std::string_view text_;
  int depth_;
  std::size_t most_;
  std::size_t at_ = 0;
  bool line_start_ = true;
  bool new_line_ = false;
  int indent_ = 0;
  std::vector<std::size_t> open_;  // where each open bracket stands
  std::vector<Token> out_;
};

}  // namespace

std::vector<Token> python_tokens(const Source& source, const ReadBudget& budget) { return Lexer(source, budget).all(); }

}  // namespace oomplan::read
