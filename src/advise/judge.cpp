#include "judge.hpp"

#include "oomplan/estimate/fit_check.hpp"

namespace oomplan::advise {

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

Judged Judge::judged(const Choices& choices, const TrainingPlan& plan) const {
  Judged out{.trial = {.cost = cost_of(choices)}};
  Trial& trial = out.trial;
  for (const Choice& choice : choices)
    trial.fixes.push_back({ladder_.rungs()[static_cast<std::size_t>(choice.rung)].fix.id, choice.times});
  FitCheck check(plan, question_.architecture);
  const CheckedFit fit = check.on(question_.gpu, limit_of(question_.gpu, question_.headroom));
  if (check.peaks()) {
    trial.by_bucket = check.peaks()->peak.by_bucket;
    out.moments = moments_of(*check.peaks());
    trial.by_phase = out.moments.held;
  }
  trial.needed = fit.needed;
  trial.at_least = fit.at_least;
  trial.fits = fit.fits;
  trial.fragmentation = fit.fragmentation;
  if (!fit.errors.empty()) trial.undecided = fit.errors.front().message;
  if (trial.fits && question_.host) hold_host(trial, plan, fit.paged_to_host);
  return out;
}

void Judge::hold_host(Trial& trial, const TrainingPlan& plan, Bytes paged) const {
  HostHeld held = question_.host(plan, question_.architecture, paged_out_of(question_.gpu, paged));
  trial.host = std::move(held.fits);
  const bool stops = too_small(trial.host) != nullptr;
  if (!stops && !held.errors.empty()) trial.undecided = held.errors.front().message;
  trial.fits = !stops && held.errors.empty();
}

bool Judge::is_too_much(const Moments& moments) const {
  return fullest(moments) + question_.gpu.context > limit_of(question_.gpu, question_.headroom);
}

}  // namespace oomplan::advise
