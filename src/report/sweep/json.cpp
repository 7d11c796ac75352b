#include "../host_json.hpp"
#include "../json_values.hpp"
#include "oomplan/report/report.hpp"
#include "oomplan/report/sweep_view.hpp"

namespace oomplan {
namespace {

using Json = nlohmann::ordered_json;

Json of(const Axis& axis) { return {{"key", axis.key}, {"values", axis.values}, {"numbers", axis.numbers}}; }

Json of(const Sweep& sweep, std::size_t i) {
  const SweepPoint& point = sweep.points[i];
  const bool decided = point.undecided.empty();
  return {{"values", values_at(sweep.axes, i)},
          {"needed", decided ? Json(point.needed.count()) : Json()},
          {"at_least", point.at_least},
          {"fits", point.fits},
          {"host", report::limits_json(point.host)},
          {"undecided", decided ? Json() : Json(point.undecided)}};
}

Json head(const std::string& config) {
  return {{"schema", "oomplan/sweep/1"}, {"oomplan", version()}, {"config", config}};
}

std::string printed(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

Json gpu_of(const Gpu& gpu) { return {{"name", gpu.name}, {"total", gpu.total.count()}}; }

Json body(const Sweep& sweep) {
  Json out = head(sweep.config);
  const bool answered = !sweep.points.empty();
  out["assumed_trainer"] = report::text_or_null(sweep.assumed_trainer);
  out["gpu"] = answered ? gpu_of(sweep.gpu) : Json();
  out["headroom"] = sweep.headroom;
  out["axes"] = Json::array();
  for (const Axis& axis : sweep.axes) out["axes"].push_back(of(axis));
  out["largest"] = sweep.largest ? of(sweep, *sweep.largest) : Json();
  out["frontier"] = Json::array();
  for (const std::size_t i : sweep.frontier) out["frontier"].push_back(of(sweep, i));
  out["lucky"] = Json::array();
  for (const std::size_t i : sweep.lucky) out["lucky"].push_back(of(sweep, i));
  out["points"] = Json::array();
  for (std::size_t i = 0; i < sweep.points.size(); ++i) out["points"].push_back(of(sweep, i));
  out["diagnostics"] = Json::array();
  return out;
}

}  // namespace

std::string sweep_json(const Sweep& sweep) { return printed(body(sweep)); }

std::string sweep_json(const std::string& config, const Diagnostics& problems) {
  Json out = body({.config = config});
  for (const Diagnostic& problem : problems) out["diagnostics"].push_back(report::diagnostic_json(problem));
  return printed(out);
}

}  // namespace oomplan
