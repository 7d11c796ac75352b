#include "optimizers.hpp"

#include <algorithm>

namespace oomplan::ingestion {
const OptimizerName* find_optimizer(std::string_view name) {
  const auto* found = std::ranges::find(optimizer_table, name, &OptimizerName::theirs);
  return found == optimizer_table.end() ? nullptr : found;
}

std::string trainer_name(std::string_view plan) {
  const auto* found = std::ranges::find(optimizer_table, plan, &OptimizerName::plan);
  return std::string(found == optimizer_table.end() ? plan : found->theirs);
}

std::optional<std::string> read_optimizer(const Node& node) {
  const auto name = read_text(node);
  return name && find_optimizer(*name) != nullptr ? name : std::nullopt;
}

}  // namespace oomplan::ingestion
