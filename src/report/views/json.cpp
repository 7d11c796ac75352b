// For programs: everything in bytes, as docs/estimate.schema.json says. One object, whatever happened.
#include <nlohmann/json.hpp>

#include "../facts.hpp"
#include "../group.hpp"
#include "../host_json.hpp"
#include "../json_values.hpp"
#include "../outlook_json.hpp"
#include "../view.hpp"
#include "oomplan/plan/trainer.hpp"

namespace oomplan::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view schema = "oomplan/estimate/1";

Json json_of(const Diagnostic& diagnostic) { return diagnostic_json(diagnostic); }

Json json_of(const Fact& fact) {
  Json origin = object_of({{"kind", name_of(fact.origin.kind)}, {"source", fact.origin.source}});
  origin.update(location_json(fact.origin.where));
  const std::string derivation = derivation_of(fact);
  origin["derivation"] = derivation.empty() ? Json() : Json(derivation);
  Json out = object_of({{"name", fact.name}});
  std::visit([&](const auto& value) { out["value"] = value; }, fact.value);
  out["origin"] = std::move(origin);
  return out;
}

Json json_of(const ByBucket& by_bucket) {
  Json out = Json::object();
  for (std::size_t i = 0; i < bucket_count; ++i) out[std::string(bucket_names[i])] = by_bucket[i].count();
  return out;
}

Json json_of(const PhasePeak& peak) {
  return object_of({{"phase", name_of(peak.phase)},
                    {"step", peak.step},
                    {"total", peak.total.count()},
                    {"by_bucket", json_of(peak.by_bucket)}});
}

Json layer_or_null(int layer) { return layer < 0 ? Json() : Json(layer); }

Json json_of(const LiveGroup& group) {
  return object_of({{"bucket", name_of(group.bucket)},
                    {"born", name_of(group.born)},
                    {"op", group.op},
                    {"module", group.module},
                    {"first_layer", layer_or_null(group.first_layer)},
                    {"last_layer", layer_or_null(group.last_layer)},
                    {"count", group.count},
                    {"shape", group.shape},
                    {"dtype", name_of(group.dtype)},
                    {"bytes", group.bytes.count()}});
}

Json json_of(const RuntimeTerm& term) {
  return object_of({{"name", term.name}, {"bytes", term.bytes.count()}, {"source", term.source}});
}

Json json_of(const Contribution& part) {
  return object_of(
      {{"name", part.name}, {"why", part.why}, {"lower", part.lower.count()}, {"upper", part.upper.count()}});
}

Json json_of(const RankAnswer& rank) {
  Json needed = Json::array();
  for (const std::optional<Bytes>& bytes : rank.needed) needed.push_back(bytes ? Json(bytes->count()) : Json());
  return object_of({{"kind", rank.kind.name},
                    {"count", rank.kind.count},
                    {"peak", json_of(rank.peak)},
                    {"needed", std::move(needed)}});
}

Json json_of(const Unmodelled& gap) {
  return object_of(
      {{"feature", gap.feature}, {"key", gap.key}, {"line", gap.where.line > 0 ? Json(gap.where.line) : Json()}});
}

Json json_of(const LengthPoint& point) {
  return object_of(
      {{"length", point.length}, {"needed", point.needed.count()}, {"at_least", point.at_least}, {"fits", point.fits}});
}

Json json_of(const WorldPoint& point) {
  return object_of(
      {{"gpus", point.gpus}, {"needed", point.needed.count()}, {"at_least", point.at_least}, {"fits", point.fits}});
}

Json json_of(const Fit& fit);
Json json_of(const Lengths& lengths);
Json json_of(const Worlds& worlds);

template <class T>
Json list_of(const std::vector<T>& values) {
  Json out = Json::array();
  for (const T& value : values) out.push_back(json_of(value));
  return out;
}

/// {lower, upper, contributions}.
Json json_of(const Range& range) {
  return object_of({{"lower", range.lower.count()},
                    {"upper", range.upper.count()},
                    {"contributions", list_of(range.contributions)}});
}

Json json_of(const Fit& fit) {
  return object_of({{"name", fit.gpu.name},
                    {"title", fit.gpu.title},
                    {"total", fit.gpu.total.count()},
                    {"total_source", fit.gpu.total_source},
                    {"runtime", list_of(fit.runtime)},
                    {"needed", fit.needed.count()},
                    {"range", json_of(fit.range())},
                    {"headroom", fit.headroom.count()},
                    {"headroom_wanted", fit.wanted.count()},
                    {"at_least", fit.at_least},
                    {"paged", fit.paged.count()},
                    {"paged_to_host", fit.paged_to_host().count()},
                    {"fits", fit.fits()},
                    {"verdict", name_of(fit.verdict)},
                    {"may_fit", fit.may_fit()},
                    {"max_memory_allocated", fit.torch ? Json(fit.torch->allocated.count()) : Json()},
                    {"max_memory_reserved", fit.torch ? Json(fit.torch->reserved.count()) : Json()},
                    {"of_kernels", fit.torch ? Json(fit.torch->kernels.count()) : Json()},
                    {"nvidia_smi", fit.torch ? Json(fit.nvidia_smi().count()) : Json()}});
}

