// A plan held against the GPU with the headroom asked for.
#pragma once

#include "change.hpp"
#include "floor.hpp"
#include "oomplan/advise/advise.hpp"

namespace oomplan::advise {

struct Judged {
  Trial trial{};
  Moments moments{};  ///< Of the plan; empty where it cannot be estimated.
};

class Judge {
 public:
  Judge(const AdviceQuestion& question, const Ladder& ladder) : question_(question), ladder_(ladder) {}

  /// What the set costs and, if it can be said, needs. First the tensors alone, which is quick; the allocator is played
  /// only where they fit.
  Judged judged(const Choices& choices, const TrainingPlan& plan) const;
  Trial judge(const Choices& choices, const TrainingPlan& plan) const { return judged(choices, plan).trial; }
  /// Whether `moments` and the CUDA context beside them are more than the GPU may hold.
  bool is_too_much(const Moments& moments) const;
  Cost cost_of(const Choices& choices) const;

 private:
  void hold_host(Trial& trial, const TrainingPlan& plan, Bytes paged) const;

  const AdviceQuestion& question_;
  const Ladder& ladder_;
};

}  // namespace oomplan::advise
