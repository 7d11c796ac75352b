// lever_of: one fix by itself.
#include <optional>

#include "change.hpp"
#include "judge.hpp"
#include "oomplan/advise/advise.hpp"
#include "oomplan/estimate/estimate.hpp"
#include "rung.hpp"

namespace oomplan {
namespace {

using namespace advise;

/// Per cent of a step: one forward pass more, as checkpointing has.
constexpr int most_slowdown = 33;

/// What of the run is changed is in it too: rows that move to the accumulation are what `Room` speaks of.
bool keeps_results(const Rung& rung) {
  return rung.played && rung.fix.science == Science::none && rung.move_from.empty() &&
         rung.fix.slower->most <= most_slowdown;
}

struct Candidate {
  int rung = 0;
  TrainingPlan plan{};
  Bytes tensors{};
};

Bytes tensors_of(const TrainingPlan& plan, const Architecture& architecture) {
  const Result<Footprint> footprint = estimate(plan, architecture, Detail::peaks);
  return footprint ? footprint->peak.tensors() : Bytes::max();
}

std::optional<Candidate> taken(int rung, const AdviceQuestion& question, const Ladder& ladder) {
  Changing changing = change_by({{rung, 1}}, question, ladder);
  if (!changing.change) return std::nullopt;
  Candidate out{.rung = rung, .plan = std::move(changing.change->plan)};
  out.tensors = tensors_of(out.plan, question.architecture);
  return out;
}

std::optional<Candidate> best_of(const AdviceQuestion& question, const Ladder& ladder) {
  std::optional<Candidate> best;
  for (int i = 0; i < std::ssize(ladder.rungs()); ++i) {
    if (!keeps_results(ladder.rungs()[static_cast<std::size_t>(i)])) continue;
    std::optional<Candidate> one = taken(i, question, ladder);
    if (one && (!best || one->tensors < best->tensors)) best = std::move(one);
  }
  return best;
}

}  // namespace

std::optional<Lever> lever_of(const AdviceQuestion& question, const Ladder& ladder) {
  const Bytes now = tensors_of(question.plan, question.architecture);
  const std::optional<Candidate> best = best_of(question, ladder);
  if (!best || best->tensors > now - Bytes(now.count() / worth_a_line)) return std::nullopt;
  Lever out{ladder.rungs()[static_cast<std::size_t>(best->rung)].fix,
            Judge(question, ladder).judge({{best->rung, 1}}, best->plan)};
  return out.trial.undecided.empty() ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace oomplan
