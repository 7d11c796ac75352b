#include "loaders.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace oomplan::ingestion {

bool has_op(const Architecture& model, std::string_view op, std::string_view attribute) {
  using OpAttribute = std::pair<std::string, Attribute>;
  const auto is = [&](const OpSpec& spec) {
    const auto& given = spec.attributes;
    return spec.op == op && (attribute.empty() || std::ranges::count(given, attribute, &OpAttribute::first) > 0);
  };
  return std::ranges::any_of(model.body, [&](const Segment& segment) {
    return std::ranges::any_of(segment.kinds, [&](const auto& block) { return std::ranges::any_of(block, is); });
  });
}

void leave_own_loading(TrainingPlan& plan, const Architecture& model) {
  const auto add = [&](const std::string& feature) {
    plan.unmodelled.push_back({feature, model.model_type, plan.model.name.origin.where});
  };
  if (std::ranges::any_of(model.body, &Segment::tower)) {
    add("what " + plan.dialect + " freezes and adapts of a model that sees images,");
  }
  if (model.task != Task::causal_lm) add("the class that " + plan.dialect + " loads of a model for another task");
}

}  // namespace oomplan::ingestion
