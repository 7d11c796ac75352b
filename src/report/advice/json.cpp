#include "../host_json.hpp"
#include "../json_values.hpp"
#include "oomplan/report/advice_view.hpp"
#include "oomplan/report/report.hpp"

namespace oomplan {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view none = "none";

template <class T>
Json list_of(const std::vector<T>& items);

Json of(const Taken& taken) { return {{"id", taken.id}, {"times", taken.times}}; }
Json of(const Passed& passed) {
  return {{"id", passed.id}, {"title", passed.title}, {"why", passed.why}, {"unneeded", passed.unneeded}};
}
Json of(const Changed& one) { return {{"fact", one.fact}, {"before", one.before}, {"after", one.after}}; }
Json of(const LauncherFile& file) { return {{"name", file.name}, {"text", file.text}}; }
Json of(const KeyChange& change) { return {{"key", change.key}, {"value", change.value}}; }
Json of(Bucket bucket) { return name_of(bucket); }

Json of(const Cost& cost) {
  return {{"changes_experiment", cost.science[0]},
          {"numerics", cost.science[1]},
          {"batch_statistics", cost.science[2]},
          {"slower_percent", cost.slower},
          {"effort", cost.effort}};
}

Json of(const Trial& trial) {
  Json by_bucket = Json::object();
  for (std::size_t i = 0; i < bucket_count; ++i) by_bucket[std::string(bucket_names[i])] = trial.by_bucket[i].count();
  return {{"fixes", list_of(trial.fixes)},
          {"cost", of(trial.cost)},
          {"needed", trial.needed.count()},
          {"at_least", trial.at_least},
          {"fits", trial.fits},
          {"fragmentation", trial.fragmentation},
          {"host", report::limits_json(trial.host)},
          {"by_bucket", by_bucket}};
}

Json slower_of(const std::optional<Slowdown>& slower) {
  if (!slower) return nullptr;
  return {{"least_percent", slower->least}, {"most_percent", slower->most}, {"source", slower->source}};
}

Json of(const LadderFix& fix) {
  return {{"id", fix.id},
          {"title", fix.title},
          {"relieves", list_of(fix.relieves)},
          {"slower", slower_of(fix.slower)},
          {"science", name_of(fix.science)},
          {"effort", name_of(fix.effort)},
          {"verify", fix.verify},
          {"how", fix.how},
          {"source", fix.source}};
}

Json of(const Alternative& one) {
  return {{"name", one.name}, {"trial", of(one.trial)}, {"fixes", list_of(one.taken)}};
}

template <class T>
Json list_of(const std::vector<T>& items) {
  Json out = Json::array();
  for (const T& item : items) out.push_back(of(item));
  return out;
}

Json head(const std::string& config, std::string_view verdict) {
  return {{"schema", "oomplan/advice/1"}, {"oomplan", version()}, {"config", config}, {"verdict", verdict}};
}

std::string printed(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

Json gpu_of(const Gpu& gpu) { return {{"name", gpu.name}, {"total", gpu.total.count()}}; }

std::string_view verdict_of(const Advice& advice) {
  if (advice.now.fits) return "fits";
  return advice.found ? "fixed" : "nothing_fits";
}

Json body(const Advice& advice, std::string_view verdict) {
  Json out = head(advice.config, verdict);
  const bool answered = verdict != none;
  out["assumed_trainer"] = report::text_or_null(advice.assumed_trainer);
  out["gpu"] = answered ? gpu_of(advice.gpu) : Json(nullptr);
  out["headroom"] = advice.headroom;
  out["now"] = answered ? of(advice.now) : Json(nullptr);
  out["found"] = advice.found ? of(*advice.found) : Json(nullptr);
  out["lowest"] = advice.lowest ? of(*advice.lowest) : Json(nullptr);
  out["steps"] = list_of(advice.steps);
  out["fixes"] = list_of(advice.taken);
  out["alternatives"] = list_of(advice.alternatives);
  out["larger_gpus"] = Json::array();
  for (const Gpu& gpu : advice.larger) out["larger_gpus"].push_back(gpu_of(gpu));
  out["changes"] = list_of(advice.changes);
  out["keys"] = list_of(advice.keys);
  out["launcher"] = advice.launcher ? of(*advice.launcher) : Json(nullptr);
  out["patch"] = advice.patch.empty() ? Json(nullptr) : Json(advice.patch);
  out["no_patch"] = advice.no_patch;
  out["beside"] = advice.beside;
  out["tried"] = list_of(advice.tried);
  out["tried_fixes"] = list_of(advice.rungs);
  out["passed"] = list_of(advice.passed);
  out["not_estimated"] = list_of(advice.unplayed);
  out["sets"] = advice.sets;
  out["whole"] = advice.whole;
  out["diagnostics"] = Json::array();
  return out;
}

}  // namespace

std::string advice_json(const Advice& advice) { return printed(body(advice, verdict_of(advice))); }

std::string advice_json(const std::string& config, const Diagnostics& problems) {
  Json out = body({.config = config}, none);
  for (const Diagnostic& problem : problems) out["diagnostics"].push_back(report::diagnostic_json(problem));
  return printed(out);
}

}  // namespace oomplan
