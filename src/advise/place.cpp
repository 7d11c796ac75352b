#include "place.hpp"

#include <algorithm>

namespace oomplan::advise {
namespace {

constexpr std::string_view blanks = " \t";

/// Whether a mapping is written in braces: what stands where it begins says so.
bool begins_with_brace(const Document& document, const Node& mapping) {
  if (mapping.line <= 0 || mapping.column <= 0) return false;
  const std::size_t at = offset_of(document.text, mapping.line) + static_cast<std::size_t>(mapping.column - 1);
  return at < document.text.size() && document.text[at] == '{';
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

std::size_t plain_end(const Document& document, bool in_braces, std::size_t at) {
  const std::string_view text = document.text;
  std::size_t end = line_end(text, at);
  const std::string_view line = text.substr(at, end - at);
  end = at + std::min(line.find(document.syntax == Syntax::toml ? "#" : " #"), line.size());
  if (in_braces) end = std::min(end, text.find_first_of(",}]", at));
  while (end > at && (text[end - 1] == ' ' || text[end - 1] == '\r' || text[end - 1] == '\t')) --end;
  return end;
}

/// Behind the key's colon, which is '=' in TOML; nothing where the key is not written as it reads ("? key").
std::optional<std::size_t> after_colon(const Document& document, const Entry& entry) {
  const std::string_view text = document.text;
  std::size_t at = key_offset(document, entry);
  if (at >= text.size()) return std::nullopt;
  if (text[at] == '"' || text[at] == '\'') {
    at = quoted_end(text, at, document.syntax);
  } else if (text.substr(at, entry.key.size()) == entry.key) {
    at += entry.key.size();
  } else {
    return std::nullopt;
  }
  at = std::min(text.find_first_not_of(blanks, at), text.size());
  const char colon = document.syntax == Syntax::toml ? '=' : ':';
  return at < text.size() && text[at] == colon ? std::optional(at + 1) : std::nullopt;
}

/// The next byte that is no blank, line end or comment.
std::size_t next_token(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    at = std::min(text.find_first_not_of(" \t\r\n", at), text.size());
    if (at == text.size() || text[at] != '#') return at;
    at = line_end(text, at);
  }
  return at;
}

bool begins_at(const Document& document, const Node& value, std::size_t at) {
  return value.line > 0 && value.column > 0 &&
         at == offset_of(document.text, value.line) + static_cast<std::size_t>(value.column - 1);
}

/// Whether null is written out, as YAML has it.
bool is_null_word(std::string_view rest) {
  return rest.starts_with('~') || rest.starts_with("null") || rest.starts_with("Null") || rest.starts_with("NULL");
}

/// Nothing is written behind the colon: what comes next, at `next`, belongs to another key or ends the mapping.
bool is_empty(const Document& document, const Spot& spot, std::size_t colon, std::size_t next) {
  const std::string_view text = document.text;
  if (spot.entry->value.kind != Node::Kind::null) return false;
  if (next < line_end(text, colon)) return spot.in_braces && (text[next] == ',' || text[next] == '}');
  return !(begins_at(document, spot.entry->value, next) && is_null_word(text.substr(next)));
}

}  // namespace

std::size_t offset_of(std::string_view text, int line) {
  std::size_t at = 0;
  for (int i = 1; i < line && at < text.size(); ++i) at = std::min(text.find('\n', at), text.size() - 1) + 1;
  return at;
}

std::size_t line_end(std::string_view text, std::size_t at) { return std::min(text.find('\n', at), text.size()); }

std::size_t key_offset(const Document& document, const Entry& entry) {
  return offset_of(document.text, entry.line) + static_cast<std::size_t>(std::max(entry.column, 1) - 1);
}

bool is_in_braces(const Document& document) {
  return document.syntax == Syntax::json || begins_with_brace(document, document.root);
}

Spot spot_of(const Document& document, std::string_view key) {
  const Node* mapping = &document.root;
  bool in_braces = is_in_braces(document);
  while (true) {
    const std::size_t dot = key.find('.');
    const auto found = std::ranges::find(mapping->entries, key.substr(0, dot), &Entry::key);
    if (found == mapping->entries.end()) return {};
    if (dot == key.npos) return {&*found, in_braces};
    mapping = &found->value;
    in_braces = in_braces || begins_with_brace(document, *mapping);
    key.remove_prefix(dot + 1);
  }
}

std::optional<Place> place_of(const Document& document, const Spot& spot) {
  const std::string_view text = document.text;
  const Node& value = spot.entry->value;
  const std::optional<std::size_t> colon = after_colon(document, *spot.entry);
  if (!colon || value.is_mapping()) return std::nullopt;
  const std::size_t at = next_token(text, *colon);
  if (is_empty(document, spot, *colon, at)) return Place{*colon, 0, " "};
  // Of an alias the node has its anchor's place, and before a value there may be an anchor or a tag.
  if (at >= text.size() || !begins_at(document, value, at)) return std::nullopt;
  if (std::string_view("|>&*!{").find(text[at]) != std::string_view::npos) return std::nullopt;
  if (value.is_sequence() && text[at] != '[') return std::nullopt;
  if (text[at] == '[') return Place{at, list_end(text, at, document.syntax) - at};
  const bool quoted = text[at] == '"' || text[at] == '\'';
  if (quoted && document.syntax == Syntax::toml && text.substr(at, 3) == std::string(3, text[at])) return std::nullopt;
  const std::size_t end = quoted ? quoted_end(text, at, document.syntax) : plain_end(document, spot.in_braces, at);
  return end > at ? std::optional(Place{at, end - at}) : std::nullopt;
}

}  // namespace oomplan::advise
