#include "fields.hpp"

#include <algorithm>
#include <utility>

#include "errors.hpp"
#include "oomplan/core/text.hpp"

namespace oomplan::catalog {

void put(Node& mapping, const std::string& key, Node value) {
  const auto found = std::ranges::find(mapping.entries, key, &Entry::key);
  if (found != mapping.entries.end()) {
    found->value = std::move(value);
  } else {
    mapping.entries.push_back({key, value.line, value.column, std::move(value)});
  }
}

Fields::Fields(const Document& document, const Node& mapping, Diagnostics& errors)
    : document_(document), mapping_(mapping), errors_(errors) {
  if (!mapping.is_mapping()) refuse(mapping, "expected keys and values here, not " + shown(mapping));
}

void Fields::only(std::span<const std::string_view> known) {
  for (const Entry& entry : mapping_.entries) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    Diagnostic error = error_at(document_, entry.value, "catalog/bad-file", "unknown key " + shown(entry.key),
                                "known keys: " + joined({known.begin(), known.end()}, " and "));
    error.where = document_.at(entry);
    error.excerpt = document_.line(entry.line);
    errors_.push_back(std::move(error));
  }
}

const Node* Fields::required(std::string_view key) {
  const Node* node = find(key);
  if (node == nullptr) refuse(mapping_, shown(key) + " is missing");
  return node;
}

std::string Fields::text(std::string_view key, bool is_required) {
  const Node* node = is_required ? required(key) : find(key);
  if (node == nullptr) return {};
  if (node->is_scalar() && !node->text.empty()) return node->text;
  refuse(*node, shown(key) + " must be text, not " + shown(*node));
  return {};
}

Bytes Fields::size(std::string_view key) {
  const std::string written = text(key);
  if (const std::optional<Bytes> bytes = parse_bytes(written)) return *bytes;
  if (!written.empty()) refuse(*find(key), shown(key) + " must be a size (\"512 MiB\"), not " + shown(written));
  return {};
}

std::vector<std::string> Fields::texts(std::string_view key) {
  std::vector<std::string> out;
  const Node* node = find(key);
  if (node == nullptr) return out;
  if (!node->is_sequence()) refuse(*node, shown(key) + " must be a list, not " + shown(*node));
  for (const Node& item : node->items) {
    if (!item.is_scalar()) refuse(item, shown(key) + " must be a list of texts, without " + shown(item));
    out.push_back(item.text);
  }
  return out;
}

std::optional<std::int64_t> Fields::count(std::string_view key, bool is_required) {
  const Node* node = is_required ? required(key) : find(key);
  if (node == nullptr) return std::nullopt;
  const std::optional<std::int64_t> value = node->as_integer();
  if (value && *value > 0) return value;
  refuse(*node, shown(key) + " must be a whole number above 0, not " + shown(*node));
  return std::nullopt;
}

void Fields::refuse(const Node& node, std::string message) {
  errors_.push_back(error_at(document_, node, "catalog/bad-file", std::move(message)));
}

}  // namespace oomplan::catalog
