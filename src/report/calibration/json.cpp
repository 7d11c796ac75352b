#include "../json_values.hpp"
#include "oomplan/report/calibration_view.hpp"
#include "oomplan/report/report.hpp"

namespace oomplan {
namespace {

using Json = nlohmann::ordered_json;

Json terms_json(const CardTerms& one) {
  return {{"card", one.card},
          {"torch", one.torch},
          {"runs", one.runs},
          {"context", one.context ? Json(one.context->count()) : Json()},
          {"workspaces", one.workspaces.count()},
          {"residue", one.residue.count()},
          {"slack", one.slack},
          {"contradict", one.contradict},
          {"error_before", one.error_before},
          {"error_fitted", one.error_fitted},
          {"error_left_out", one.error_left_out}};
}

Json unfitted_json(const Unfitted& one) {
  const bool judged = one.why != WhyUnfitted::too_few;
  return {{"card", one.card},
          {"torch", one.torch},
          {"runs", one.runs},
          {"why", name_of(one.why)},
          {"error_before", judged ? Json(one.error_before) : Json()},
          {"error_left_out", judged ? Json(one.error_left_out) : Json()}};
}

std::string printed(const Calibration& found, const Diagnostics& problems) {
  Json out{{"schema", "oomplan/calibration/1"}, {"oomplan", version()},       {"cards", Json::array()},
           {"unfitted", Json::array()},         {"left_out", found.left_out}, {"torn", found.torn},
           {"diagnostics", Json::array()}};
  for (const CardTerms& one : found.cards) out["cards"].push_back(terms_json(one));
  for (const Unfitted& one : found.unfitted) out["unfitted"].push_back(unfitted_json(one));
  for (const Diagnostic& one : problems) out["diagnostics"].push_back(report::diagnostic_json(one));
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string calibration_json(const Calibration& found) { return printed(found, {}); }

std::string calibration_json(const Diagnostics& problems) { return printed({}, problems); }

}  // namespace oomplan
