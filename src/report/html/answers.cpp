// Which answer goes into which page.
#include "../gate/formats.hpp"
#include "../view.hpp"
#include "oomplan/plan/fact_table.hpp"
#include "oomplan/report/advice_view.hpp"
#include "oomplan/report/diagnosis_view.hpp"
#include "oomplan/report/html_view.hpp"
#include "page.hpp"

namespace oomplan {
namespace {

using Json = nlohmann::ordered_json;
using report::html::Page;
using report::html::written;

/// What changed since the point before: [group, bytes].
Json changes(const CurvePoint& point, const CurvePoint* before) {
  Json out = Json::array();
  for (std::size_t g = 0; g < point.by_group.size(); ++g) {
    const Bytes was = before == nullptr ? Bytes() : before->by_group[g];
    if (point.by_group[g] != was) out.push_back({g, point.by_group[g].count()});
  }
  return out;
}

Json json_of(const Curve& curve) {
  Json groups = Json::array();
  for (const CurveGroup& group : curve.groups)
    groups.push_back({{"bucket", name_of(group.bucket)}, {"op", group.op}, {"module", group.module}});
  Json points = Json::array();
  const CurvePoint* before = nullptr;
  for (const CurvePoint& point : curve.points) {
    points.push_back({{"phase", name_of(point.phase)},
                      {"changes", changes(point, before)},
                      {"reserved", point.reserved.count()},
                      {"op", point.op},
                      {"module", point.module},
                      {"layer", point.layer < 0 ? Json() : Json(point.layer)},
                      {"bytes", point.bytes.count()}});
    before = &point;
  }
  return {{"step", curve.step}, {"groups", std::move(groups)}, {"points", std::move(points)}};
}

/// For each bucket the facts that move it, the strongest first.
Json movers() {
  Json out = Json::object();
  for (std::size_t b = 0; b < bucket_count; ++b) {
    Json& names = out[std::string(bucket_names[b])] = Json::array();
    for (const FactRow* fact : facts_that_move(static_cast<Bucket>(b))) names.push_back(fact->name);
  }
  return out;
}

}  // namespace

std::string estimate_html(const Report& report, const std::optional<Curve>& curve) {
  return written({.kind = "estimate",
                  .title = "oomplan estimate " + report.found.config,
                  .answer = Json::parse(*render(report, "json")),
                  .curve = curve ? json_of(*curve) : Json(),
                  .movers = movers(),
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
