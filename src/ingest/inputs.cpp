#include "inputs.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "oomplan/core/text.hpp"

namespace oomplan::ingestion {
namespace {

// A hostile value may be megabytes long; a message is not.
std::string shortened(const std::string& text) {
  constexpr std::size_t longest = 60;
  return text.size() <= longest ? text : text.substr(0, longest) + "…";
}

Diagnostic diagnostic(const Input& input, const Location& where, std::string_view code, std::string message,
                      std::string hint) {
  Diagnostic out{Severity::error, std::string(code), std::move(message), where, std::move(hint), {}};
  if (input.command_line.empty()) out.excerpt = std::string(input.document->excerpt(where));
  return out;
}

std::string written(const Node& node) {
  if (node.kind == Node::Kind::null) return "null";
  std::string out = shortened(node.text);
  for (const Node& item : node.items) out += (out.empty() ? "" : ", ") + shortened(item.text);
  return out;
}

Location value_at(const Input& input) {
  const bool nowhere = !input.command_line.empty() || input.value->line == 0;
  return nowhere ? input.key_at : input.document->at(*input.value);
}

}  // namespace

Inputs inputs_of(const Document& document, const Node& mapping, const std::string& prefix,
                 const std::string& command_line) {
  Inputs out;
  for (const Entry& entry : mapping.entries) {
    const Location where = command_line.empty() ? document.at(entry) : Location{document.file, 0, 0};
    out.push_back({prefix + entry.key, &entry.value, &document, where, command_line});
  }
  return out;
}

void replace(Inputs& inputs, const Input& input) {
  const std::string inside = input.key + ".";
  std::erase_if(inputs, [&](const Input& old) { return old.key == input.key || old.key.starts_with(inside); });
  inputs.push_back(input);
}

Origin origin_of(const Input& input) {
  if (!input.command_line.empty()) return {.kind = Origin::Kind::command_line, .source = input.command_line};
  return {Origin::Kind::config, input.key, value_at(input), written(*input.value), {}};
}

Diagnostic at_value(const Input& input, std::string_view code, std::string message, std::string hint) {
  return diagnostic(input, value_at(input), code, std::move(message), std::move(hint));
}

Diagnostic at_key(const Input& input, Severity severity, std::string_view code, std::string message, std::string hint) {
  Diagnostic out = diagnostic(input, input.key_at, code, std::move(message), std::move(hint));
  out.severity = severity;
  return out;
}

std::string beside(const std::string& file, const std::string& path) {
  const auto slash = file.rfind('/');
  return path.starts_with('/') || slash == file.npos ? path : file.substr(0, slash + 1) + path;
}

std::string shown(const Node& node) {
  switch (node.kind) {
    case Node::Kind::null:
      return "nothing";
    case Node::Kind::sequence:
      return "a list";
    case Node::Kind::mapping:
      return "a mapping";
    case Node::Kind::expression:
      return "an expression";
    case Node::Kind::string:
      return "\"" + shortened(node.text) + "\"";
    default:
      return shortened(node.text);
  }
}

bool is_set(const Node& node) {
  if (node.is_sequence()) return !node.items.empty();
  if (node.is_mapping()) return !node.entries.empty();
  if (node.kind == Node::Kind::null || node.as_number() == 0.0) return false;
  if (const auto flag = node.as_boolean()) return *flag;
  constexpr std::array<std::string_view, 6> off{"", "no", "none", "null", "false", "off"};
  return std::ranges::find(off, lowered(node.text)) == off.end();
}

}  // namespace oomplan::ingestion
