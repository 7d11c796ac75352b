// A plan held against the GPU with the headroom asked for.
#pragma once

#include "change.hpp"
#include "oomplan/advise/advise.hpp"

namespace oomplan::advise {

class Judge {
 public:
  Judge(const AdviceQuestion& question, const Ladder& ladder) : question_(question), ladder_(ladder) {}

  /// What the set costs and, if it can be said, needs. First the tensors alone, which is quick; the allocator is played
  /// only where they fit.
  Trial judge(const Choices& choices, const TrainingPlan& plan) const;
  Cost cost_of(const Choices& choices) const;

 private:
  const AdviceQuestion& question_;
  const Ladder& ladder_;
};

}  // namespace oomplan::advise
