// For programs: sizes in bytes. One object, whatever happened.
#include "../json_values.hpp"
#include "oomplan/report/comparison_view.hpp"

namespace oomplan {
namespace {

using Json = nlohmann::ordered_json;

Json bytes_or_null(const std::optional<Bytes>& bytes) { return bytes ? Json(bytes->count()) : Json(); }

Json moment_json(const PhaseOfStep& at) { return {{"phase", name_of(at.phase)}, {"step", at.step}}; }

Json tensor_json(const std::optional<PredictedTensor>& tensor) {
  if (!tensor) return nullptr;
  return {{"bucket", name_of(tensor->bucket)}, {"op", tensor->op}, {"module", report::text_or_null(tensor->module)}};
}

Json difference_json(const Difference& one) {
  return {{"kind", name_of(one.kind)},
          {"count", one.count},
          {"predicted", one.predicted.count()},
          {"observed", one.observed.count()},
          {"bytes", one.bytes().count()},
          {"at", one.at ? moment_json(*one.at) : Json()},
          {"tensor", tensor_json(one.tensor)},
          {"entry", one.entry > 0 ? Json(one.entry) : Json()},
          {"frames", one.frames}};
}

Json seen_json(const SeenMoment& seen) {
  Json after = Json::array();
  for (const PhaseOfStep& at : seen.after) after.push_back(moment_json(at));
  return {{"after", after},
          {"optimizer_state", seen.optimizer_state ? Json(*seen.optimizer_state) : Json()},
          {"apart", seen.apart.count()},
          {"undecided", report::text_or_null(seen.undecided)}};
}

Json rows_json(const Comparison& found) {
  Json phases = Json::array();
  for (const ComparedPhase& one : found.phases) {
    Json row = moment_json(one.at);
    row["predicted"] = bytes_or_null(one.predicted);
    row["observed"] = bytes_or_null(one.observed);
    phases.push_back(std::move(row));
  }
  Json buckets = Json::array();
  for (const ComparedBucket& one : found.buckets)
    buckets.push_back({{"bucket", one.name}, {"predicted", one.predicted.count()}, {"observed", one.observed.count()}});
  Json sizes = Json::array();
  for (const ComparedSize& one : found.sizes)
    sizes.push_back({{"size", one.size.count()},
                     {"predicted", one.predicted},
                     {"observed", one.observed},
                     {"tensor", tensor_json(one.tensor)},
                     {"frames", one.frames}});
  return {{"phases", phases}, {"buckets", buckets}, {"sizes", sizes}};
}

Json differences_json(const Comparison& found) {
  Json out = Json::array();
  for (const Difference& one : found.differences) out.push_back(difference_json(one));
  return out;
}

Json found_json(const Comparison& found) {
  const bool traced = found.coverage != Coverage::end_only;
  Json out{{"device", found.device},
           {"coverage", name_of(found.coverage)},
           {"told_by", name_of(found.told_by)},
           {"undecided", report::text_or_null(found.undecided)},
           {"entries", found.entries},
           {"lined_up", found.lined_up},
           {"steps", found.steps},
           {"ends_early", found.ends_early}};
  out["peak"] = {{"predicted_allocated", found.predicted_allocated.count()},
                 {"predicted_reserved", found.predicted_reserved.count()},
                 {"observed_allocated", bytes_or_null(found.observed_allocated)},
                 {"observed_reserved", bytes_or_null(found.observed_reserved)}};
  out["end"] = {{"allocated", found.end_allocated.count()}, {"reserved", found.end_reserved.count()}};
  out["begins"] = traced && found.coverage == Coverage::cut ? seen_json(found.begins) : Json();
  out["ends"] = seen_json(found.ends);
  out.update(rows_json(found));
  out["first"] = found.first ? difference_json(*found.first) : Json();
  out["differences"] = differences_json(found);
  out["more_differences"] = found.more_differences;
  return out;
}

std::string_view verdict_of(const Comparison& found) {
  if (!found.is_lined_up()) return "undecided";
  return found.is_same() ? "same" : "differs";
}

std::string printed(const std::string& config, const std::string& file, std::string_view verdict, const Json& gpu,
                    const Json& found, const Diagnostics& diagnostics) {
  Json out{{"schema", "oomplan/compare/1"},
           {"oomplan", version()},
           {"verdict", verdict},
           {"config", config},
           {"snapshot", file},
           {"gpu", gpu},
           {"comparison", found},
           {"diagnostics", Json::array()}};
  for (const Diagnostic& one : diagnostics) out["diagnostics"].push_back(report::diagnostic_json(one));
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string comparison_json(const ComparisonView& view) {
  return printed(view.config, view.found.file, verdict_of(view.found), report::text_or_null(view.gpu),
                 found_json(view.found), view.warnings);
}

std::string comparison_json(const std::string& config, const std::string& file, Verdict verdict,
                            const Diagnostics& problems) {
  return printed(config, file, name_of(verdict), nullptr, nullptr, problems);
}

}  // namespace oomplan
