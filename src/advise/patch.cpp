// Changes values in the text of a config, and leaves everything else as it is.
#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "oomplan/advise/advise.hpp"
#include "oomplan/ingest/keys.hpp"
#include "place.hpp"
#include "values.hpp"

namespace oomplan {
namespace {

using namespace advise;

Diagnostic refused(std::string message) { return {.code = "advise/no-patch", .message = std::move(message)}; }

/// A sibling after which a key may stand: the last whose key another change names, else the last.
const Entry* sibling(const Document& document, const std::vector<KeyChange>& keys, bool in_braces) {
  const Entry* out = nullptr;
  bool near = false;
  const int indent = document.root.entries.empty() ? 0 : document.root.entries.front().column;
  for (const Entry& entry : document.root.entries) {
    if ((!in_braces && entry.column != indent) || !place_of(document, {&entry, in_braces})) continue;
    const bool named = std::ranges::count(keys, entry.key, &KeyChange::key) > 0;
    if (near && !named) continue;
    near = named;
    out = &entry;
  }
  return out;
}

std::string row_of(const Document& document, const std::string& key, const std::string& value) {
  const std::string_view colon = document.syntax == Syntax::toml ? " = " : ": ";
  return key + std::string(colon) + spelled(value, document.syntax, false);
}

/// The line end that the text has.
std::string newline_of(const Document& document) {
  return document.text.find("\r\n") == std::string::npos ? "\n" : "\r\n";
}

constexpr std::string_view blanks = " \t";

struct Splice {
  std::size_t at = 0;
  std::size_t size = 0;
  std::string text{};
};

/// In braces before its sibling, where a comma after it is always right; on a line of its own where the sibling has
/// one.
Splice added_in_braces(const Document& document, const Entry& beside, const KeyChange& change) {
  const std::string_view text = document.text;
  const std::size_t at = key_offset(document, beside);
  const std::size_t line = offset_of(text, beside.line);
  const std::size_t end = line_end(text, line);
  const std::string_view indent = text.substr(line, at - line);
  const bool own_line = indent.find_first_not_of(" \t") == indent.npos;
  const bool is_json = document.syntax == Syntax::json;
  const std::string entry =
      (is_json ? in_quotes(change.key) : change.key) + ": " + spelled(change.value, document.syntax, true) + ",";
  if (!own_line) return {at, 0, entry + " "};
  const std::string newline = end > line && text[end - 1] == '\r' ? "\r\n" : "\n";
  return {line, 0, std::string(indent) + entry + newline};
}

/// On a line of its own behind the one that has the byte `at`.
Splice below_line(const Document& document, std::size_t at, const std::string& row) {
  const std::string_view text = document.text;
  const std::size_t end = line_end(text, at);
  if (end == text.size()) return {end, 0, newline_of(document) + row};
  return {end + 1, 0, row + (end > 0 && text[end - 1] == '\r' ? "\r\n" : "\n")};
}

/// Below the sibling, and all of its value.
Splice added_below(const Document& document, const Entry& beside, const KeyChange& change) {
  const Place place = *place_of(document, {&beside, false});
  const std::string indent(static_cast<std::size_t>(beside.column - 1), ' ');
  return below_line(document, place.at + place.size, indent + row_of(document, change.key, change.value));
}

/// Below the last key of the mapping that it belongs in, which is there and has its keys on lines of their own.
std::optional<Splice> added_within(const Document& document, const Node& mapping, const KeyChange& change) {
  const std::string_view text = document.text;
  const std::size_t at = offset_of(text, mapping.line) + static_cast<std::size_t>(mapping.column - 1);
  if (at >= text.size() || text[at] == '{') return std::nullopt;
  const KeyChange own{change.key.substr(change.key.rfind('.') + 1), change.value};
  for (auto at_entry = mapping.entries.rbegin(); at_entry != mapping.entries.rend(); ++at_entry) {
    const Entry& entry = *at_entry;
    const bool begins_line =
        text.substr(0, key_offset(document, entry)).find_last_not_of(blanks) == offset_of(text, entry.line) - 1;
    if (begins_line && place_of(document, {&entry, false})) return added_below(document, entry, own);
  }
  const std::string head = "[" + change.key.substr(0, change.key.rfind('.')) + "]";
  if (text.substr(at, head.size()) != head) return std::nullopt;
  return below_line(document, at, row_of(document, own.key, own.value));
}

/// Tables of TOML that are not there, at the end, in the order of `keys`.
std::string new_tables(const Document& document, const std::vector<KeyChange>& keys) {
  std::vector<std::pair<std::string, std::string>> tables;
  for (const KeyChange& change : keys) {
    const std::size_t dot = change.key.rfind('.');
    const std::string table = change.key.substr(0, dot);
    auto found = std::ranges::find(tables, table, &std::pair<std::string, std::string>::first);
    if (found == tables.end()) found = tables.insert(found, {table, {}});
    found->second += row_of(document, change.key.substr(dot + 1), change.value) + newline_of(document);
  }
  std::string out;
  for (const auto& [table, rows] : tables)
    out += newline_of(document) + "[" + table + "]" + newline_of(document) + rows;
  return out;
}

bool needs_table(const Document& document, const std::string& key) {
  const std::size_t dot = key.rfind('.');
  return document.syntax == Syntax::toml && dot != key.npos && find_path(document.root, key.substr(0, dot)) == nullptr;
}

std::optional<Splice> added(const Document& document, const KeyChange& change, const std::vector<KeyChange>& keys) {
  const bool in_braces = is_in_braces(document);
  const bool dotted = change.key.find('.') != change.key.npos;
  if (dotted) {
    const Node* mapping = find_path(document.root, change.key.substr(0, change.key.rfind('.')));
    return in_braces || mapping == nullptr ? std::nullopt : added_within(document, *mapping, change);
  }
  const Entry* beside = sibling(document, keys, in_braces);
  if (beside == nullptr) return std::nullopt;
  return in_braces ? added_in_braces(document, *beside, change) : added_below(document, *beside, change);
}

}  // namespace

Result<std::string> patched(const Document& document, const std::vector<KeyChange>& keys) {
  if (is_script(document.syntax)) return refused("scripts are not patched");
  std::vector<Splice> splices;
  std::vector<KeyChange> of_new_tables;
  for (const KeyChange& change : keys) {
    if (needs_table(document, change.key)) {
      of_new_tables.push_back(change);
    } else if (const Spot spot = spot_of(document, change.key); spot.entry != nullptr) {
      const auto place = place_of(document, spot);
      if (!place) return refused("the value of " + change.key + " is written over several lines, or elsewhere");
      splices.push_back(
          {place->at, place->size, std::string(place->lead) + spelled(change.value, document.syntax, spot.in_braces)});
    } else if (auto splice = added(document, change, keys)) {
      splices.push_back(std::move(*splice));
    } else {
      return refused("there is no place beside which " + change.key + " could be added");
    }
  }
  if (!of_new_tables.empty()) {
    const bool ends = document.text.empty() || document.text.ends_with('\n');
    splices.push_back(
        {document.text.size(), 0, (ends ? "" : newline_of(document)) + new_tables(document, of_new_tables)});
  }
  std::ranges::stable_sort(splices, {}, &Splice::at);
  std::string out = document.text;
  for (std::size_t i = splices.size(); i-- > 0;) out.replace(splices[i].at, splices[i].size, splices[i].text);
  return out;
}

}  // namespace oomplan
