#include "growth.hpp"

#include <algorithm>

#include "oomplan/ingest/ingest.hpp"

namespace oomplan::survey {
namespace {

bool is_written(const Origin* origin) {
  return origin != nullptr && origin->kind == Origin::Kind::config && !origin->source.empty();
}

/// As the file has it, where it is the file that says it.
std::string value_of(const TrainingPlan& plan, std::string_view fact) {
  const Origin* origin = origin_of_fact(plan, fact);
  if (is_written(origin) && !origin->written.empty()) return origin->written;
  return fact_of(plan, fact).value_or("");
}

std::string key_of(const TrainingPlan& before, const TrainingPlan& after, std::string_view fact) {
  for (const TrainingPlan* plan : {&after, &before}) {
    const Origin* origin = origin_of_fact(*plan, fact);
    if (is_written(origin)) return origin->source;
  }
  return std::string(fact);
}

}  // namespace

std::vector<SettingChange> changes_between(const TrainingPlan& before, const TrainingPlan& after) {
  std::vector<SettingChange> written;
  std::vector<SettingChange> followed;
  for (const std::string_view fact : fact_names()) {
    if (fact_of(before, fact) == fact_of(after, fact)) continue;
    SettingChange change{key_of(before, after, fact), value_of(before, fact), value_of(after, fact)};
    std::vector<SettingChange>& list =
        change.key == fact && !is_written(origin_of_fact(after, fact)) ? followed : written;
    if (std::ranges::count(list, change.key, &SettingChange::key) == 0) list.push_back(std::move(change));
  }
  return written.empty() ? followed : written;
}

}  // namespace oomplan::survey
