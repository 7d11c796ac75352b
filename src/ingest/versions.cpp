#include "versions.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <tuple>

#include "condition.hpp"
#include "oomplan/plan/fact_table.hpp"

namespace oomplan::ingestion {
namespace {

using Numbers = std::vector<std::int64_t>;

/// Of "5.14.1.dev0+cu130": 5, 14, 1.
Numbers numbers_of(std::string_view version) {
  Numbers out;
  const char* at = version.data();
  const char* const end = at + version.size();
  while (at != end) {
    std::uint32_t number = 0;
    const auto read = std::from_chars(at, end, number);
    if (read.ec != std::errc()) break;
    out.push_back(std::int64_t{number});
    at = read.ptr;
    if (at == end || *at != '.') break;
    ++at;
  }
  return out;
}

std::int64_t part(const Numbers& numbers, std::size_t i) { return i < numbers.size() ? numbers[i] : 0; }

/// By the second number; by the third where that is the same.
auto distance(const Numbers& a, const Numbers& b) {
  const std::int64_t second = std::abs(part(a, 1) - part(b, 1));
  return std::tuple(second, second == 0 ? std::abs(part(a, 2) - part(b, 2)) : 0);
}

std::string joined(const std::vector<const StackLayer*>& layers) {
  std::vector<std::string> names;
  for (const StackLayer* layer : layers) names.push_back(layer->package);
  std::ranges::sort(names);
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

/// "trl-1.16-scripts" has another version beside it with the same end.
std::string end_of(const StackLayer& layer) {
  const auto dash = layer.name.find('-', layer.package.size() + 1);
  return dash == layer.name.npos ? std::string() : layer.name.substr(dash);
}

/// Of all files those of the package that stand for a version of it under `top`.
std::vector<const StackLayer*> layers_of(std::string_view package, std::string_view top) {
  std::vector<const StackLayer*> out;
  for (const StackLayer& layer : stack_layers()) {
    const bool fits = layer.package == package && layer.is_for(top);
    if (fits && !layer.version.empty() && end_of(layer).empty()) out.push_back(&layer);
  }
  return out;
}

bool compares(const std::vector<const StackLayer*>& layers) {
  return std::ranges::any_of(layers, [](const StackLayer* layer) { return !layer->since.empty(); });
}

std::string written(const NamedVersion& named) { return named.package + "==" + named.version; }

Diagnostic warning(const NamedVersion& named, std::string_view code, std::string message, std::string hint) {
  return {Severity::warning, std::string(code), std::move(message), named.where, std::move(hint), {}};
}

}  // namespace

thread_local ChosenVersions* ChosenVersions::current_ = nullptr;

bool is_version(std::string_view wanted, std::string_view version) {
  const Numbers a = numbers_of(wanted);
  const Numbers b = numbers_of(version);
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != part(b, i)) return false;
  }
  return !a.empty();
}

std::string_view version_behind(std::string_view package, std::string_view text) {
  const std::string name = std::string(package) + " ";
  const auto at = text.find(name);
  if (at == text.npos) return {};
  const std::string_view rest = text.substr(at + name.size());
  return rest.substr(0, rest.find_first_not_of("0123456789."));
}

bool is_older(std::string_view version, std::string_view other) {
  Numbers a = numbers_of(version);
  Numbers b = numbers_of(other);
  a.resize(std::max(a.size(), b.size()));
  b.resize(a.size());
  return a < b;
}

std::optional<std::string> nearest_version(std::string_view wanted, const std::vector<std::string>& known) {
  const Numbers numbers = numbers_of(wanted);
  const std::string* best = nullptr;
  for (const std::string& one : known) {
    const Numbers there = numbers_of(one);
    if (numbers.empty() || part(there, 0) != numbers[0]) continue;
    if (best == nullptr) best = &one;
    const auto rank = [&](const std::string& version) {
      const Numbers n = numbers_of(version);
      return std::tuple(!is_version(wanted, version), distance(numbers, n), -part(n, 1), -part(n, 2));
    };
    if (rank(one) < rank(*best)) best = &one;
  }
  return best == nullptr ? std::nullopt : std::optional(*best);
}

