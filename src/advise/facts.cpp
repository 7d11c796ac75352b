#include "facts.hpp"

#include <algorithm>

#include "oomplan/ingest.hpp"
#include "oomplan/text.hpp"

namespace oomplan::advise {
namespace {

constexpr std::string_view more_than = "> ";
constexpr std::string_view lacks = "lacks ";
constexpr std::string_view divided_by = "/ ";
constexpr std::string_view append = "append ";

Node scalar(std::string text) { return {.kind = Node::Kind::string, .text = std::move(text)}; }

std::string shown(const TrainingPlan& plan, const std::string& fact) { return fact_of(plan, fact).value_or(""); }

/// fact_of quotes what YAML would misread; an append wants the bare text.
std::string bare(std::string text) {
  if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'')) return text.substr(1, text.size() - 2);
  return text;
}

bool equals(const TrainingPlan& plan, const std::string& fact, const Node& value) {
  TrainingPlan other;
  return set_fact(other, fact, value) && fact_of(other, fact) == fact_of(plan, fact);
}

bool holds(const TrainingPlan& plan, const FactRule& rule) {
  const std::string_view text = rule.value.text;
  const std::string now = shown(plan, rule.fact);
  if (text.starts_with(more_than)) return parse_number(now) > parse_number(text.substr(more_than.size()));
  if (text.starts_with(lacks)) return now.find(text.substr(lacks.size())) == now.npos;
  if (!rule.value.is_sequence()) return equals(plan, rule.fact, rule.value);
  return std::ranges::any_of(rule.value.items, [&](const Node& item) { return equals(plan, rule.fact, item); });
}

std::string wanted(const FactRule& rule) {
  const std::string& text = rule.value.text;
  if (text.starts_with(more_than)) return "more than " + text.substr(more_than.size());
  if (text.starts_with(lacks)) return "without " + text.substr(lacks.size());
  if (!rule.value.is_sequence()) return text;
  std::string out;
  for (const Node& item : rule.value.items) out += (out.empty() ? "" : " or ") + item.text;
  return out;
}

std::string value_of(const TrainingPlan& plan, const std::string& fact) {
  const std::string now = shown(plan, fact);
  return fact + " is " + (now.empty() ? "not set" : now);
}

bool apply(TrainingPlan& plan, const FactRule& rule) {
  const std::string_view text = rule.value.text;
  const std::string now = shown(plan, rule.fact);
  if (text.starts_with(divided_by)) {
    const auto value = parse_integer(now);
    const auto by = parse_integer(text.substr(divided_by.size()));
    return value && by && *by > 0 && set_fact(plan, rule.fact, scalar(std::to_string(*value / *by)));
  }
  if (!text.starts_with(append)) return set_fact(plan, rule.fact, rule.value);
  const std::string before = bare(now);
  return set_fact(plan, rule.fact,
                  scalar((before.empty() ? "" : before + ",") + std::string(text.substr(append.size()))));
}

}  // namespace

std::string refusing_fact(const TrainingPlan& plan, const Rung& rung) {
  for (const FactRule& rule : rung.guard)
    if (!holds(plan, rule)) return value_of(plan, rule.fact);
  return {};
}

std::string objection(const TrainingPlan& plan, const Rung& rung) {
  for (const FactRule& rule : rung.guard)
    if (!holds(plan, rule)) return value_of(plan, rule.fact) + ", not " + wanted(rule);
  return {};
}

std::int64_t smallest_factor(std::int64_t n) {
  for (std::int64_t factor = 2; factor <= n / factor; ++factor)
    if (n % factor == 0) return factor;
  return n;
}

bool move(TrainingPlan& plan, const Rung& rung, std::int64_t factor) {
  const auto taken = parse_integer(shown(plan, rung.move_from));
  const auto given = parse_integer(shown(plan, rung.move_to));
  if (!taken || !given || factor < 2 || *taken % factor != 0) return false;
  const std::int64_t product = saturating_mul(*given, factor);
  return product / factor == *given && set_fact(plan, rung.move_from, scalar(std::to_string(*taken / factor))) &&
         set_fact(plan, rung.move_to, scalar(std::to_string(product)));
}

bool take(TrainingPlan& plan, const Rung& rung) {
  const auto moved = parse_integer(shown(plan, rung.move_from));
  if (!rung.move_from.empty() && !(moved && *moved > 1 && move(plan, rung, smallest_factor(*moved)))) return false;
  return std::ranges::all_of(rung.edit, [&](const FactRule& rule) { return apply(plan, rule); });
}

std::vector<std::string> edited_facts(const Rung& rung) {
  std::vector<std::string> out;
  if (!rung.move_from.empty()) out = {rung.move_from, rung.move_to};
  for (const FactRule& rule : rung.edit) out.push_back(rule.fact);
  return out;
}

}  // namespace oomplan::advise
