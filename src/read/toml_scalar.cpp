#include "toml_scalar.hpp"

#include <algorithm>

namespace oomplan::read {
namespace {

constexpr std::string_view decimal = "0123456789";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool take(std::string_view& text, std::string_view what) {
  const bool here = text.starts_with(what);
  if (here) text.remove_prefix(what.size());
  return here;
}

bool take_sign(std::string_view& text) { return take(text, "+") || take(text, "-"); }

// Digits with single "_" between them; how many characters, 0 where there is none.
std::size_t take_digits(std::string_view& text, std::string_view digits) {
  std::size_t length = 0;
  while (length < text.size()) {
    const bool digit = digits.find(text[length]) != std::string_view::npos;
    const bool between = length > 0 && text[length] == '_' && text[length - 1] != '_';
    if (!digit && !between) break;
    ++length;
  }
  if (length > 0 && text[length - 1] == '_') return 0;
  text.remove_prefix(length);
  return length;
}

bool fits_64_bits(std::string_view word) {
  return Node{.kind = Node::Kind::integer, .text = std::string(word)}.as_integer().has_value();
}

bool is_integer(std::string_view word) {
  std::string_view rest = word;
  std::string_view digits;
  if (take(rest, "0x")) digits = "0123456789abcdefABCDEF";
  if (digits.empty() && take(rest, "0o")) digits = "01234567";
  if (digits.empty() && take(rest, "0b")) digits = "01";
  if (digits.empty()) {
    take_sign(rest);
    if (rest.starts_with('0') && rest.size() > 1) return false;
    digits = decimal;
  }
  return take_digits(rest, digits) > 0 && rest.empty() && fits_64_bits(word);
}

bool is_real(std::string_view rest) {
  take_sign(rest);
  if (rest == "inf" || rest == "nan") return true;
  const bool leading_zero = rest.starts_with('0');
  const std::size_t whole = take_digits(rest, decimal);
  if (whole == 0 || (leading_zero && whole > 1) || rest.empty()) return false;
  if (take(rest, ".") && take_digits(rest, decimal) == 0) return false;
  if (take(rest, "e") || take(rest, "E")) {
    take_sign(rest);
    if (take_digits(rest, decimal) == 0) return false;
  }
  return rest.empty();
}

// Exactly `count` digits that make a number within the ends; -1 where they do not.
int take_number(std::string_view& text, std::size_t count, int least, int most) {
  if (text.size() < count || !std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(count), is_digit)) {
    return -1;
  }
  int out = 0;
  for (const char c : text.substr(0, count)) out = out * 10 + (c - '0');
  text.remove_prefix(count);
  return out >= least && out <= most ? out : -1;
}

int days_of(int year, int month) {
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  if (month == 2) return leap ? 29 : 28;
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

bool take_date(std::string_view& text) {
  const int year = take_number(text, 4, 0, 9999);
  if (year < 0 || !take(text, "-")) return false;
  const int month = take_number(text, 2, 1, 12);
  return month > 0 && take(text, "-") && take_number(text, 2, 1, days_of(year, month)) > 0;
}

bool take_time(std::string_view& text) {
  const bool clock = take_number(text, 2, 0, 23) >= 0 && take(text, ":") && take_number(text, 2, 0, 59) >= 0 &&
                     take(text, ":") && take_number(text, 2, 0, 60) >= 0;
  if (!clock || !take(text, ".")) return clock;
  const std::size_t digits = std::min(text.find_first_not_of(decimal), text.size());
  text.remove_prefix(digits);
  return digits > 0;
}

bool take_zone(std::string_view& text) {
  if (take(text, "Z") || take(text, "z")) return true;
  return take_sign(text) && take_number(text, 2, 0, 23) >= 0 && take(text, ":") && take_number(text, 2, 0, 59) >= 0;
}

bool is_date_or_time(std::string_view text) {
  if (text.size() > 2 && text[2] == ':') return take_time(text) && text.empty();
  if (!take_date(text)) return false;
  if (text.empty()) return true;
  if (!take(text, "T") && !take(text, "t") && !take(text, " ")) return false;
  return take_time(text) && (text.empty() || (take_zone(text) && text.empty()));
}

}  // namespace

std::optional<Node::Kind> toml_kind(std::string_view word) {
  if (word == "true" || word == "false") return Node::Kind::boolean;
  if (is_integer(word)) return Node::Kind::integer;
  if (is_real(word)) return Node::Kind::real;
  if (is_date_or_time(word)) return Node::Kind::string;
  return std::nullopt;
}

}  // namespace oomplan::read
