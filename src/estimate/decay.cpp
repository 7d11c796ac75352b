#include "decay.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "oomplan/core/text.hpp"

namespace oomplan::estimator {
namespace {

/// (?:^|\.)norm(?:$|\.) and _norm(?:$|\.)
bool ends_as_norm(std::string_view name) {
  constexpr std::string_view norm = "norm";
  for (std::size_t at = name.find(norm); at != std::string_view::npos; at = name.find(norm, at + 1)) {
    const std::size_t end = at + norm.size();
    const bool begins = at == 0 || name[at - 1] == '.' || name[at - 1] == '_';
    if (begins && (end == name.size() || name[end] == '.')) return true;
  }
  return false;
}

}  // namespace

bool decays(const Parameter& parameter) {
  if (parameter.of_layer_norm) return false;
  constexpr std::array<std::string_view, 3> forbidden{"bias", "layernorm", "rmsnorm"};
  const std::string name = lowered(parameter.name);
  const auto has = [&](std::string_view word) { return name.find(word) != std::string::npos; };
  return std::ranges::none_of(forbidden, has) && !ends_as_norm(name);
}

}  // namespace oomplan::estimator
