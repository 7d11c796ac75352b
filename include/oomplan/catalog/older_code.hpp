// What an older version of a model's library has otherwise: an op's attribute `older_code` names the versions
// ("transformers 5.6.0, transformers 5.14.1"; "transformers 4." is any that begins so) whose code the op plays where it
// is given.
#pragma once

#include <algorithm>
#include <string_view>

#include "oomplan/catalog/architecture.hpp"

namespace oomplan {

inline constexpr std::string_view older_code = "older_code";

/// Whether `text` has `version` ("transformers 5.14.1") and not one that begins like it, unless it ends with a dot.
inline bool names_version(std::string_view text, std::string_view version) {
  const auto at = text.find(version);
  if (version.empty() || at == text.npos) return false;
  if (version.ends_with('.')) return true;
  const std::string_view rest = text.substr(at + version.size());
  return rest.empty() || std::string_view("0123456789.").find(rest.front()) == std::string_view::npos;
}

/// Whether one of the op's versions is in `framework` ("axolotl 0.18.0 on transformers 5.14.1").
inline bool runs_older_code(const OpSpec& spec, std::string_view framework) {
  const auto found = std::ranges::find(spec.attributes, older_code, [](const auto& row) { return row.first; });
  const auto* versions = found == spec.attributes.end() ? nullptr : std::get_if<std::string>(&found->second);
  if (versions == nullptr) return false;
  for (std::string_view rest = *versions; !rest.empty();) {
    const auto comma = std::min(rest.find(", "), rest.size());
    if (names_version(framework, rest.substr(0, comma))) return true;
    rest.remove_prefix(std::min(comma + 2, rest.size()));
  }
  return false;
}

/// The model as `framework` runs it: with the attribute only where one of its versions is in there.
Architecture as_run(Architecture model, std::string_view framework);

}  // namespace oomplan
