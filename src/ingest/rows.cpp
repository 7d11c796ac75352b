#include "rows.hpp"

#include <algorithm>
#include <array>

#include "condition.hpp"
#include "oomplan/text.hpp"

namespace oomplan::ingestion {
namespace {

std::optional<std::string> spelled_number(const Node& node) {
  constexpr std::array<std::string_view, 13> words{"zero",  "one",   "two",  "three", "four",   "five",  "six",
                                                   "seven", "eight", "nine", "ten",   "eleven", "twelve"};
  const auto word = std::ranges::find(words, node.text);
  return word == words.end() ? std::nullopt : std::optional(std::to_string(word - words.begin()));
}

std::string guess(const Node& node, std::string_view expected, std::span<const std::string_view> choices) {
  if (!node.is_scalar()) return {};
  const auto near = choices.empty() ? std::nullopt : nearest(node.text, choices);
  if (near) return "; did you mean " + *near + "?";
  const auto digit = spelled_number(node);
  return digit && expected.find("integer") != expected.npos ? "; did you mean " + *digit + "?" : "";
}

}  // namespace

Diagnostic bad_value(const Input& input, std::string_view expected, std::span<const std::string_view> choices) {
  const Node& node = *input.value;
  return at_value(
      input, "ingest/bad-value",
      input.key + ": expected " + std::string(expected) + ", found " + shown(node) + guess(node, expected, choices));
}

const KeyLine* mapping_of(const KeyFile& file, std::string_view key) {
  const auto found = std::ranges::find(file.others, key.substr(0, key.find('.')), &KeyLine::what);
  return found == file.others.end() || key.find('.') == key.npos ? nullptr : &*found;
}

void warn_unknown(const Input& input, std::span<const std::string_view> known, Findings& findings) {
  // A hostile file can hold a hundred thousand of them, and the nearest name costs a walk over the whole table.
  constexpr int most = 50;
  if (++findings.unknown_keys > most) return;
  const auto near = nearest(input.key, known);
  findings.warnings.push_back(at_key(input, Severity::warning, "ingest/unknown-key",
                                     "unknown key " + shown({Node::Kind::string, input.key}) + ", ignored",
                                     near ? "did you mean " + *near + "?" : ""));
}

void add_keys(const KeyFile& file, std::vector<std::string_view>& keys) {
  for (const KeyLine& line : file.no_effect) keys.push_back(line.what);
  for (const auto* rules : {&file.refused, &file.unmodelled}) {
    for (const KeyLine& rule : *rules) keys.push_back(subject_of(rule.what));
  }
}

bool apply_rules(const KeyFile& file, const Input& input, const Inputs& all, Findings& findings) {
  const auto acts = [&](const KeyLine& rule) {
    return rule.what.starts_with(input.key) && subject_of(rule.what) == input.key && holds(rule.what, all);
  };
  bool any = false;
  for (const KeyLine& rule : file.refused) {
    if (!acts(rule)) continue;
    findings.errors.push_back(at_value(input, "ingest/refused", input.key + ": " + std::string(rule.text)));
    any = true;
  }
  for (const KeyLine& rule : file.unmodelled) {
    if (!acts(rule)) continue;
    findings.unmodelled.push_back({std::string(rule.text), input.key, origin_of(input).where});
    any = true;
  }
  return any;
}

std::string nested_yaml(const std::vector<std::pair<std::string_view, std::string>>& lines) {
  std::string out;
  std::string_view open;
  for (const auto& [key, value] : lines) {
    const auto dot = key.find('.');
    const std::string_view outer = dot == key.npos ? std::string_view{} : key.substr(0, dot);
    if (!outer.empty() && outer != open) out += std::string(outer) + ":\n";
    open = outer;
    out += (outer.empty() ? "" : "  ") + std::string(key.substr(outer.empty() ? 0 : dot + 1)) + ": " + value + "\n";
  }
  return out;
}

}  // namespace oomplan::ingestion
