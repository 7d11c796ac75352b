#include "../host_json.hpp"
#include "../json_values.hpp"
#include "formats.hpp"
#include "oomplan/report/report.hpp"

namespace oomplan::report::gate {
namespace {

using Json = nlohmann::ordered_json;

Json of(const Diagnostic& problem);
Json of(const GateItem& item);

Json of(const GateCheck& check) {
  const bool decided = check.undecided.empty();
  return {{"gpu", check.gpu.name},
          {"total", check.gpu.total.count()},
          {"limit", check.limit.count()},
          {"needed", decided ? Json(check.needed.count()) : Json()},
          {"at_least", check.at_least},
          {"fits", check.fits},
          {"paged_to_host", check.paged_to_host.count()},
          {"undecided", decided ? Json() : Json(check.undecided)}};
}

Json of(const SettingChange& change) {
  return {{"key", change.key}, {"before", change.before}, {"after", change.after}};
}

template <class T>
Json list_of(const std::vector<T>& items) {
  Json out = Json::array();
  for (const T& item : items) out.push_back(of(item));
  return out;
}

Json growth_of(const std::optional<PeakGrowth>& growth) {
  if (!growth) return nullptr;
  return {{"before", growth->before.count()}, {"by", growth->by.count()}, {"changes", list_of(growth->changes)}};
}

Json of(const Diagnostic& problem) { return diagnostic_json(problem); }

Json of(const GateItem& item) {
  return {{"config", item.config},
          {"verdict", name_of(item.verdict)},
          {"assumed_trainer", text_or_null(item.assumed_trainer)},
          {"checks", list_of(item.checks)},
          {"host", report::limits_json(item.host)},
          {"peak", item.checks.empty() || item.peak == Bytes() ? Json() : Json(item.peak.count())},
          {"largest_bucket", item.largest_bucket ? Json(name_of(*item.largest_bucket)) : Json()},
          {"lever", item.lever.empty() ? Json() : Json(item.lever)},
          {"where", location_json(item.where)},
          {"growth", growth_of(item.growth)},
          {"no_growth", item.no_growth.empty() ? Json() : Json(item.no_growth)},
          {"budget", item.budget ? Json(item.budget->count()) : Json()},
          {"diagnostics", list_of(item.diagnostics)}};
}

}  // namespace

std::string json(const Gate& gate, const GateViewOptions&) {
  Json counts = Json::object();
  for (std::size_t i = 0; i < gate_verdict_names.size(); ++i)
    counts[std::string(gate_verdict_names.at(i))] = gate.count(static_cast<GateVerdict>(i));
  const Json out{{"schema", "oomplan/gate/1"},
                 {"oomplan", version()},
                 {"policy", gate.policy.empty() ? Json() : Json(gate.policy)},
                 {"baseline", gate.baseline.empty() ? Json() : Json(gate.baseline)},
                 {"counts", std::move(counts)},
                 {"configs", list_of(gate.items)},
                 {"diagnostics", list_of(gate.diagnostics)},
                 {"warnings", list_of(gate.warnings)}};
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace oomplan::report::gate
