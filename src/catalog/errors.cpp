#include "errors.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "files.hpp"
#include "oomplan/core/text.hpp"

namespace oomplan::catalog {
namespace {

constexpr std::size_t longest_shown = 60;
constexpr std::size_t longest_name = 200;  // The hub allows 96 on either side of the slash.
constexpr std::size_t most_names = 3;

/// The shortest of them first.
std::vector<std::string> beginning_or_ending(const std::string& word, std::span<const std::string> names) {
  std::vector<std::string> out;
  for (const std::string& name : names) {
    const std::string squeeze = squeezed(name);
    if (squeeze.starts_with(word) || squeeze.ends_with(word)) out.push_back(name);
  }
  std::ranges::stable_sort(out, {}, &std::string::size);
  out.resize(std::min(out.size(), most_names));
  return out;
}

}  // namespace

Diagnostic error_at(const Document& document, const Node& node, std::string code, std::string message,
                    std::string hint) {
  return {Severity::error,   std::move(code), std::move(message),
          document.at(node), std::move(hint), std::string(document.line(node.line))};
}

Diagnostic error_in(const Document& document, std::string code, std::string message, std::string hint) {
  return {Severity::error, std::move(code), std::move(message), {document.file, 0, 0}, std::move(hint), {}};
}

std::string shown(std::string_view text) {
  const bool cut = text.size() > longest_shown;
  std::size_t end = cut ? longest_shown : text.size();
  while (cut && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // Not within a UTF-8 sequence.
  std::string out = "\"";
  for (const char c : text.substr(0, end)) out += static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? '?' : c;
  out += cut ? "…\"" : "\"";
  return out;
}

std::string shown(const Node& node) {
  if (node.is_mapping()) return "a mapping";
  if (node.is_sequence()) return "a list";
  if (node.kind == Node::Kind::null) return "null";
  const std::string quoted = shown(node.text);
  return node.kind == Node::Kind::string ? quoted : quoted.substr(1, quoted.size() - 2);
}

std::vector<std::string> near_names(std::string_view word, std::span<const std::string> names) {
  if (word.size() > longest_name) return {};
  const std::string wanted = squeezed(word);
  if (wanted.size() >= 2)
    if (std::vector<std::string> out = beginning_or_ending(wanted, names); !out.empty()) return out;
  std::vector<std::string> out;
  std::vector<std::string_view> left(names.begin(), names.end());
  while (out.size() < most_names) {
    const std::optional<std::string> near = nearest(word, left);
    if (!near) break;
    std::erase(left, *near);
    out.push_back(*near);
  }
  return out;
}

std::string joined(const std::vector<std::string>& names, std::string_view last) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += i + 1 == names.size() ? last : std::string_view(", ");
    out += names[i];
  }
  return out;
}

}  // namespace oomplan::catalog
