#include "oomplan/estimate/estimate.hpp"

#include <algorithm>

#include "adapter_checks.hpp"
#include "curve.hpp"
#include "decay.hpp"
#include "facts.hpp"
#include "groups.hpp"
#include "oomplan/catalog/older_code.hpp"
#include "oomplan/estimate/ranks.hpp"
#include "pipeline/parts.hpp"
#include "play.hpp"
#include "policies/policies.hpp"
#include "run.hpp"
#include "spread.hpp"
#include "traced.hpp"
#include "unroll.hpp"
#include "unsloth_checks.hpp"

namespace oomplan {
namespace estimator {
namespace {

/// What is played a few times where it is alike: layers, and turns of loops in their code.
struct Folding {
  bool layers = false;
  bool loops = false;
};

/// Parameters of a model, and targets of LoRA that are none of its modules.
struct Counts {
  std::int64_t total = 0;
  std::int64_t trained = 0;
  std::vector<std::string> unmatched_targets{};
};

struct Played {
  RunPtr run;
  Timeline timeline;
  std::optional<Counts> whole{};  ///< Of the model that the run has parts of.
};

const Peak& highest_of(const Peaks& peaks) { return *std::ranges::max_element(peaks.of_phases(), {}, &Peak::bytes); }

/// Writes the run down with every layer, where those that it was played with repeat exactly.
bool spread_layers(Run& run, Repetition folded, Spread& out) {
  for (const Loops::Loop& loop : run.torch.loops.all()) folded.give_turns(loop.layer);
  const Timeline few(run.recorder(), std::move(folded));
  if (!repeats_exactly(few) || !spread(few, run.torch.loops.all(), out)) return false;
  run.torch.recorder = std::move(out.recorder);
  return true;
}

Result<Played> play_rank(const TrainingPlan& plan, const Architecture& architecture, const Facts& facts,
                         std::int64_t shard) {
  const std::vector<Architecture> parts = parts_of(plan, architecture, shard);
  // DeepSpeed's buckets are full at some layer, wherever that is.
  const bool folds = !is_zero(plan.mesh.sharding.value);
  bool has_loops = true;
  for (const Folding fold : {Folding{true, true}, Folding{false, true}, Folding{true, false}, Folding{}}) {
    // Without loops the first was played with layers alone folded.
    if ((fold.layers && !folds) || (!has_loops && (fold.layers || fold.loops))) continue;
    Repetition repetition = fold.layers ? Repetition::folded(parts, by_number(plan)) : Repetition::whole_of(parts);
    auto run = play_run(plan, facts, parts, repetition, shard, fold.loops);
    if (!run) return run.errors();
    const std::vector<Loops::Loop>& loops = (*run)->torch.loops.all();
    has_loops = !loops.empty();
    const std::vector<Loops::Loop>* all = &loops;
    Spread spread;
    const auto in_one_of_many = [&](const Loops::Loop& l) { return repetition.repeats(repetition.unit_of(l.layer)); };
    if (std::ranges::any_of(loops, in_one_of_many)) {
      if (!spread_layers(**run, repetition, spread)) continue;
      repetition = Repetition::whole_of(parts);
      all = &spread.loops;
    }
    for (const Loops::Loop& loop : *all) repetition.add_loop(loop.layer, loop.turns);
    Timeline timeline((*run)->recorder(), std::move(repetition));
    if (timeline.repetition().whole() || repeats_exactly(timeline)) return Played{std::move(*run), std::move(timeline)};
  }
  return Diagnostics{};
}

/// Of a model that ranks have parts of, its own counts.
Diagnostics count_whole(const TrainingPlan& plan, const Architecture& architecture, const Facts& facts, Counts& out) {
  Torch torch;
  const Result<Model> model =
      build(torch, facts, architecture, Repetition::folded(architecture, by_number(plan)), single());
  if (!model) return model.errors();
  out = {model->total, model->trained, model->unmatched_targets};
  return {};
}

/// Of `ranks` the one that holds the most.
Result<Played> play_worst(const TrainingPlan& plan, const Architecture& architecture, const Facts& facts,
                          const std::vector<std::int64_t>& ranks) {
  if (ranks.size() == 1) return play_rank(plan, architecture, facts, ranks.front());
  std::optional<Played> worst;
  std::int64_t most = 0;
  for (const std::int64_t rank : ranks) {
    Result<Played> played = play_rank(plan, architecture, facts, rank);
    if (!played) return played;
    const std::int64_t peak = highest_of(Peaks(played->timeline)).bytes;
    if (!worst || peak > most) worst.emplace(std::move(*played));
    most = std::max(most, peak);
  }
  return std::move(*worst);
}

/// The rank that holds `shard`; none: the one that holds the most.
Result<Played> play_any(const TrainingPlan& plan, const Architecture& newest, std::optional<std::int64_t> shard) {
  const Architecture architecture = as_run(newest, plan.framework);
  const Result<Facts> facts = resolve(plan, architecture);
  if (!facts) return facts.errors();
  if (!is_pipelined(plan.mesh)) {
    return shard ? play_rank(plan, architecture, *facts, *shard)
                 : play_worst(plan, architecture, *facts, context_ranks(plan.mesh));
  }
  Counts whole;
  if (Diagnostics errors = count_whole(plan, architecture, *facts, whole); !errors.empty()) return errors;
  std::vector<std::int64_t> ranks;
  for (std::int64_t rank = 0; rank < plan.mesh.pipeline_parallel.value; ++rank) ranks.push_back(rank);
  if (shard) ranks = {*shard};
  Result<Played> worst = play_worst(plan, architecture, *facts, ranks);
  if (worst) worst->whole = std::move(whole);
  return worst;
}

Result<Played> play(const TrainingPlan& plan, const Architecture& newest, std::optional<std::int64_t> shard = {}) {
  Result<Played> played = play_any(plan, newest, shard);
  if (played) {
    const bool in_loss = highest_of(Peaks(played->timeline)).phase == Phase::loss;
    if (Diagnostics errors = check_compiled_peak(plan, newest, in_loss); !errors.empty()) return errors;
  }
  const AdapterFacts& adapter = plan.adapter;
  if (!played || adapter.kind.value == Adapter::none || adapter.init.value == AdapterInit::plain) return played;
  const bool while_loading = highest_of(Peaks(played->timeline)).phase == Phase::load;
  if (Diagnostics errors = check_init(plan, while_loading); !errors.empty()) return errors;
  return played;
}

PhasePeak phase_peak(const Peaks& peaks, const Peak& peak) {
  return {peak.phase, peak.step, Bytes(peak.bytes), peaks.at(peak.moment)};
}

void add_groups(Footprint& f, const Peaks& peaks, const Peak& highest, Groups groups) {
  f.at_peak = groups.at(highest.moment);
  for (std::size_t b = 0; b < bucket_count; ++b) {
    const Peak& peak = peaks.of_buckets()[b];
    f.bucket_peaks.push_back(phase_peak(peaks, peak));
    f.at_bucket_peaks.push_back(groups.at(peak.moment, static_cast<Bucket>(b)));
  }
}

std::vector<HeldParameter> held_by(const Run& run) {
  std::vector<HeldParameter> out;
  for (const Cast& cast : run.models) {
    for (const Parameter& p : cast.model.parameters) {
      const std::int64_t rows = p.sizes.size() == 0 ? 1 : p.sizes[0];
      out.push_back({p.sizes.product(), rows, p.layers, p.layer(), p.held->dtype, p.trained, p.part == Part::adapter,
                     p.part == Part::expert, &cast == &run.models.front(), decays(p)});
    }
  }
  return out;
}

Footprint footprint_of(const Played& played, Detail detail) {
  const Timeline& timeline = played.timeline;
  const Peaks peaks(timeline);
  const Peak& highest = highest_of(peaks);
  const Model& policy = played.run->policy();
  const Counts counts = played.whole.value_or(Counts{policy.total, policy.trained, policy.unmatched_targets});
  Footprint f;
  f.parameters = counts.total;
  f.trainable_parameters = counts.trained;
  f.unmatched_targets = counts.unmatched_targets;
  f.scans = played.run->policy().scans;
  f.attention_kernels = played.run->torch.kernels;
  f.newer_kernel = played.run->torch.newer_kernel;
  if (detail == Detail::events) {
    Unrolled all = unroll(timeline, Turns::together);
    f.events = std::move(all.events);
    f.cublas_handles = std::move(all.handles);
    f.first_scratch = all.first_scratch;
  }
  for (const Peak& p : peaks.of_phases()) {
    f.peaks.push_back(phase_peak(peaks, p));
  }
  f.peak = phase_peak(peaks, highest);
  if (detail != Detail::peaks) f.held = held_by(*played.run);
  if (detail != Detail::peaks) add_groups(f, peaks, highest, Groups(timeline, played.run->modules()));
  return f;
}

}  // namespace
}  // namespace estimator

Result<Footprint> estimate(const TrainingPlan& plan, const Architecture& architecture, Detail detail) {
  const auto played = estimator::play(plan, architecture);
  if (!played) return played.errors();
  return estimator::footprint_of(*played, detail);
}

Result<Footprint> estimate_shard(const TrainingPlan& plan, const Architecture& architecture, std::int64_t shard,
                                 Detail detail) {
  const auto played = estimator::play(plan, architecture, shard);
  if (!played) return played.errors();
  return estimator::footprint_of(*played, detail);
}

namespace {

Result<AllocatorSettings> settings_of(const TrainingPlan& plan) {
  return parse_alloc_conf(plan.runtime.alloc_conf.value, plan.runtime.alloc_conf.origin.source);
}

}  // namespace

Result<Snapshot> snapshot_of(const TrainingPlan& plan, const Architecture& architecture, Bytes workspace) {
  const Result<AllocatorSettings> settings = settings_of(plan);
  if (!settings) return settings.errors();
  const auto played = estimator::play(plan, architecture);
  if (!played) return played.errors();
  Result<Snapshot> out = estimator::traced(played->timeline, played->run->modules(), *settings, workspace);
  if (out) out->settings.alloc_conf = plan.runtime.alloc_conf.value;
  return out;
}

Result<std::vector<LiveGroup>> allocations(const TrainingPlan& plan, const Architecture& architecture) {
  const auto played = estimator::play(plan, architecture);
  if (!played) return played.errors();
  return estimator::Groups(played->timeline, played->run->modules()).all();
}

Result<Curve> curve(const TrainingPlan& plan, const Architecture& architecture, Bytes workspace, std::size_t most) {
  const Result<AllocatorSettings> settings = settings_of(plan);
  if (!settings) return settings.errors();
  const auto played = estimator::play(plan, architecture);
  if (!played) return played.errors();
  return estimator::curve_of(played->timeline, played->run->modules(), *settings, workspace, most);
}

}  // namespace oomplan
