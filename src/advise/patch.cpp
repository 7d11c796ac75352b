// Changes values in the text of a config, and leaves everything else as it is.
#include <algorithm>
#include <optional>
#include <string_view>

#include "oomplan/advise/advise.hpp"

namespace oomplan {
namespace {

Diagnostic refused(std::string message) { return {.code = "advise/no-patch", .message = std::move(message)}; }

/// Where line `line` (from 1) begins.
std::size_t offset_of(std::string_view text, int line) {
  std::size_t at = 0;
  for (int i = 1; i < line && at < text.size(); ++i) at = std::min(text.find('\n', at), text.size() - 1) + 1;
  return at;
}

std::size_t line_end(std::string_view text, std::size_t at) { return std::min(text.find('\n', at), text.size()); }

const Entry* entry_at(const Node& root, std::string_view key) {
  const std::size_t dot = key.find('.');
  const auto found = std::ranges::find(root.entries, key.substr(0, dot), &Entry::key);
  if (found == root.entries.end() || dot == key.npos) return found == root.entries.end() ? nullptr : &*found;
  return entry_at(found->value, key.substr(dot + 1));
}

/// The end of the quoted text that begins at `at`.
std::size_t quoted_end(std::string_view text, std::size_t at, Syntax syntax) {
  const char quote = text[at];
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\' && (quote == '"' || syntax == Syntax::json)) {
      ++i;
    } else if (text[i] == quote) {
      return i + 1;
    }
  }
  return text.size();
}

/// The end of a list in brackets, its strings left aside.
std::size_t list_end(std::string_view text, std::size_t at, Syntax syntax) {
  int depth = 0;
  for (std::size_t i = at; i < text.size(); ++i) {
    if (text[i] == '"' || text[i] == '\'') {
      i = quoted_end(text, i, syntax) - 1;
    } else if (text[i] == '[') {
      ++depth;
    } else if (text[i] == ']' && --depth == 0) {
      return i + 1;
    }
  }
  return text.size();
}

/// Whether the entry stands in braces: then a comma ends its value.
bool in_braces(const Document& document, const Entry& entry) {
  const std::size_t line = offset_of(document.text, entry.line);
  const std::string_view before =
      std::string_view(document.text).substr(line, static_cast<std::size_t>(entry.column - 1));
  return document.syntax == Syntax::json || before.find('{') != before.npos;
}

std::size_t plain_end(const Document& document, const Entry& entry, std::size_t at) {
  const std::string_view text = document.text;
  std::size_t end = line_end(text, at);
  const std::string_view line = text.substr(at, end - at);
  end = at + std::min(line.find(" #"), line.size());
  if (in_braces(document, entry)) end = std::min(end, text.find_first_of(",}]", at));
  while (end > at && (text[end - 1] == ' ' || text[end - 1] == '\r' || text[end - 1] == '\t')) --end;
  return end;
}

struct Place {
  std::size_t at = 0;
  std::size_t size = 0;
};

/// Where the value stands. Not of block lists, mappings, texts over several lines or tagged values.
std::optional<Place> place_of(const Document& document, const Entry& entry) {
  const std::string_view text = document.text;
  const Node& value = entry.value;
  if (value.line != entry.line || value.column <= 0 || value.is_mapping()) return std::nullopt;
  const std::size_t at = offset_of(text, value.line) + static_cast<std::size_t>(value.column - 1);
  if (at >= text.size() || std::string_view("|>&*!{").find(text[at]) != std::string_view::npos) return std::nullopt;
  if (value.is_sequence() && text[at] != '[') return std::nullopt;
  if (text[at] == '[') return Place{at, list_end(text, at, document.syntax) - at};
  const bool quoted = text[at] == '"' || text[at] == '\'';
  const std::size_t end = quoted ? quoted_end(text, at, document.syntax) : plain_end(document, entry, at);
  return end > at ? std::optional(Place{at, end - at}) : std::nullopt;
}

std::string json_of(const Node& node) {
  if (node.is_sequence()) {
    std::string out = "[";
    for (const Node& item : node.items) out += (out.size() > 1 ? ", " : "") + json_of(item);
    return out + "]";
  }
  if (node.kind == Node::Kind::string) return '"' + node.text + '"';
  return node.kind == Node::Kind::null ? "null" : node.text;
}

std::string spelled(const std::string& value, Syntax syntax) {
  if (syntax == Syntax::yaml) return value;
  const Result<Document> document = parse_document(value, "value", Syntax::yaml);
  return document ? json_of(document->root) : value;
}

/// A sibling on a line of its own, after which a key may stand: the last whose key another change names, else the last.
const Entry* sibling(const Document& document, const std::vector<KeyChange>& keys) {
  const Entry* out = nullptr;
  bool near = false;
  const int indent = document.root.entries.empty() ? 0 : document.root.entries.front().column;
  for (const Entry& entry : document.root.entries) {
    if (entry.column != indent || !place_of(document, entry)) continue;
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

/// In JSON the new key goes before its sibling, where a comma after it is always right.
std::optional<Splice> added(const Document& document, const KeyChange& change, const std::vector<KeyChange>& keys) {
  const Entry* beside = sibling(document, keys);
  if (beside == nullptr || change.key.find('.') != change.key.npos) return std::nullopt;
  const std::string_view text = document.text;
  const std::size_t line = offset_of(text, beside->line);
  const std::size_t end = line_end(text, line);
  const std::string_view indent = text.substr(line, static_cast<std::size_t>(beside->column - 1));
  if (indent.find_first_not_of(" \t") != indent.npos) return std::nullopt;
  const std::string newline = end > line && text[end - 1] == '\r' ? "\r\n" : "\n";
  const std::string value = spelled(change.value, document.syntax);
  if (document.syntax == Syntax::json)
    return Splice{line, 0, std::string(indent) + '"' + change.key + "\": " + value + "," + newline};
  const std::string row = std::string(indent) + change.key + ": " + value;
  if (end == text.size()) return Splice{end, 0, newline + row};
  return Splice{end + 1, 0, row + newline};
}

}  // namespace

Result<std::string> patched(const Document& document, const std::vector<KeyChange>& keys) {
  if (document.syntax == Syntax::toml) return refused("TOML is not patched");
  std::vector<Splice> splices;
  for (const KeyChange& change : keys) {
    const Entry* entry = entry_at(document.root, change.key);
    if (entry != nullptr) {
      const auto place = place_of(document, *entry);
      if (!place) return refused("the value of " + change.key + " is not on one line of its own");
      splices.push_back({place->at, place->size, spelled(change.value, document.syntax)});
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
