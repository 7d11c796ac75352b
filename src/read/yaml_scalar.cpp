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

}  // namespace

Node::Kind resolve(std::string_view plain) {
  if (is_null(plain)) return Node::Kind::null;
  if (is_boolean(plain)) return Node::Kind::boolean;
  if (is_integer(plain)) return Node::Kind::integer;
  if (is_real(plain)) return Node::Kind::real;
  return Node::Kind::string;
}

}  // namespace oomplan::read