bool covers(const StackLayer& layer, std::string_view version) {
  const Numbers wanted = numbers_of(version);
  const bool whole = layer.since.empty() || wanted.size() > 1;  // "==1" is 1.0.0.
  if (whole && is_version(version, layer.version)) return true;
  const Numbers own = numbers_of(layer.version);
  if (layer.since.empty() || wanted.empty() || is_older(version, layer.since)) return false;
  const bool patch = layer.patches && part(wanted, 0) == part(own, 0) && part(wanted, 1) == part(own, 1);
  return patch || !is_older(layer.version, version);
}

ChosenVersions::ChosenVersions(const std::vector<NamedVersion>& named) : named_(named) {
  current_ = this;
  for (const NamedVersion& one : named_) {
    if (ChosenVersions::named(one.package) != &one) continue;
    const auto& all = stack_layers();
    const auto found = std::ranges::find_if(
        all, [&](const StackLayer& layer) { return layer.package == one.package && covers(layer, one.version); });
    if (found == all.end()) continue;
    for (const auto& [package, version] : found->with) implied_.push_back({package, version, one.where, false});
  }
}

const NamedVersion* ChosenVersions::named(std::string_view package) const {
  const auto found = std::ranges::find(named_, package, &NamedVersion::package);
  if (found != named_.end()) return &*found;
  const auto implied = std::ranges::find(implied_, package, &NamedVersion::package);
  return implied == implied_.end() ? nullptr : &*implied;
}

std::string ChosenVersions::older_than(std::string_view package, std::string_view version) const {
  const NamedVersion* one = named(package);
  return one != nullptr && is_older(one->version, version) ? one->version : "";
}

const StackLayer* ChosenVersions::chosen(const NamedVersion& named, std::string_view top) const {
  const auto all = layers_of(named.package, top);
  const auto held = std::ranges::find_if(all, [&](const StackLayer* layer) { return covers(*layer, named.version); });
  if (held != all.end()) return *held;
  std::vector<std::string> versions;
  for (const StackLayer* layer : all) versions.push_back(layer->version);
  const auto near = nearest_version(named.version, versions);
  if (!near) return nullptr;
  return *std::ranges::find(all, *near, &StackLayer::version);
}

std::string ChosenVersions::version_of(const StackLayer& layer, std::string_view top) const {
  const NamedVersion* name = layer.since.empty() ? nullptr : named(layer.package);
  const StackLayer* found = name == nullptr ? nullptr : chosen(*name, top);
  // That of which nothing is known has the name that the user gave it, too.
  const bool stands = found != nullptr && found->name == layer.name && !numbers_of(name->version).empty();
  return stands ? name->version : layer.version;
}

void ChosenVersions::use(const std::vector<StackLayer>& layers) {
  if (top_.empty() && !layers.empty()) top_ = layers.front().package;
  for (const StackLayer& layer : layers) {
    if (!layer.version.empty() && std::ranges::count(layers_, layer.package, &StackLayer::package) == 0)
      layers_.push_back(&layer);
  }
}

std::string ChosenVersions::in_front_of(const StackLayer& layer, std::string_view top) const {
  const NamedVersion* name = layer.version.empty() ? nullptr : named(layer.package);
  const StackLayer* found = name == nullptr ? nullptr : chosen(*name, top);
  if (found == nullptr || found->version == layer.version) return {};
  for (const StackLayer& other : stack_layers()) {
    const bool same = other.package == layer.package && other.version == found->version;
    if (same && end_of(other) == end_of(layer)) return other.name;
  }
  return {};
}

std::string ChosenVersions::key() const {
  std::string out;
  for (const NamedVersion& one : named_) out += written(one) + ";";
  return out;
}

void ChosenVersions::report_one(const NamedVersion& one, Draft& draft) const {
  const StackLayer* layer = chosen(one, top_);
  const auto add_gap = [&](const std::string& feature) {
    draft.plan.unmodelled.push_back({feature, written(one), one.where});
  };
  if (layer == nullptr) return add_gap("a major version whose defaults are not known");
  if (!covers(*layer, one.version)) {
    if (compares(layers_of(one.package, top_))) return add_gap("what this version does, of which no run was measured,");
    draft.plan.warnings.push_back(warning(
        one, "ingest/nearest-version",
        written(one) + ": its defaults are not known; those of " + one.package + " " + layer->version + " are taken",
        {}));
  }
}

