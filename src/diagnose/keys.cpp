#include "keys.hpp"

#include <algorithm>
#include <string>

namespace oomplan::diagnose {

Diagnostics unknown_keys(const Document& document, const Node& node, const std::vector<std::string_view>& keys,
                         std::string_view what) {
  Diagnostics out;
  for (const Entry& entry : node.entries) {
    if (std::ranges::find(keys, entry.key) != keys.end()) continue;
    const Location where = document.at(entry);
    out.push_back({.code = "diagnose/bad-rule",
                   .message = std::string(what) + " has no key \"" + entry.key + "\"",
                   .where = where,
                   .excerpt = std::string(document.line(where.line))});
  }
  return out;
}

}  // namespace oomplan::diagnose
