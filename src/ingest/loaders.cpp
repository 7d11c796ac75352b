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
  return any_op(model, is);
}

void leave_own_loading(TrainingPlan& plan, const Architecture& model) {
  if (has_tower(model)) {
    plan.unmodelled.push_back({"what " + plan.dialect + " freezes and adapts of a model that sees images,",
                               model.model_type, plan.model.name.origin.where});
  }
  leave_own_task(plan, model);
}

void leave_own_task(TrainingPlan& plan, const Architecture& model) {
  if (model.task == Task::causal_lm) return;
  plan.unmodelled.push_back({"the class that " + plan.dialect + " loads of a model for another task", model.model_type,
                             plan.model.name.origin.where});
}

}  // namespace oomplan::ingestion
