#include "facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "oomplan/core/text.hpp"
#include "oomplan/plan/fact_table.hpp"

namespace oomplan::report {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

struct ToText {
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return fmt::format("{}", value); }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(const std::string& value) const { return value.empty() ? "\"\"" : value; }
  std::string operator()(const std::vector<std::string>& value) const { return joined(value); }
};

}  // namespace

std::vector<Fact> facts_of(const TrainingPlan& plan, bool of_host) {
  std::vector<Fact> out;
  for (const FactRow& row : oomplan::facts()) {
    if (row.of_host == of_host && row.matters(plan))
      out.push_back({std::string(row.name), row.value(plan), row.origin(plan)});
  }
  return out;
}

void resolve_facts(std::vector<Fact>& facts, const Architecture& model) {
  for (Fact& fact : facts) {
    if (fact.name != "weights_dtype" || to_text(fact.value) != "checkpoint") continue;
    fact.resolved = name_of(model.checkpoint_dtype);
    if (model.names_dtype) continue;
    std::string& how = fact.origin.derivation;
    how += (how.empty() ? "" : ", ") + std::string("fp32 assumed, as the model's config.json names no dtype");
  }
}

std::string to_text(const FactValue& value) { return printable(std::visit(ToText{}, value)); }

std::string derivation_of(const Fact& fact) {
  const Origin& origin = fact.origin;
  const bool differs = printable(origin.written) != to_text(fact.value) || !origin.derivation.empty();
  if (origin.kind != Origin::Kind::config || origin.written.empty() || !differs) return printable(origin.derivation);
  const std::string line = printable(origin.source) + ": " + printable(origin.written);
  return line + (origin.derivation.empty() ? "" : ", " + printable(origin.derivation));
}

std::string_view name_of(Origin::Kind kind) {
  constexpr std::array<std::string_view, 5> names{"assumed", "framework_default", "model", "config", "command_line"};
  return names.at(static_cast<std::size_t>(kind));
}

std::string to_text(const Origin& origin) {
  switch (origin.kind) {
    case Origin::Kind::assumed:
      return origin.source.empty() ? "assumed" : "assumed: " + origin.source;
    case Origin::Kind::framework_default:
      return "default of " + origin.source;
    case Origin::Kind::model:
      return origin.source.empty() ? "the model's own config" : printable(origin.source);
    case Origin::Kind::config:
      return fmt::format("{}:{}", printable(origin.where.file), origin.where.line);
    case Origin::Kind::command_line:
      return "command line: " + printable(origin.source);
  }
  return {};
}

}  // namespace oomplan::report
