// layout_of: a search over the micro-batch of one layout; sort_layouts.
#include "oomplan/survey/layouts.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "largest.hpp"
#include "oomplan/ingest/keys.hpp"
#include "oomplan/survey/survey.hpp"

namespace oomplan {
namespace {

const std::string launch_name = "accelerate.yaml";
constexpr int most_tries = 8;
constexpr std::string_view micro_batch_fact = "micro_batch_size";
constexpr std::string_view accumulation_fact = "gradient_accumulation_steps";
constexpr std::string_view checkpointing_fact = "gradient_checkpointing";

/// Whether it has an op of models/architectures that sends tokens to some of its experts.
bool is_mixture(const Architecture& model) {
  return any_op(model, [](const OpSpec& op) { return op.op.ends_with("_moe"); });
}

/// The question's document, started as a layout has it.
class LayoutSearch {
 public:
  LayoutSearch(const LayoutQuestion& question, Layout& layout) : question_(question), layout_(layout) {
    options_ = question.ingest;
    options_.launch = {launch_name};
    options_.loader = [other = question.ingest.loader, text = layout.launcher](const std::string& path) {
      if (path != launch_name) return other(path);
      return parse_document(text, launch_name, Syntax::yaml);
    };
  }

  /// What the document needs as it stands, where that is the layout.
  std::optional<Bytes> as_written() const {
    const Result<TrainingPlan> plan = plan_with({});
    if (!plan || !is_asked(*plan, layout_.micro_batch, layout_.accumulation)) return std::nullopt;
    const CheckedFit fit =
        FitCheck(*plan, question_.architecture).on(question_.gpu, limit_of(question_.gpu, question_.headroom));
    return fit.errors.empty() ? std::optional(fit.needed) : std::nullopt;
  }

  /// All rows of a rank at once, else as many as fit in as few micro-batches as that takes.
  void find(std::int64_t rows) {
    if (!take(rows, 1) || layout_.fits || rows == 1) return;
    const std::optional<std::int64_t> most = largest_of(rows);
    if (!most) return;
    if (*most == 0) {
      take(1, rows);
      return;
    }
    // By how the allocator rounds, fewer rows can need more, and more micro-batches too: then a few more are tried.
    std::int64_t accumulation = divided_up(rows, *most);
    for (int tries = 0; tries < most_tries; ++tries, ++accumulation)
      if (!take(divided_up(rows, accumulation), accumulation) || layout_.fits || layout_.micro_batch == 1) return;
  }

 private:
  std::string key_of(std::string_view fact) const {
    return key_of_fact(fact, options_.dialect).value_or(std::string(fact));
  }

  /// But the micro-batch.
  std::vector<std::string> settings(std::int64_t accumulation) const {
    return {key_of(accumulation_fact) + "=" + std::to_string(accumulation),
            key_of(checkpointing_fact) + (layout_.checkpointing ? "=true" : "=false")};
  }

  std::vector<std::string> settings(std::int64_t micro_batch, std::int64_t accumulation) const {
    std::vector<std::string> out = settings(accumulation);
    out.insert(out.begin(), key_of(micro_batch_fact) + "=" + std::to_string(micro_batch));
    return out;
  }

  IngestOptions with(const std::vector<std::string>& settings) const {
    IngestOptions out = options_;
    out.overrides.insert(out.overrides.end(), settings.begin(), settings.end());
    return out;
  }

  Result<TrainingPlan> plan_with(const std::vector<std::string>& settings) const {
    Result<TrainingPlan> plan = ingest(question_.document, with(settings));
    return plan ? with_model_defaults(std::move(*plan), question_.architecture) : plan;
  }

  /// Makes it the layout's. False where it cannot be decided.
  bool take(std::int64_t micro_batch, std::int64_t accumulation) {
    layout_.settings = settings(micro_batch, accumulation);
    const Result<TrainingPlan> plan = plan_with(layout_.settings);
    if (!plan) return leave(plan.errors());
    if (!is_asked(*plan, micro_batch, accumulation)) return leave({other_layout()});
    FitCheck check(*plan, question_.architecture);
    const CheckedFit fit = check.on(question_.gpu, limit_of(question_.gpu, question_.headroom));
    if (!fit.errors.empty()) return leave(fit.errors);
    layout_.micro_batch = micro_batch;
    layout_.accumulation = accumulation;
    layout_.needed = fit.needed;
    layout_.at_least = fit.at_least;
    layout_.fits = fit.fits;
    layout_.fp32_trained = is_fp32_trained(*plan, question_.architecture);
    const DType checkpoint = question_.architecture.checkpoint_dtype;
    const Counted parameters{check.peaks()->parameters, check.peaks()->trainable_parameters,
                             is_mixture(question_.architecture), checkpoint == DType::fp32 ? 4 : 2};
    layout_.cost = step_cost(*plan, parameters, question_.gpu, question_.world);
    if (layout_.fits) hold_host(layout_, question_, *plan, fit.paged_to_host);
    return layout_.undecided.empty() && too_small(layout_.host) == nullptr;
  }

