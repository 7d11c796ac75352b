// Documents as one line a node, and refusals as the user sees them.
#pragma once

#include <string>
#include <string_view>

#include "oomplan/read/document.hpp"

namespace oomplan::read {

inline std::string_view word(Node::Kind kind) {
  constexpr std::string_view words[] = {"null",   "boolean",  "integer", "real",
                                        "string", "sequence", "mapping", "expression"};
  return words[static_cast<int>(kind)];
}

inline std::string place(int line, int column) { return std::to_string(line) + ":" + std::to_string(column); }

inline void describe(const Node& node, const std::string& indent, std::string& out) {
  out += std::string(word(node.kind)) + (node.text.empty() ? "" : " '" + node.text + "'") + " @" +
         place(node.line, node.column) + "\n";
  for (const Node& item : node.items) {
    out += indent + "- ";
    describe(item, indent + "  ", out);
  }
  for (const Entry& entry : node.entries) {
    out += indent + entry.key + " @" + place(entry.line, entry.column) + ": ";
    describe(entry.value, indent + "  ", out);
  }
}

/// "mapping @1:1\na @1:1: integer '1' @1:4\n", or the refusal.
inline std::string read_as(Syntax syntax, std::string text, const ReadBudget& budget = {}) {
  const Result<Document> document = parse_document(std::move(text), "c", syntax, budget);
  std::string out;
  if (document) {
    describe(document->root, "", out);
    return out;
  }
  for (const Diagnostic& diagnostic : document.errors()) out += to_text(diagnostic);
  return out;
}

inline std::string yaml(std::string text, const ReadBudget& budget = {}) {
  return read_as(Syntax::yaml, std::move(text), budget);
}
inline std::string json(std::string text, const ReadBudget& budget = {}) {
  return read_as(Syntax::json, std::move(text), budget);
}
inline std::string toml(std::string text, const ReadBudget& budget = {}) {
  return read_as(Syntax::toml, std::move(text), budget);
}

/// The first line: where, what, code.
inline std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

inline std::string repeated(std::string_view part, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += part;
  return out;
}

}  // namespace oomplan::read
