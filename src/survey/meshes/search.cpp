// plan_meshes: bounded all, played few.
#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "oomplan/core/bytes.hpp"
#include "oomplan/estimate/fit_check.hpp"
#include "oomplan/estimate/stages.hpp"
#include "oomplan/ingest/ingest.hpp"
#include "settings.hpp"

namespace oomplan {
namespace {

constexpr std::size_t most_listed = 10;
/// Where nothing fits, so many are played for a figure.
constexpr int most_misfits = 3;

/// What one candidate comes to before it is played.
struct Candidate {
  MeshLayout layout{};
  StepCost cost{};
  Bytes least{};
};

/// Meshes of which the quickest that fits is listed alone.
using Mesh = std::tuple<std::int64_t, std::int64_t, Sharding, std::int64_t>;
Mesh mesh_of(const MeshShape& shape) { return {shape.tensor, shape.pipeline, shape.sharding, shape.replicas}; }

bool names_number(const Diagnostics& reasons) {
  return std::ranges::any_of(
      reasons, [](const Diagnostic& one) { return one.message.find_first_of("0123456789") != one.message.npos; });
}

class MeshSearch {
 public:
  MeshSearch(const LayoutQuestion& question, const TrainingPlan& plain)
      : question_(question), plain_(plain), limit_(limit_of(question.gpu, question.headroom)) {}

  Meshes run() {
    make_candidates();
    for (const Candidate& one : candidates_) {
      const bool is_behind = fitting_.size() == most_listed || done_.contains(mesh_of(one.layout.shape));
      if (is_behind) {
        ++out_.counts.not_played;
      } else {
        take(one);
      }
    }
    if (fitting_.empty() && misfits_.empty()) play_the_least();
    return listed();
  }

 private:
  /// Of what a candidate's cost follows beside its numbers: by sharding, as the dtypes of what is moved.
  const TrainingPlan* dtypes_of(const MeshLayout& layout) {
    const auto key = std::pair(layout.shape.tensor > 1, layout.shape.sharding);
    const auto known = dtypes_.find(key);
    if (known != dtypes_.end()) return known->second ? &*known->second : nullptr;
    MeshLayout whole = layout;
    whole.shape.data *= whole.shape.pipeline;
    whole.shape.pipeline = whole.shape.stages_each = 1;
    whole.shape.schedule = PipelineSchedule::one_f_one_b;
    Result<TrainingPlan> plan = survey::mesh_plan(question_, whole);
    if (!plan) plan = plain_;
    plan->mesh.sharding.value = layout.shape.sharding;
    return &*dtypes_.emplace(key, std::move(*plan)).first->second;
  }

  MeshModel model() const {
    const Architecture& model = question_.architecture;
    MeshModel out{.layers = std::max<std::int64_t>(model.layers, 1),
                  .width = width_of(model),
                  .vocabulary = vocabulary_of(model)};
    out.parameters.mixture = any_op(model, [](const OpSpec& op) { return op.op.ends_with("_moe"); });
    out.parameters.checkpoint_bytes = model.checkpoint_dtype == DType::fp32 ? 4 : 2;
    TrainingPlan one = plain_;  // Its numbers of parameters alone.
    one.mesh.sharding.value = Sharding::none;
    one.mesh.world_size.value = one.mesh.tensor_parallel.value = one.mesh.pipeline_parallel.value = 1;
    one.mesh.sequence_parallel.value = one.mesh.loss_parallel.value = false;
    one.mesh.pipeline_micro_batches.value = one.mesh.pipeline_stages.value = 1;
    one.mesh.pipeline_layers.value.clear();
    one.unmodelled.clear();
    if (const Result<Footprint> footprint = estimate(one, model, Detail::peaks)) {
      out.parameters.all = footprint->parameters;
      out.parameters.trained = footprint->trainable_parameters;
    } else {
      out.parameters.all = out.parameters.trained = model.parameters;
    }
    return out;
  }

  void make_candidates() {
    sizes_ = model();
    MeshBound bound(question_);
    std::vector<MeshLayout> all = mesh_layouts(question_.world, question_.rows, sizes_.layers, plain_.dialect);
    out_.counts.considered = std::ssize(all);
    for (MeshLayout& layout : all) {
      const Bytes least = bound.least(layout) + question_.gpu.context;
      if (least > limit_) {
        ++out_.counts.too_large;
        too_large_.push_back({std::move(layout), {}, least});
        continue;
      }
      const StepCost cost = mesh_cost(layout, *dtypes_of(layout), sizes_, question_.gpu, question_.world);
      candidates_.push_back({std::move(layout), cost, least});
    }
    const auto order = [](const Candidate& one) {
      const double seconds = one.cost.seconds.value_or(0);
      return std::tuple(seconds, one.layout.checkpointing, one.cost.moved, one.least, one.layout.shape.tensor,
                        one.layout.shape.pipeline);
    };
    std::ranges::stable_sort(candidates_, {}, order);
  }

