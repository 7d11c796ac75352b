#include "optimizers.hpp"

#include <algorithm>

#include "oomplan/core/text.hpp"

namespace oomplan::ingestion {
const OptimizerName* find_optimizer(std::string_view name) {
  const auto* found = std::ranges::find(optimizer_table, name, &OptimizerName::theirs);
  return found == optimizer_table.end() ? nullptr : found;
}

std::string trainer_name(std::string_view plan) {
  const auto* found = std::ranges::find(optimizer_table, plan, &OptimizerName::plan);
  return std::string(found == optimizer_table.end() ? plan : found->theirs);
}

bool has_momentum(std::string_view optim_args) {
  constexpr std::string_view key = "momentum=";
  std::string args(optim_args);
  std::erase(args, ' ');
  for (std::string_view rest = args; !rest.empty();) {
    const std::string_view arg = rest.substr(0, rest.find(','));
    if (arg.starts_with(key)) return parse_number(arg.substr(key.size())) != 0.0;
    rest.remove_prefix(std::min(rest.size(), arg.size() + 1));
  }
  return false;
}

std::optional<std::string> read_optimizer(const Node& node) {
  const auto name = read_text(node);
  return name && find_optimizer(*name) != nullptr ? name : std::nullopt;
}

}  // namespace oomplan::ingestion
