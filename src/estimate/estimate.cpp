#include "oomplan/estimate.hpp"

#include <algorithm>

#include "facts.hpp"
#include "run.hpp"
#include "timeline.hpp"

namespace oomplan {
namespace estimator {
namespace {

/// Two blocks at each end, which may differ (the first has no gradient to give, the last hands on to the head), one in
/// the middle for all the others, and its neighbours to check it by.
constexpr int enough_blocks = 5;

struct Played {
  std::unique_ptr<Run> run{};
  Repetition repetition{};
};

Result<Played> play(const TrainingPlan& plan, const Facts& facts, const Architecture& architecture) {
  const bool many = architecture.layers > enough_blocks;
  for (const std::int64_t built : {many ? std::int64_t{enough_blocks} : architecture.layers, architecture.layers}) {
    auto run = play_run(plan, facts, architecture, static_cast<int>(built));
    if (!run) return run.errors();
    const Repetition repetition{static_cast<int>(built), architecture.layers};
    if (repetition.whole() || repeats_exactly((*run)->recorder(), repetition)) {
      return Played{std::move(*run), repetition};
    }
  }
  return Diagnostics{};
}

LiveGroup group_of(const Storage& s, const Live& live, const std::vector<std::string>& modules) {
  LiveGroup g;
  g.bucket = s.bucket;
  g.born = s.born;
  g.op = s.op;
  if (s.module >= 0) g.module = modules[static_cast<std::size_t>(s.module)];
  g.shape.assign(s.shape.span().begin(), s.shape.span().end());
  g.dtype = s.dtype;
  g.first_layer = live.first_layer;
  g.last_layer = live.last_layer;
  g.count = live.count;
  g.bytes = Bytes(s.bytes) * live.count;
  return g;
}

bool alike(const LiveGroup& a, const LiveGroup& b) {
  return a.bucket == b.bucket && a.born == b.born && a.op == b.op && a.module == b.module && a.shape == b.shape &&
         a.dtype == b.dtype && (a.first_layer < 0) == (b.first_layer < 0);
}

std::vector<LiveGroup> groups_at(const Played& played, const Moment& moment) {
  const Recorder& r = played.run->recorder();
  std::vector<LiveGroup> groups;
  for (const Live& live : alive_at(r, played.repetition, moment)) {
    LiveGroup g = group_of(r.storages[static_cast<std::size_t>(live.storage)], live, played.run->model.modules);
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const LiveGroup& o) { return alike(o, g); });
    if (same == groups.end()) {
      groups.push_back(std::move(g));
      continue;
    }
    same->count += g.count;
    same->bytes += g.bytes;
    same->first_layer = std::min(same->first_layer, g.first_layer);
    same->last_layer = std::max(same->last_layer, g.last_layer);
  }
  std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  return groups;
}

PhasePeak phase_peak(const Played& played, const Moment& moment) {
  PhasePeak peak{moment.phase, moment.step, Bytes(moment.bytes), {}};
  const Recorder& r = played.run->recorder();
  for (const Live& live : alive_at(r, played.repetition, moment)) {
    const Storage& s = r.storages[static_cast<std::size_t>(live.storage)];
    at(peak.by_bucket, s.bucket) += Bytes(s.bytes) * live.count;
  }
  return peak;
}

Footprint footprint_of(const Played& played) {
  const Recorder& r = played.run->recorder();
  Footprint f;
  f.parameters = played.run->model.total;
  f.trainable_parameters = played.run->model.trained;
  f.attention_kernels = played.run->torch.kernels;
  f.events = event_count(r, played.repetition);
  const std::vector<Moment> moments = peaks(r, played.repetition);
  const Moment* highest = &moments.front();
  for (const Moment& m : moments) {
    f.peaks.push_back(phase_peak(played, m));
    if (m.bytes > highest->bytes) highest = &m;
  }
  f.peak = f.peaks[static_cast<std::size_t>(highest - moments.data())];
  f.at_peak = groups_at(played, *highest);
  for (const Moment& m : bucket_peaks(r, played.repetition)) {
    f.bucket_peaks.push_back(phase_peak(played, m));
    f.at_bucket_peaks.push_back(groups_at(played, m));
  }
  return f;
}

}  // namespace
}  // namespace estimator

Result<Footprint> estimate(const TrainingPlan& plan, const Architecture& architecture) {
  auto facts = estimator::resolve(plan, architecture);
  if (!facts) return facts.errors();
  auto played = estimator::play(plan, *facts, architecture);
  if (!played) return played.errors();
  return estimator::footprint_of(*played);
}

}  // namespace oomplan
