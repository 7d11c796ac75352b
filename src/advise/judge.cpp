#include "judge.hpp"

#include <cmath>
#include <utility>

#include "oomplan/estimate.hpp"

namespace oomplan::advise {
Bytes limit_of(const Gpu& gpu, double headroom) {
  return gpu.total - Bytes(static_cast<std::int64_t>(std::ceil(static_cast<double>(gpu.total.count()) * headroom)));
}

Cost Judge::cost_of(const Choices& choices) const {
  Cost cost;
  for (const Choice& choice : choices) {
    const LadderFix& fix = ladder_.rungs()[static_cast<std::size_t>(choice.rung)].fix;
    if (fix.science != Science::none)
      cost.science[science_count - 1 - static_cast<std::size_t>(fix.science)] += choice.times;
    cost.slower += fix.slower ? fix.slower->most * choice.times : 0;
    cost.effort += (static_cast<int>(fix.effort) + 1) * choice.times;
  }
  return cost;
}

Trial Judge::judge(const Choices& choices, const TrainingPlan& plan) const {
  Trial trial{.cost = cost_of(choices)};
  for (const Choice& choice : choices)
    trial.fixes.push_back({ladder_.rungs()[static_cast<std::size_t>(choice.rung)].fix.id, choice.times});
  weigh(plan, trial);
  return trial;
}

void Judge::weigh(const TrainingPlan& plan, Trial& trial) const {
  const Result<Footprint> footprint = estimate(plan, question_.architecture, Detail::peaks);
  if (!footprint) {
    trial.undecided = footprint.errors().front().message;
    return;
  }
  if (const auto undecided = undecided_on(*footprint, question_.gpu)) {
    trial.undecided = undecided->message;
    return;
  }
  const Bytes tensors = footprint->peak.tensors() + sum(runtime_terms(question_.gpu));
  trial.needed = tensors;
  trial.at_least = tensors > limit_of(question_.gpu, question_.headroom);
  if (!trial.at_least) weigh_reserved(plan, tensors, trial);
}

void Judge::weigh_reserved(const TrainingPlan& plan, Bytes tensors, Trial& trial) const {
  const Result<AllocatorSettings> settings = parse_alloc_conf(plan.alloc_conf.value, "alloc_conf");
  Result<Footprint> footprint = estimate(plan, question_.architecture, Detail::events);
  if (!settings || !footprint) {
    trial.undecided = (settings ? footprint.errors() : settings.errors()).front().message;
    return;
  }
  const Fit held = fit(Reservation(std::move(footprint->events), *settings), question_.gpu);
  const Bytes limit = limit_of(question_.gpu, question_.headroom);
  trial.needed = held.needed;
  trial.fits = held.fits() && held.needed <= limit;
  trial.fragmentation = !trial.fits && tensors <= limit;
}

}  // namespace oomplan::advise
