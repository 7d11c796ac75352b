// Which hub ids a preset lists; for the catalog, and for the build, which makes a table of them
// (cmake/embed_files.cpp).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "oomplan/read/document.hpp"

namespace oomplan::catalog {

/// "org--name" of a file is org/name.
inline std::string id_of_name(std::string_view name) {
  constexpr std::string_view slash = "--";
  std::string out(name);
  if (const std::size_t at = out.find(slash); at != std::string::npos) out.replace(at, slash.size(), "/");
  return out;
}

/// Its aliases and its variants.
inline std::vector<std::string> other_ids_in(const Node& preset) {
  std::vector<std::string> out;
  if (const Node* aliases = preset.find("aliases"))
    for (const Node& alias : aliases->items) out.push_back(alias.text);
  if (const Node* variants = preset.find("variants"))
    for (const Entry& variant : variants->entries) out.push_back(variant.key);
  return out;
}

}  // namespace oomplan::catalog