  Layout layout_of(const Candidate& one) const {
    const MeshShape& shape = one.layout.shape;
    return {.kind = {.name = name_of(shape), .title = title_of(shape), .sharding = shape.sharding},
            .checkpointing = one.layout.checkpointing,
            .micro_batch = one.layout.micro_batch,
            .accumulation = one.layout.micro_batches,
            .cost = one.cost,
            .settings = mesh_settings(one.layout, plain_, question_.world),
            .mesh = one.layout};
  }

  void take(const Candidate& one) {
    const MeshShape& shape = one.layout.shape;
    const Structure structure(shape.tensor > 1, shape.sequence, shape.loss, shape.pipeline > 1, shape.schedule,
                              shape.sharding, shape.replicas > 1, one.layout.checkpointing);
    if (const auto known = without_.find(structure); known != without_.end()) return leave(one, known->second);
    const Result<TrainingPlan> plan = survey::mesh_plan(question_, one.layout);
    if (!plan) return leave(one, plan.errors(), structure);
    const CheckedFit fit = FitCheck(*plan, question_.architecture).on(question_.gpu, limit_);
    if (!fit.errors.empty()) return leave(one, fit.errors, structure);
    ++out_.counts.played;
    Layout out = layout_of(one);
    out.needed = fit.needed;
    out.at_least = fit.at_least;
    out.fits = fit.fits;
    out.fp32_trained = is_fp32_trained(*plan, question_.architecture);
    if (out.fits) hold_host(out, question_, *plan, fit.paged_to_host);
    if (!out.undecided.empty()) {
      --out_.counts.played;
      return leave(one, out.undecided, structure);
    }
    // Of a mesh's batches none needs much less of the host than another.
    if (out.fits || !out.host.empty()) done_.insert(mesh_of(shape));
    if (out.fits) {
      fitting_.push_back(std::move(out));
      return;
    }
    ++out_.counts.misfits;
    misfits_.push_back(std::move(out));
  }

  using Structure = std::tuple<bool, bool, bool, bool, PipelineSchedule, Sharding, bool, bool>;

  /// A reason that names no number is of all layouts of the same parts.
  void leave(const Candidate& one, const Diagnostics& why, const Structure& structure) {
    if (!names_number(why)) without_.emplace(structure, why);
    leave(one, why);
  }

  void leave(const Candidate& one, const Diagnostics& why) {
    // What the frameworks stop at is no layout.
    if (std::ranges::any_of(why, [](const Diagnostic& of) { return of.code == "estimate/bad-mesh"; })) {
      ++out_.counts.refused;
      return;
    }
    ++out_.counts.undecided;
    const MeshShape& shape = one.layout.shape;
    if (!left_.emplace(mesh_of(shape), shape.schedule).second) return;
    Layout out = layout_of(one);
    out.undecided = why;
    undecided_.push_back(std::move(out));
  }

  /// For a figure of what does not fit by its bound: the least that the frameworks run.
  void play_the_least() {
    std::ranges::stable_sort(too_large_, {}, &Candidate::least);
    for (Candidate& one : too_large_) {
      one.cost = mesh_cost(one.layout, *dtypes_of(one.layout), sizes_, question_.gpu, question_.world);
      take(one);
      if (!misfits_.empty() || !fitting_.empty()) return;
    }
  }

  Meshes listed() {
    out_.layouts = std::move(fitting_);
    if (out_.layouts.empty()) {
      std::ranges::stable_sort(misfits_, {}, &Layout::needed);
      if (misfits_.size() > most_misfits) misfits_.resize(most_misfits);
      out_.layouts = std::move(misfits_);
    }
    for (auto& one : undecided_) out_.layouts.push_back(std::move(one));
    return std::move(out_);
  }

  const LayoutQuestion& question_;
  const TrainingPlan& plain_;
  Bytes limit_;
  std::vector<Candidate> candidates_{};
  std::vector<Candidate> too_large_{};
  MeshModel sizes_{};
  std::map<std::pair<bool, Sharding>, std::optional<TrainingPlan>> dtypes_{};
  std::map<Structure, Diagnostics> without_{};
  std::set<Mesh> done_{};
  std::set<std::pair<Mesh, PipelineSchedule>> left_{};
  std::vector<Layout> fitting_{};
  std::vector<Layout> misfits_{};
  std::vector<Layout> undecided_{};
  Meshes out_{};
};

}  // namespace

Meshes plan_meshes(const LayoutQuestion& question, const TrainingPlan& plain) {
  return MeshSearch(question, plain).run();
}

std::optional<Bytes> needed_as_written(const LayoutQuestion& question, const MeshLayout& layout) {
  Result<TrainingPlan> plan = ingest(question.document, question.ingest);
  if (plan) plan = with_model_defaults(std::move(*plan), question.architecture);
  if (!plan || !survey::is_mesh(*plan, layout)) return std::nullopt;
  const Bytes limit = limit_of(question.gpu, question.headroom);
  const CheckedFit fit = FitCheck(*plan, question.architecture).on(question.gpu, limit);
  return fit.errors.empty() ? std::optional(fit.needed) : std::nullopt;
}

}  // namespace oomplan
