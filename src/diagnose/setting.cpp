#include "setting.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "words.hpp"

namespace oomplan::diagnose {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view spaces = " \t";

char without_signs(char c) {
  if (c == '-') return '_';
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_of_name(char c) { return is_letter(c) || is_digit(c) || c == '_'; }
bool is_of_value(char c) { return is_of_name(c) || c == '-' || c == '.'; }

std::string without_signs(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = without_signs(c);
  return out;
}

bool alike(std::string_view a, std::string_view b) {
  return a.size() == b.size() && without_signs(a) == without_signs(b);
}

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

// The name before the bracket that is open at the end of `before`, or before the dot that it ends with.
std::string_view section_before(std::string_view before) {
  std::string_view lead = before;
  if (!lead.ends_with('.')) {
    int depth = 0;
    std::size_t open = before.size();
    while (open > 0) {
      const char c = before[--open];
      if (c == '}' || c == ')') ++depth;
      if ((c == '{' || c == '(') && depth-- == 0) break;
      if (open == 0) return {};
    }
    lead = before.substr(0, open);
  } else {
    lead.remove_suffix(1);
  }
  while (!lead.empty() && " :=\"'"sv.find(lead.back()) != std::string_view::npos) lead.remove_suffix(1);
  std::size_t begin = lead.size();
  while (begin > 0 && is_of_name(lead[begin - 1])) --begin;
  return lead.substr(begin);
}

// "runs/batch_size=1/model.pt", "batch_size=1.yaml": the name of a folder or a file.
bool is_of_path(std::string_view before, std::string_view rest) {
  if (before.ends_with('/') || before.ends_with('\\')) return true;
  const std::size_t end = rest.find_first_of(" \t\"',;)}]");
  const std::string_view word = rest.substr(0, end);
  if (!word.starts_with('=')) return false;
  if (word.find('/') != std::string_view::npos || word.find('\\') != std::string_view::npos) return true;
  const std::size_t dot = word.rfind('.');
  return dot != std::string_view::npos && dot + 1 < word.size() && std::ranges::all_of(word.substr(dot + 1), is_letter);
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

// "eval_batch_size" is a setting of that phase, wherever it stands.
bool names_phase(std::string_view name) {
  return name.find("eval") != std::string_view::npos || name.find("val_") != std::string_view::npos;
}

}  // namespace

bool is_of_another_phase(std::string_view section) {
  constexpr std::array words{"eval"sv,      "val"sv,        "valid"sv,      "test"sv,      "infer"sv,
                             "inference"sv, "predict"sv,    "prediction"sv, "generate"sv,  "generation"sv,
                             "sample"sv,    "sampling"sv,   "rollout"sv,    "serve"sv,     "serving"sv,
                             "benchmark"sv, "evaluation"sv, "validation"sv, "evaluator"sv, "valset"sv,
                             "dev"sv,       "critic"sv,     "reward"sv,     "teacher"sv,   "ref"sv};
  const std::string name = without_signs(section);
  for (const std::string_view word : words) {
    if (!name.starts_with(word)) continue;
    const std::string_view rest = std::string_view(name).substr(word.size());
    if (rest.empty() || rest.front() == '_' || rest == "config" || rest == "cfg" || rest == "args") return true;
  }
  return false;
}

SettingsLine::SettingsLine(std::string_view line, bool elsewhere)
    : line_(line), elsewhere_(elsewhere), plain_(without_signs(line)) {}

bool SettingsLine::tells(std::string_view setting, bool as_said) const {
  const std::string name = without_signs(setting.substr(0, setting.find(' ')));
  const std::string_view values = setting.substr(std::min(name.size() + 1, setting.size()));
  for (std::size_t at = plain_.find(name); at != std::string::npos; at = plain_.find(name, at + 1)) {
    const std::string_view before = line_.substr(0, at);
    const std::string_view rest = line_.substr(at + name.size());
    if (!begins_name(before) || (!rest.empty() && is_of_name(rest.front())) || is_of_path(before, rest)) continue;
    if ((elsewhere_ || is_of_another_phase(section_before(before))) && !names_phase(name)) continue;
    if (has_value(rest, is_option(before), values) == as_said) return true;
  }
  return false;
}

}  // namespace oomplan::diagnose