void ChosenVersions::report_needs(Draft& draft) const {
  const auto add = [&](const StackLayer& layer, const NamedVersion& other, const std::string& where) {
    draft.plan.unmodelled.push_back(
        {layer.package + " " + layer.version + " beside " + where, written(other), other.where});
  };
  for (const StackLayer* layer : layers_) {
    for (const auto& [package, oldest] : layer->needs) {
      const NamedVersion* other = named(package);
      if (other != nullptr && is_older(other->version, oldest))
        add(*layer, *other, "a " + package + " before " + oldest);
    }
    for (const auto& [package, newer] : layer->before) {
      const NamedVersion* other = named(package);
      if (other != nullptr && !is_older(other->version, newer))
        add(*layer, *other, package + " " + newer + " or later");
    }
  }
}

void ChosenVersions::report(Draft& draft) const {
  report_needs(draft);
  for (const NamedVersion& one : named_) {
    if (std::ranges::count(layers_, one.package, &StackLayer::package) > 0) {
      report_one(one, draft);
    } else if (one.asked) {
      draft.plan.warnings.push_back(warning(one, "ingest/unused-version",
                                            written(one) + ": this config takes no defaults of " + one.package,
                                            "it takes those of " + joined(layers_)));
    }
  }
}

namespace {

/// A term: "fact=value|value", "fact<number" or "fact>number".
bool holds_term(std::string_view term, const TrainingPlan& plan) {
  const auto test = term.find_first_of("=<>");
  const auto value = fact_of(plan, term.substr(0, test));
  if (!value || test == term.npos) return false;
  std::string_view rest = term.substr(test + 1);
  if (term[test] == '<') return part(numbers_of(*value), 0) < part(numbers_of(rest), 0);
  if (term[test] == '>') return part(numbers_of(rest), 0) < part(numbers_of(*value), 0);
  while (!rest.empty()) {
    const auto bar = rest.find('|');
    if (*value == rest.substr(0, bar)) return true;
    rest = bar == rest.npos ? std::string_view() : rest.substr(bar + 1);
  }
  return false;
}

/// All of its terms.
bool holds_of(std::string_view condition, const TrainingPlan& plan) {
  constexpr std::string_view and_then = " & ";
  while (true) {
    const auto end = condition.find(and_then);
    if (!holds_term(condition.substr(0, end), plan)) return false;
    if (end == condition.npos) return true;
    condition.remove_prefix(end + and_then.size());
  }
}

std::string_view first_fact(std::string_view condition) { return condition.substr(0, condition.find_first_of("=<>")); }

}  // namespace

void ChosenVersions::note_unplayed(const Inputs& inputs, Draft& draft) const {
  const auto add = [&](const StackLayer& layer, const std::string& what, std::string_view key, const Location& where) {
    draft.plan.unmodelled.push_back({layer.package + " " + layer.version + "'s " + what, std::string(key), where});
  };
  for (const StackLayer* layer : layers_) {
    for (const auto& [condition, what] : layer->unplayed_keys) {
      const auto at = std::ranges::find(inputs, subject_of(condition), &Input::key);
      if (at != inputs.end() && holds(condition, inputs)) add(*layer, what, at->key, origin_of(*at).where);
    }
    for (const auto& [condition, what] : layer->unplayed_facts) {
      const std::string_view fact = first_fact(condition);
      const Origin* origin = origin_of_fact(draft.plan, fact);
      if (origin != nullptr && holds_of(condition, draft.plan)) add(*layer, what, fact, origin->where);
    }
  }
}

}  // namespace oomplan::ingestion

namespace oomplan {

std::string framework_version(const TrainingPlan& plan, std::string_view package) {
  return std::string(ingestion::version_behind(package, plan.framework));
}

std::vector<NamedVersion> versions_beside(const TrainingPlan& plan) {
  const std::string_view package = std::string_view(plan.framework).substr(0, plan.framework.find(' '));
  std::vector<NamedVersion> out;
  for (const ingestion::StackLayer& layer : ingestion::stack_layers()) {
    const bool held =
        layer.package == package && !layer.since.empty() && !ingestion::covers(layer, framework_version(plan, package));
    if (held) out.push_back({layer.package, layer.version, {}, false});
  }
  std::ranges::sort(
      out, [](const NamedVersion& a, const NamedVersion& b) { return ingestion::is_older(b.version, a.version); });
  return out;
}

}  // namespace oomplan