Json json_of(const Lengths& lengths) {
  return object_of({{"gpu", lengths.gpu},
                    {"shortest", lengths.least},
                    {"longest", lengths.most},
                    {"longest_is_limit", lengths.stops},
                    {"largest", lengths.largest},
                    {"needed", lengths.largest > 0 ? Json(lengths.needed.count()) : Json()},
                    {"points", list_of(lengths.points)}});
}

Json json_of(const Worlds& worlds) { return object_of({{"gpu", worlds.title}, {"points", list_of(worlds.points)}}); }

Json plan_json(const Report& report) {
  if (!report.found.plan) return nullptr;
  return object_of({{"dialect", report.found.plan->dialect},
                    {"framework", report.found.plan->framework},
                    {"framework_assumed", report.found.versions_assumed},
                    {"assumed_trainer", text_or_null(assumed_trainer(*report.found.plan))},
                    {"facts", list_of(report.facts)}});
}

Json model_json(const Report& report) {
  if (!report.found.architecture) return nullptr;
  const Architecture& model = *report.found.architecture;
  Json config = Json::object();
  for (const auto& [key, attribute] : model.config) {
    std::visit([&, &name = key](const auto& value) { config[name] = value; }, attribute);
  }
  return object_of({{"architecture", model.name},
                    {"model_type", model.model_type},
                    {"source", model.source},
                    {"layers", model.layers},
                    {"checkpoint_dtype", name_of(model.checkpoint_dtype)},
                    {"config", std::move(config)}});
}

Json bucket_peaks_json(const Footprint& footprint) {
  Json out = Json::array();
  const std::size_t count = std::min(footprint.bucket_peaks.size(), footprint.at_bucket_peaks.size());
  for (std::size_t i = 0; i < count; ++i) {
    Json row =
        object_of({{"bucket", bucket_names.at(i)}, {"bytes", footprint.bucket_peaks[i].by_bucket.at(i).count()}});
    row.update(json_of(footprint.bucket_peaks[i]));
    row["groups"] = list_of(of_bucket(footprint.at_bucket_peaks[i], static_cast<Bucket>(i)));
    out.push_back(std::move(row));
  }
  return out;
}

Json reserved_json(const Report& report) {
  if (!report.found.reserved) return nullptr;
  const Reserved& reserved = *report.found.reserved;
  return object_of(
      {{"alloc_conf", report.found.plan ? report.found.plan->runtime.alloc_conf.value : ""},
       {"max_memory_allocated", reserved.allocated.saturated() ? Json() : Json(reserved.allocated.count())},
       {"peak", reserved.peak.saturated() ? Json() : Json(reserved.peak.count())},
       {"smallest", reserved.smallest.saturated() ? Json() : Json(reserved.smallest.count())}});
}

Json footprint_json(const Report& report) {
  if (!report.found.footprint) return nullptr;
  const Footprint& footprint = *report.found.footprint;
  return object_of({{"parameters", footprint.parameters},
                    {"trainable_parameters", footprint.trainable_parameters},
                    {"attention_kernels", footprint.attention_kernels},
                    {"peak", json_of(footprint.peak)},
                    {"peaks", list_of(footprint.peaks)},
                    {"reserved", reserved_json(report)},
                    {"at_peak", list_of(footprint.at_peak)},
                    {"bucket_peaks", bucket_peaks_json(footprint)}});
}

Json not_counted(const Report& report) {
  if (!report.found.footprint) return Json::array();
  Json out = Json::array({"other_processes"});
  const auto& plan = report.found.plan;
  if (!plan || !plan->evaluation.evaluates.value) out.push_back("evaluation");
  if (!plan || !counts_saving(*plan)) out.push_back("saving");
  if (!plan || !counts_resuming(*plan)) out.push_back("resuming");
  if (plan && plan->quantization.kind.value == Quantization::int8) out.push_back("outlier_columns");
  return out;
}

}  // namespace

std::string views::json(const Report& report, const ViewOptions&) {
  const Json out =
      object_of({{"schema", schema},
                 {"oomplan", version()},
                 {"config", report.found.config},
                 {"recipe", text_or_null(report.found.recipe)},
                 {"verdict", name_of(report.found.verdict)},
                 {"plan", plan_json(report)},
                 {"model", model_json(report)},
                 {"footprint", footprint_json(report)},
                 {"gpus", list_of(report.found.fits)},
                 {"lengths", list_of(report.found.lengths)},
                 {"worlds", list_of(report.found.worlds)},
                 {"outlook", report.found.outlook ? outlook_json(*report.found.outlook) : Json()},
                 {"ranks", list_of(report.found.ranks)},
                 {"host", report.found.host ? host_json(*report.found.host) : Json()},
                 {"not_counted", not_counted(report)},
                 {"unmodelled", report.found.plan ? list_of(report.found.plan->unmodelled) : Json::array()},
                 {"diagnostics", list_of(report.diagnostics)}});
  // A file name may hold any byte; the answer stays valid UTF-8.
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace oomplan::report
