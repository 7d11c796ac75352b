#include "rows.hpp"

#include <algorithm>
#include <array>

#include "condition.hpp"
#include "oomplan/core/text.hpp"
#include "versions.hpp"

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

/// The line of `others` for the mapping that this dotted key stands in; null where there is none.
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

/// What an older version than the one that a reason begins with ("axolotl 0.18.0 refuses it …") makes of the key, where
/// one is named: the reason was read of the later one alone.
std::optional<std::string> left_open(std::string_view reason) {
  const ChosenVersions* versions = ChosenVersions::current();
  const std::size_t space = reason.find(' ');
  if (versions == nullptr || space == reason.npos) return std::nullopt;
  const std::string_view package = reason.substr(0, space);
  const std::string_view version = reason.substr(space + 1, reason.find(' ', space + 1) - space - 1);
  const std::string older = versions->older_than(package, version);
  if (older.empty() || version.find_first_not_of("0123456789.") != version.npos) return std::nullopt;
  return "what " + std::string(package) + " " + older + " makes of it, which " + std::string(version) + " refuses,";
}

/// What the rules for this key, one of `all`, find: refusals among the errors, gaps among the unmodelled. True where
/// one was found, and the key's value is not a fact.
bool apply_rules(const KeyFile& file, const Input& input, const Inputs& all, Findings& findings) {
  const auto acts = [&](const KeyLine& rule) {
    return rule.what.starts_with(input.key) && subject_of(rule.what) == input.key && holds(rule.what, all);
  };
  bool any = false;
  for (const KeyLine& rule : file.refused) {
    if (!acts(rule)) continue;
    if (std::optional<std::string> open = left_open(rule.text)) {
      findings.unmodelled.push_back({*std::move(open), input.key, origin_of(input).where});
    } else {
      findings.errors.push_back(at_value(input, "ingest/refused", input.key + ": " + std::string(rule.text)));
    }
    any = true;
  }
  for (const KeyLine& rule : file.unmodelled) {
    if (!acts(rule)) continue;
    findings.unmodelled.push_back({std::string(rule.text), input.key, origin_of(input).where});
    any = true;
  }
  return any;
}

void add_mappings(std::vector<std::string_view>& keys) {
  const std::size_t count = keys.size();
  for (std::size_t i = 0; i < count; ++i) {
    const auto dot = keys[i].find('.');
    if (dot != std::string_view::npos) keys.push_back(keys[i].substr(0, dot));
  }
}

std::vector<std::string_view> known_to(const Table& table) {
  static const KeyFile none{};
  std::vector<std::string_view> out = keys_of(table.file == nullptr ? none : *table.file, table.features);
  for (const Row& row : table.rows) out.push_back(row.key);
  add_mappings(out);
  return out;
}

/// A row, a feature or neither for an input, and what else its key is.
class RowReader {
 public:
  RowReader(const Table& table, const Inputs& all, Findings& findings)
      : table_(table), known_(known_to(table)), all_(all), findings_(findings) {}

  void read(const Inputs& inputs) {
    for (const Input& input : inputs) read(input);
  }

 private:
  void read(const Input& input) {
    const auto named = [&](const auto& row) { return row.key == input.key; };
    const auto row = std::ranges::find_if(table_.rows, named);
    const auto feature = std::ranges::find_if(table_.features, named);
    if (table_.file != nullptr && apply_rules(*table_.file, input, all_, findings_)) return;
    if (feature != table_.features.end() && feature->active(*input.value)) {
      findings_.unmodelled.push_back({std::string(feature->name), input.key, origin_of(input).where});
    } else if (row != table_.rows.end()) {
      read_value(*row, input);
    } else if (holds_keys(input.key)) {
      read_mapping(input);
    } else if (!std::ranges::count(known_, input.key)) {
      report_unknown(input);
    }
  }

  void report_unknown(const Input& input) {
    const KeyLine* found = table_.file == nullptr ? nullptr : mapping_of(*table_.file, input.key);
    if (found == nullptr) return warn_unknown(input, known_, findings_);
    findings_.unmodelled.push_back({std::string(found->text), input.key, origin_of(input).where});
  }

  void read_value(const Row& row, const Input& input) {
    const bool good = row.read(*input.value, origin_of(input));
    if (good || input.value->kind == Node::Kind::null) return;
    findings_.errors.push_back(bad_value(input, row.expected, row.choices));
    findings_.bad_keys.push_back(input.key);
  }

  bool holds_keys(std::string_view key) const {
    return std::ranges::any_of(known_, [&](std::string_view other) {
      return other.size() > key.size() && other[key.size()] == '.' && other.starts_with(key);
    });
  }

  void read_mapping(const Input& input) {
    if (input.value->kind == Node::Kind::null) return;
    if (!input.value->is_mapping()) findings_.errors.push_back(bad_value(input, "a mapping", {}));
    read(inputs_of(*input.document, *input.value, input.key + ".", input.command_line));
  }

  const Table& table_;
  std::vector<std::string_view> known_;
  const Inputs& all_;
  Findings& findings_;
};

}  // namespace

Diagnostic bad_value(const Input& input, std::string_view expected, std::span<const std::string_view> choices) {
  const Node& node = *input.value;
  return at_value(
      input, "ingest/bad-value",
      input.key + ": expected " + std::string(expected) + ", found " + shown(node) + guess(node, expected, choices));
}

std::vector<std::string_view> keys_of(const KeyFile& file, std::span<const Feature> features) {
  std::vector<std::string_view> out;
  for (const KeyLine& line : file.no_effect) out.push_back(line.what);
  for (const auto* rules : {&file.refused, &file.unmodelled}) {
    for (const KeyLine& rule : *rules) out.push_back(subject_of(rule.what));
  }
  for (const KeyLine& line : file.keys) out.push_back(line.what);
  for (const Feature& feature : features) out.push_back(feature.key);
  add_mappings(out);
  return out;
}

void read_rows(const Table& table, const Inputs& inputs, Findings& findings) {
  RowReader(table, inputs, findings).read(inputs);
}

std::string nested_yaml(const Lines& lines) {
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
