// Changes values in the text of a config, and leaves everything else as it is.
#include <algorithm>
#include <optional>
#include <string_view>

#include "oomplan/advise/advise.hpp"
#include "oomplan/ingest/keys.hpp"
#include "place.hpp"

namespace oomplan {
namespace {

using namespace advise;

Diagnostic refused(std::string message) { return {.code = "advise/no-patch", .message = std::move(message)}; }

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string json_of(const Node& node) {
  if (node.is_sequence()) {
    std::string out = "[";
    for (const Node& item : node.items) out += (out.size() > 1 ? ", " : "") + json_of(item);
    return out + "]";
  }
  if (node.is_mapping()) {
    std::string out = "{";
    for (const Entry& entry : node.entries)
      out += (out.size() > 1 ? ", " : "") + in_quotes(entry.key) + ": " + json_of(entry.value);
    return out + "}";
  }
  if (node.kind == Node::Kind::string) return in_quotes(node.text);
  return node.kind == Node::Kind::null ? "null" : node.text;
}

/// As the place takes it: JSON in JSON, and in braces where a comma or a bracket in it would end it.
std::string spelled(const std::string& value, Syntax syntax, bool in_braces) {
  const bool plain = value.starts_with('[') || value.find_first_of(",[]{}") == value.npos;
  if (syntax == Syntax::yaml && (!in_braces || plain)) return value;
  const Result<Document> document = parse_document(value, "value", Syntax::yaml);
  return document ? json_of(document->root) : value;
}

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

/// Below the sibling, and all of its value.
Splice added_below(const Document& document, const Entry& beside, const KeyChange& change) {
  const std::string_view text = document.text;
  const Place place = *place_of(document, {&beside, false});
  const std::size_t end = line_end(text, place.at + place.size);
  const std::string indent(static_cast<std::size_t>(beside.column - 1), ' ');
  const std::string newline = end > 0 && text[end - 1] == '\r' ? "\r\n" : "\n";
  const std::string row = indent + change.key + ": " + spelled(change.value, document.syntax, false);
  if (end == text.size()) {
    const bool ends = text.find("\r\n") != text.npos;
    return {end, 0, (ends ? "\r\n" : "\n") + row};
  }
  return {end + 1, 0, row + newline};
}

/// Below the last key of the mapping that it belongs in, which is there and has its keys on lines of their own.
std::optional<Splice> added_within(const Document& document, const KeyChange& change) {
  const std::size_t dot = change.key.rfind('.');
  const Node* mapping = find_path(document.root, change.key.substr(0, dot));
  if (mapping == nullptr || mapping->entries.empty()) return std::nullopt;
  const std::size_t at = offset_of(document.text, mapping->line) + static_cast<std::size_t>(mapping->column - 1);
  const Entry& last = mapping->entries.back();
  if (document.text[at] == '{' || !place_of(document, {&last, false})) return std::nullopt;
  return added_below(document, last, {change.key.substr(dot + 1), change.value});
}

std::optional<Splice> added(const Document& document, const KeyChange& change, const std::vector<KeyChange>& keys) {
  const bool in_braces = is_in_braces(document);
  const bool dotted = change.key.find('.') != change.key.npos;
  if (dotted) return in_braces ? std::nullopt : added_within(document, change);
  const Entry* beside = sibling(document, keys, in_braces);
  if (beside == nullptr) return std::nullopt;
  return in_braces ? added_in_braces(document, *beside, change) : added_below(document, *beside, change);
}

}  // namespace

Result<std::string> patched(const Document& document, const std::vector<KeyChange>& keys) {
  if (document.syntax == Syntax::toml) return refused("TOML is not patched");
  if (is_script(document.syntax)) return refused("scripts are not patched");
  std::vector<Splice> splices;
  for (const KeyChange& change : keys) {
    if (const Spot spot = spot_of(document, change.key); spot.entry != nullptr) {
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
  std::ranges::stable_sort(splices, {}, &Splice::at);
  std::string out = document.text;
  for (std::size_t i = splices.size(); i-- > 0;) out.replace(splices[i].at, splices[i].size, splices[i].text);
  return out;
}

}  // namespace oomplan
