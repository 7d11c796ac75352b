// Which answer goes into which page.
#include "../gate/formats.hpp"
#include "../view.hpp"
#include "oomplan/report/advice_view.hpp"
#include "oomplan/report/diagnosis_view.hpp"
#include "oomplan/report/html_view.hpp"
#include "page.hpp"

namespace oomplan {
namespace {

using Json = nlohmann::ordered_json;
using report::html::Page;
using report::html::written;

Json json_of(const CurvePoint& point) {
  Json levels = Json::array();
  for (const Bytes bytes : point.by_bucket) levels.push_back(bytes.count());
  return {{"phase", name_of(point.phase)},
          {"levels", std::move(levels)},
          {"op", point.op},
          {"module", point.module},
          {"layer", point.layer < 0 ? Json() : Json(point.layer)},
          {"bytes", point.bytes.count()}};
}

Json json_of(const Curve& curve) {
  Json points = Json::array();
  for (const CurvePoint& point : curve.points) points.push_back(json_of(point));
  return {{"step", curve.step}, {"buckets", bucket_names}, {"points", std::move(points)}};
}

}  // namespace

std::string estimate_html(const Report& report, const std::optional<Curve>& curve) {
  return written({.kind = "estimate",
                  .title = "oomplan estimate " + report.found.config,
                  .answer = Json::parse(*render(report, "json")),
                  .curve = curve ? json_of(*curve) : Json(),
                  .text = render(report, "text", {.parts = all_parts}).value_or("")});
}

std::string advice_html(const Advice& advice) {
  return written({.kind = "fix",
                  .title = "oomplan fix " + advice.config,
                  .answer = Json::parse(advice_json(advice)),
                  .text = advice_text(advice)});
}

std::string diagnosis_html(const Diagnosis& diagnosis, const Diagnostics& problems) {
  return written({.kind = "diagnose",
                  .title = "oomplan diagnose",
                  .answer = Json::parse(diagnosis_json(diagnosis, problems)),
                  .text = diagnosis_text(diagnosis)});
}

std::string report::gate::html(const Gate& gate, const GateViewOptions&) {
  return written(
      {.kind = "gate", .title = "oomplan gate", .answer = Json::parse(json(gate, {})), .text = text(gate, {})});
}

}  // namespace oomplan
