#include "yaml_scalar.hpp"

#include <algorithm>
#include <array>

namespace oomplan::read {
namespace {

constexpr std::string_view decimal = "0123456789_";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool all_of(std::string_view text, std::string_view allowed) {
  return !text.empty() && text.find_first_not_of(allowed) == std::string_view::npos;
}

bool one_of(std::string_view text, const auto& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

// Removes and returns the longest beginning made of `allowed`.
std::string_view take(std::string_view& text, std::string_view allowed) {
  const std::string_view taken = text.substr(0, std::min(text.find_first_not_of(allowed), text.size()));
  text.remove_prefix(taken.size());
  return taken;
}

std::string_view without_sign(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return text;
}

// One or more ":59" of a base-60 number.
bool take_sixties(std::string_view& text) {
  bool any = false;
  while (text.starts_with(':')) {
    std::string_view rest = text.substr(1);
    const std::string_view digits = take(rest, "0123456789");
    if (digits.empty() || digits.size() > 2 || (digits.size() == 2 && digits[0] > '5')) return false;
    text = rest;
    any = true;
  }
  return any;
}

bool is_null(std::string_view text) {
  constexpr std::array<std::string_view, 5> words{"", "~", "null", "Null", "NULL"};
  return one_of(text, words);
}

bool is_boolean(std::string_view text) {
  constexpr std::array<std::string_view, 18> words{"yes",   "Yes",   "YES",   "no", "No", "NO", "true", "True", "TRUE",
                                                   "false", "False", "FALSE", "on", "On", "ON", "off",  "Off",  "OFF"};
  return one_of(text, words);
}

bool is_integer(std::string_view text) {
  text = without_sign(text);
  if (text == "0") return true;
  if (text.starts_with("0b")) return all_of(text.substr(2), "01_");
  if (text.starts_with("0x")) return all_of(text.substr(2), "0123456789abcdefABCDEF_");
  if (text.starts_with('0')) return all_of(text.substr(1), "01234567_");
  if (text.empty() || !is_digit(text.front())) return false;
  take(text, decimal);
  return text.empty() || (take_sixties(text) && text.empty());
}

// PyYAML wants the exponent's sign: 1.0e5 is a string to it.
bool is_exponent(std::string_view text) {
  if (text.empty()) return true;
  if (text.front() != 'e' && text.front() != 'E') return false;
  text.remove_prefix(1);
  return (text.starts_with('-') || text.starts_with('+')) && all_of(text.substr(1), "0123456789");
}

bool is_infinity_or_nan(std::string_view text) {
  constexpr std::array<std::string_view, 3> infinity{".inf", ".Inf", ".INF"};
  constexpr std::array<std::string_view, 3> nan{".nan", ".NaN", ".NAN"};
  return one_of(without_sign(text), infinity) || one_of(text, nan);
}

bool is_real(std::string_view text) {
  if (is_infinity_or_nan(text)) return true;
  if (text.starts_with('.')) {  // no sign before a bare point
    text.remove_prefix(1);
    if (text.empty() || !is_digit(text.front())) return false;
    take(text, decimal);
    return is_exponent(text);
  }
  text = without_sign(text);
  if (text.empty() || !is_digit(text.front())) return false;
  take(text, decimal);
  const bool sixties = take_sixties(text);
  if (!text.starts_with('.')) return false;
  text.remove_prefix(1);
  take(text, decimal);
  return sixties ? text.empty() : is_exponent(text);
}

// ---- Dates ---------------------------------------------------------------------------------------------------------

/// A number of that many digits, at least and at most; -1 where it is not there.
int take_number(std::string_view& text, std::size_t least, std::size_t most) {
  const std::string_view digits = text.substr(0, std::min(text.find_first_not_of("0123456789"), most));
  if (digits.size() < least) return -1;
  int out = 0;
  for (const char c : digits.substr(0, most)) out = out * 10 + (c - '0');
  text.remove_prefix(std::min(digits.size(), most));
  return out;
}

bool take_char(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

int days_in(int year, int month) {
  constexpr std::array<int, 13> days{0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return month == 2 && leap ? 29 : days[static_cast<std::size_t>(month)];
}

struct Timestamp {
  bool matches = false;  ///< It looks like one.
  bool exists = false;
};

/// "Z", "+1", "-01:30" or nothing; `exists` is false for an offset of a day or more.
bool take_zone(std::string_view& text, bool& exists) {
  take(text, " \t");
  if (text.empty() || take_char(text, 'Z')) return text.empty();
  if (!take_char(text, '+') && !take_char(text, '-')) return false;
  const int hour = take_number(text, 1, 2);
  const int minute = take_char(text, ':') ? take_number(text, 2, 2) : 0;
  exists = exists && hour * 60 + minute < 24 * 60;
  return hour >= 0 && minute >= 0 && text.empty();
}

bool take_time(std::string_view& text, bool& exists) {
  const std::string_view gap = text.starts_with('T') || text.starts_with('t') ? text.substr(0, 1) : std::string_view{};
  if (gap.empty() && take(text, " \t").empty()) return false;
  text.remove_prefix(gap.size());
  const int hour = take_number(text, 1, 2);
  const int minute = take_char(text, ':') ? take_number(text, 2, 2) : -1;
  const int second = take_char(text, ':') ? take_number(text, 2, 2) : -1;
  if (hour < 0 || minute < 0 || second < 0) return false;
  if (take_char(text, '.')) take(text, "0123456789");
  exists = exists && hour < 24 && minute < 60 && second < 60;
  return take_zone(text, exists);
}

Timestamp timestamp(std::string_view text) {
  const std::string_view whole = text;
  const int year = take_number(text, 4, 4);
  const int month = take_char(text, '-') ? take_number(text, 1, 2) : -1;
  const int day = take_char(text, '-') ? take_number(text, 1, 2) : -1;
  if (year < 0 || month < 0 || day < 0) return {};
  bool exists = year > 0 && month > 0 && month < 13 && day > 0 && day <= days_in(year, month);
  if (text.empty()) return {whole.size() == 10, exists};  // a date alone has two digits each
  return {take_time(text, exists), exists};
}

bool has_digits(std::string_view integer) {
  integer = without_sign(integer);
  const bool prefixed = integer.starts_with("0b") || integer.starts_with("0x");
  return !prefixed || integer.find_first_not_of('_', 2) != std::string_view::npos;
}

}  // namespace

bool can_construct(Node::Kind kind, std::string_view plain) {
  if (kind == Node::Kind::integer) return has_digits(plain);
  if (kind != Node::Kind::string || plain.size() < 8) return true;
  const Timestamp found = timestamp(plain);
  return !found.matches || found.exists;
}

bool is_timestamp(std::string_view text) {
  const Timestamp found = timestamp(text);
  return found.matches && found.exists;
}

Node::Kind resolve(std::string_view plain) {
  if (is_null(plain)) return Node::Kind::null;
  if (is_boolean(plain)) return Node::Kind::boolean;
  if (is_integer(plain)) return Node::Kind::integer;
  if (is_real(plain)) return Node::Kind::real;
  return Node::Kind::string;
}

}  // namespace oomplan::read
