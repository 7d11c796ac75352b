#include "oomplan/catalog/older_code.hpp"

#include <algorithm>

namespace oomplan {
namespace {

/// Whether `text` has `version` and not one that begins like it.
bool names(std::string_view text, std::string_view version) {
  const auto at = text.find(version);
  if (version.empty() || at == text.npos) return false;
  const std::string_view rest = text.substr(at + version.size());
  return rest.empty() || std::string_view("0123456789.").find(rest.front()) == std::string_view::npos;
}

void drop_where_newer(std::vector<OpSpec>& ops, std::string_view framework) {
  for (OpSpec& spec : ops) {
    if (runs_older_code(spec, framework)) continue;
    std::erase_if(spec.attributes, [](const auto& row) { return row.first == older_code; });
  }
}

}  // namespace

bool runs_older_code(const OpSpec& spec, std::string_view framework) {
  const Attribute* found = spec.find(older_code);
  const auto* versions = found == nullptr ? nullptr : std::get_if<std::string>(found);
  if (versions == nullptr) return false;
  std::string_view rest = *versions;
  while (!rest.empty()) {
    const auto comma = std::min(rest.find(", "), rest.size());
    if (names(framework, rest.substr(0, comma))) return true;
    rest.remove_prefix(std::min(comma + 2, rest.size()));
  }
  return false;
}

Architecture as_run(Architecture model, std::string_view framework) {
  for (Segment& segment : model.body) {
    drop_where_newer(segment.stem, framework);
    for (std::vector<OpSpec>& block : segment.kinds) drop_where_newer(block, framework);
  }
  if (model.teacher != nullptr) model.teacher = std::make_shared<const Architecture>(as_run(*model.teacher, framework));
  return model;
}

}  // namespace oomplan
