// The plain oomplan.yaml: the facts by their own names. Documented in docs/oomplan-yaml.md.
#include "../../dialect.hpp"

namespace oomplan::ingestion {
namespace {

bool read_unmodelled(const Node& node, const Origin& origin, TrainingPlan& plan) {
  const auto features = read_names(node);
  if (!features) return false;
  for (const std::string& feature : *features) plan.unmodelled.push_back({feature, "unmodelled", origin.where});
  return true;
}

bool read_framework(const Node& node, TrainingPlan& plan) {
  const auto name = read_text(node);
  if (name) plan.framework = *name;
  return name.has_value();
}

std::vector<Row> rows_into(TrainingPlan& plan) {
  std::vector<Row> out;
  out.push_back({"framework", as::text.expected, {}, [&](const Node& node, const Origin& /*origin*/) {
                   return read_framework(node, plan);
                 }});
  for (const FactRow& fact : facts()) {
    out.push_back({fact.name, fact.expected, fact.choices,
                   [&](const Node& node, const Origin& origin) { return fact.read(node, origin, plan); }});
  }
  out.push_back({"unmodelled", as::names.expected, {}, [&](const Node& node, const Origin& origin) {
                   return read_unmodelled(node, origin, plan);
                 }});
  return out;
}

Draft read(const Inputs& inputs, const Document& /*document*/) {
  const Stack& stack = stack_of("oomplan");
  Draft draft;
  TrainingPlan& plan = draft.plan;
  plan = stack.plan();
  plan.framework = stack.name_of("transformers");
  Findings findings;
  read_rows({rows_into(plan), {}, nullptr}, inputs, findings);
  take(draft, std::move(findings));
  if (plan.precision.outputs_to_fp32.origin.source.empty()) {
    plan.precision.outputs_to_fp32 = {plan.precision.autocast.value != Autocast::none,
                                      stack.origin("accelerate", "prepare_model")};
  }
  return draft;
}

}  // namespace

namespace dialects {
extern const Dialect oomplan;
const Dialect oomplan{"oomplan", "the plan's own facts", "model", read, {}, {}, {}, true};
}  // namespace dialects

}  // namespace oomplan::ingestion
