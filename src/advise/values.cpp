#include "values.hpp"

#include "oomplan/core/result.hpp"

namespace oomplan::advise {
namespace {

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

}  // namespace

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string spelled(const std::string& value, Syntax syntax, bool in_braces) {
  const bool plain = value.starts_with('[') || value.find_first_of(",[]{}") == value.npos;
  if (syntax == Syntax::yaml && (!in_braces || plain)) return value;
  const Result<Document> document = parse_document(value, "value", Syntax::yaml);
  return document ? json_of(document->root) : value;
}

}  // namespace oomplan::advise
