#include "setting.hpp"

#include <algorithm>
#include <optional>

#include "words.hpp"

namespace oomplan::diagnose {
namespace {

constexpr std::string_view spaces = " \t";

char plain(char c) {
  if (c == '-') return '_';
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_of_name(char c) { return is_letter(c) || is_digit(c) || c == '_'; }
bool is_of_value(char c) { return is_of_name(c) || c == '-' || c == '.'; }

std::string plain(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = plain(c);
  return out;
}

bool alike(std::string_view a, std::string_view b) { return a.size() == b.size() && plain(a) == plain(b); }

void skip(std::string_view& text, std::string_view what) {
  text.remove_prefix(std::min(text.find_first_not_of(what), text.size()));
}

bool is_option(std::string_view before) { return before.ends_with("--") || before.ends_with(" -") || before == "-"; }

// A hyphen that joins two words makes them one name.
bool begins_name(std::string_view before) {
  if (before.empty() || is_option(before)) return true;
  return !is_of_name(before.back()) && before.back() != '-';
}

bool is_one_of(std::string_view value, std::string_view values) {
  for (;;) {
    const std::size_t bar = values.find('|');
    const std::string_view one = values.substr(0, bar);
    if (alike(value, one)) return true;
    if (one == "on" && (alike(value, "true") || alike(value, "yes") || value == "1")) return true;
    if (bar == std::string_view::npos) return false;
    values.remove_prefix(bar + 1);
  }
}

// What stands between a name and its value; a space alone is enough behind an option only.
bool skip_to_value(std::string_view& text, bool option) {
  const std::size_t before = text.size();
  skip(text, "\"'");
  skip(text, spaces);
  bool told = option && text.size() < before;
  if (text.starts_with("=") || text.starts_with(":")) {
    text.remove_prefix(1);
    told = true;
  } else if (text.starts_with("..")) {
    skip(text, ".");
    told = true;
  }
  skip(text, spaces);
  skip(text, "\"'");
  return told;
}

// Whether the value is one of `values`; nothing where none is told.
std::optional<bool> has_value(std::string_view rest, bool option, std::string_view values) {
  if (!skip_to_value(rest, option)) {
    if (option && rest.empty()) return is_one_of("true", values);
    return std::nullopt;
  }
  const auto end = std::find_if_not(rest.begin(), rest.end(), is_of_value);
  std::string_view value = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
  while (value.ends_with('.')) value.remove_suffix(1);
  if (option && (value.empty() || value.starts_with("--"))) value = "true";
  if (value.empty()) return std::nullopt;
  return is_one_of(value, values);
}

}  // namespace

SettingsLine::SettingsLine(std::string_view line) : line_(line), plain_(plain(line)) {}

bool SettingsLine::tells(std::string_view setting, bool as_said) const {
  const std::string name = plain(setting.substr(0, setting.find(' ')));
  const std::string_view values = setting.substr(std::min(name.size() + 1, setting.size()));
  for (std::size_t at = plain_.find(name); at != std::string::npos; at = plain_.find(name, at + 1)) {
    const std::string_view before = line_.substr(0, at);
    const std::string_view rest = line_.substr(at + name.size());
    if (begins_name(before) && (rest.empty() || !is_of_name(rest.front())) &&
        has_value(rest, is_option(before), values) == as_said)
      return true;
  }
  return false;
}

}  // namespace oomplan::diagnose