  bool is_asked(const TrainingPlan& plan, std::int64_t micro_batch, std::int64_t accumulation) const {
    return plan.mesh.sharding.value == layout_.kind.sharding && plan.batch.micro_batch_size.value == micro_batch &&
           plan.batch.gradient_accumulation_steps.value == accumulation &&
           plan.checkpointing.on.value == layout_.checkpointing;
  }

  static Diagnostic other_layout() {
    return {.code = "survey/other-layout",
            .message =
                "the config, or --set, makes another plan of this layout's micro-batch, accumulation, checkpointing or "
                "sharding "
                "than was asked for"};
  }

  bool leave(Diagnostics why) {
    layout_.undecided = std::move(why);
    return false;
  }

  /// Below `rows`; 0 where not even one fits. More than one micro-batch holds what one of them does not: the sum of
  /// gradients.
  std::optional<std::int64_t> largest_of(std::int64_t rows) {
    const IngestOptions options = with(settings(2));
    const Result<TrainingPlan> plan = plan_with(settings(1, 2));
    if (!plan) {
      leave(plan.errors());
      return std::nullopt;
    }
    const RoomQuestion room{question_.document,     options,       *plan,
                            question_.architecture, question_.gpu, question_.headroom};
    const auto found = survey::largest_on(room, {.key = key_of(micro_batch_fact), .first = 1, .most = rows - 1});
    if (found) return found->value;
    leave({{.code = "survey/no-bound", .message = "which micro-batch fits cannot be decided"}});
    return std::nullopt;
  }

  const LayoutQuestion& question_;
  Layout& layout_;
  IngestOptions options_{};
};

}  // namespace

void hold_host(Layout& layout, const LayoutQuestion& question, const TrainingPlan& plan, Bytes paged) {
  if (!question.host) return;
  HostHeld held = question.host(plan, question.architecture, paged_out_of(question.gpu, paged));
  layout.host = std::move(held.fits);
  layout.fits = too_small(layout.host) == nullptr;
  if (layout.fits) layout.undecided = std::move(held.errors);
}

bool is_fp32_trained(const TrainingPlan& plan, const Architecture& model) {
  const WeightsDType held = plan.precision.weights_dtype.value;
  const bool whole =
      held == WeightsDType::fp32 || (held == WeightsDType::checkpoint && model.checkpoint_dtype == DType::fp32);
  if (is_zero(plan.mesh.sharding.value) || plan.mesh.fsdp_fp32_trained.value) return true;
  if (plan.adapter.kind.value == Adapter::none || plan.adapter.dtype.value == AdapterDType::as_base) return whole;
  return plan.adapter.dtype.value == AdapterDType::fp32;
}

bool is_for(const LayoutKind& kind, const LayoutWorld& world) {
  return world.gpus() >= kind.least_gpus && (kind.most_gpus == 0 || world.gpus() <= kind.most_gpus) &&
         world.machines >= kind.least_machines && world.each >= kind.least_each;
}

Layout layout_of(const LayoutQuestion& question, const LayoutKind& kind, bool checkpointing) {
  Layout out{.kind = kind, .checkpointing = checkpointing, .launcher = launch_file(kind, question.world)};
  LayoutSearch(question, out).find(divided_up(question.rows, question.world.gpus()));
  return out;
}

std::optional<Bytes> needed_as_written(const LayoutQuestion& question, Layout layout) {
  return LayoutSearch(question, layout).as_written();
}

void sort_layouts(std::vector<Layout>& layouts) {
  const auto order = [](const Layout& layout) {
    const bool decided = layout.undecided.empty();
    if (!decided || !layout.fits) return std::tuple(!decided, true, 0.0, false, 0.0, layout.needed);
    const auto rows = static_cast<double>(layout.micro_batch * layout.accumulation);
    const double seconds = layout.cost.seconds.value_or(0) / rows;
    const double moved = static_cast<double>(layout.cost.moved.count()) / rows;
    return std::tuple(false, false, seconds, layout.checkpointing, moved, layout.needed);
  };
  std::ranges::stable_sort(layouts, {}, order);
}

}  // namespace oomplan
