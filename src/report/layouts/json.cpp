#include "../host_json.hpp"
#include "../json_values.hpp"
#include "oomplan/report/layouts_view.hpp"

namespace oomplan {
namespace {

using Json = nlohmann::ordered_json;

Json mesh_json(const MeshLayout& layout) {
  const MeshShape& shape = layout.shape;
  return {{"data_parallel", shape.data},
          {"sharding", sharding_names[static_cast<std::size_t>(shape.sharding)]},
          {"replicas", shape.replicas},
          {"kept_to_backward", shape.kept},
          {"tensor_parallel", shape.tensor},
          {"sequence_parallel", shape.sequence},
          {"loss_parallel", shape.loss},
          {"pipeline_parallel", shape.pipeline},
          {"pipeline_schedule",
           shape.pipeline > 1 ? Json(pipeline_schedule_names[static_cast<std::size_t>(shape.schedule)]) : Json()},
          {"stages_of_a_gpu", shape.stages_each}};
}

Json counts_json(const MeshCounts& counts) {
  return {{"considered", counts.considered}, {"too_large", counts.too_large}, {"played", counts.played},
          {"misfits", counts.misfits},       {"refused", counts.refused},     {"undecided", counts.undecided},
          {"not_played", counts.not_played}};
}

Json layout_json(const Layout& layout, const LayoutWorld& world) {
  const std::int64_t rows = layout.mesh ? layout.mesh->rows() : layout.micro_batch * layout.accumulation * world.gpus();
  const bool decided = layout.undecided.empty();
  const auto where_decided = [&](const auto& value) { return decided ? Json(value) : Json(); };
  Json out{{"name", layout.kind.name},
           {"title", layout.kind.title},
           {"checkpointing", layout.checkpointing},
           {"micro_batch_size", where_decided(layout.micro_batch)},
           {"gradient_accumulation_steps", where_decided(layout.accumulation)},
           {"rows", where_decided(rows)},
           {"needed", where_decided(layout.needed.count())},
           {"at_least", layout.at_least},
           {"fits", layout.fits},
           {"host", report::limits_json(layout.host)},
           {"fp32_trained", where_decided(layout.fp32_trained)},
           {"moved", where_decided(layout.cost.moved.count())},
           {"seconds", decided && layout.cost.seconds ? Json(*layout.cost.seconds) : Json()},
           {"launch", report::text_or_null(layout.launcher)},
           {"mesh", layout.mesh ? mesh_json(*layout.mesh) : Json()},
           {"settings", decided ? Json(layout.settings) : Json::array()},
           {"diagnostics", Json::array()}};
  for (const Diagnostic& problem : layout.undecided) out["diagnostics"].push_back(report::diagnostic_json(problem));
  return out;
}

Json plan_json(const LayoutsView& view) {
  const bool answered = !view.layouts.empty();
  Json out{{"schema", "oomplan/plan/1"}, {"oomplan", version()}, {"config", view.config}};
  out["recipe"] = report::text_or_null(view.recipe);
  out["gpu"] = answered ? Json{{"name", view.gpu.name}, {"total", view.gpu.total.count()}} : Json();
  out["machines"] = answered ? Json(view.world.machines) : Json();
  out["gpus_of_a_machine"] = answered ? Json(view.world.each) : Json();
  out["network_gb_s"] = view.world.machines > 1 ? Json(view.world.network) : Json();
  out["rows"] = answered ? Json(view.rows) : Json();
  out["headroom"] = view.headroom;
  out["layouts"] = Json::array();
  for (const Layout& layout : view.layouts) out["layouts"].push_back(layout_json(layout, view.world));
  out["meshes"] = view.meshes ? counts_json(*view.meshes) : Json();
  out["files"] = view.files;
  out["diagnostics"] = Json::array();
  return out;
}

std::string plan_text(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace

std::string layouts_json(const LayoutsView& view) { return plan_text(plan_json(view)); }

std::string layouts_json(const std::string& config, const Diagnostics& problems) {
  Json out = plan_json({.config = config});
  for (const Diagnostic& problem : problems) out["diagnostics"].push_back(report::diagnostic_json(problem));
  return plan_text(out);
}

}  // namespace oomplan
