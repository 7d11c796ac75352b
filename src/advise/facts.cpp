#include "facts.hpp"

#include <algorithm>
#include <optional>

#include "oomplan/ingest/ingest.hpp"
#include "oomplan/plan/codec.hpp"
#include "oomplan/plan/fact_table.hpp"

namespace oomplan::advise {
namespace {

Node scalar(std::string text) { return {.kind = Node::Kind::string, .text = std::move(text)}; }

std::string shown(const TrainingPlan& plan, const std::string& fact) { return fact_of(plan, fact).value_or(""); }

FactValue value_in(const TrainingPlan& plan, const std::string& fact) {
  const FactRow* row = find_fact(fact);
  return row == nullptr ? FactValue() : row->get(plan);
}

double number_in(const TrainingPlan& plan, const std::string& fact) {
  const FactValue value = value_in(plan, fact);
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  const auto* real = std::get_if<double>(&value);
  return real == nullptr ? 0 : *real;
}

std::optional<std::int64_t> whole_in(const TrainingPlan& plan, const std::string& fact) {
  const FactValue value = value_in(plan, fact);
  const auto* whole = std::get_if<std::int64_t>(&value);
  return whole == nullptr ? std::nullopt : std::optional(*whole);
}

std::string text_in(const TrainingPlan& plan, const std::string& fact) {
  const FactValue value = value_in(plan, fact);
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr ? std::string() : *text;
}

bool equals(const TrainingPlan& plan, const std::string& fact, const Node& value) {
  TrainingPlan other;
  return set_fact(other, fact, value) && fact_of(other, fact) == fact_of(plan, fact);
}

bool holds(const TrainingPlan& plan, const Guard& guard) {
  if (guard.more_than) return number_in(plan, guard.fact) > *guard.more_than;
  if (!guard.lacks.empty()) return text_in(plan, guard.fact).find(guard.lacks) == std::string::npos;
  return std::ranges::any_of(guard.any_of, [&](const Node& value) { return equals(plan, guard.fact, value); });
}

std::string wanted(const Guard& guard) {
  if (guard.more_than) return "more than " + planning::write_number(*guard.more_than);
  if (!guard.lacks.empty()) return "without " + guard.lacks;
  std::string out;
  for (const Node& value : guard.any_of) out += (out.empty() ? "" : " or ") + value.text;
  return out;
}

std::string value_of(const TrainingPlan& plan, const std::string& fact) {
  const std::string now = shown(plan, fact);
  return fact + " is " + (now.empty() ? "not set" : now);
}

bool stays(const TrainingPlan& plan, const Edit& edit) {
  const FactRow* row = find_fact(edit.fact);
  return edit.unsaid && row != nullptr && row->origin(plan).is_said();
}

bool apply(TrainingPlan& plan, const Edit& edit) {
  if (stays(plan, edit)) return true;
  if (edit.value) return set_fact(plan, edit.fact, *edit.value);
  if (edit.divide_by > 0) {
    const auto whole = whole_in(plan, edit.fact);
    return whole && set_fact(plan, edit.fact, scalar(std::to_string(*whole / edit.divide_by)));
  }
  const std::string before = text_in(plan, edit.fact);
  return set_fact(plan, edit.fact, scalar((before.empty() ? "" : before + ",") + edit.append));
}

}  // namespace

std::string refusing_fact(const TrainingPlan& plan, const Rung& rung) {
  for (const Guard& rule : rung.guard)
    if (!holds(plan, rule)) return value_of(plan, rule.fact);
  return {};
}

std::string objection(const TrainingPlan& plan, const Rung& rung) {
  for (const Guard& rule : rung.guard)
    if (!holds(plan, rule)) return value_of(plan, rule.fact) + ", not " + wanted(rule);
  return {};
}

std::int64_t smallest_factor(std::int64_t n) {
  for (std::int64_t factor = 2; factor <= n / factor; ++factor)
    if (n % factor == 0) return factor;
  return n;
}

bool move(TrainingPlan& plan, const Rung& rung, std::int64_t factor) {
  const auto taken = whole_in(plan, rung.move_from);
  const auto given = whole_in(plan, rung.move_to);
  if (!taken || !given || factor < 2 || *taken % factor != 0) return false;
  const std::int64_t product = saturating_mul(*given, factor);
  return product / factor == *given && set_fact(plan, rung.move_from, scalar(std::to_string(*taken / factor))) &&
         set_fact(plan, rung.move_to, scalar(std::to_string(product)));
}

bool take(TrainingPlan& plan, const Rung& rung) {
  const auto moved = whole_in(plan, rung.move_from);
  if (!rung.move_from.empty() && !(moved && *moved > 1 && move(plan, rung, smallest_factor(*moved)))) return false;
  return std::ranges::all_of(rung.edit, [&](const Edit& edit) { return apply(plan, edit); });
}

std::vector<std::string> edited_facts(const Rung& rung, const TrainingPlan& plan) {
  std::vector<std::string> out;
  if (!rung.move_from.empty()) out = {rung.move_from, rung.move_to};
  for (const Edit& rule : rung.edit)
    if (!stays(plan, rule)) out.push_back(rule.fact);
  return out;
}

}  // namespace oomplan::advise
