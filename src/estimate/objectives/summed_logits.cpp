// torchtitan's cross_entropy_loss (components/loss.py), of what the model has returned: the rows of logits in fp32 and
// labels that are the next tokens already. In validation (components/validate.py) the logits have a name, which holds
// them while the next batch runs.
#include "objective.hpp"

namespace oomplan::estimator::objectives {
namespace {

Tensor of_summed_logits(Torch& t, const Tensor& logits, const Tensor& labels, std::int64_t /*labelled*/) {
  const Tensor rows = t.view(logits, {-1, logits->sizes.back()});
  return t.cross_entropy(t.to(rows, DType::fp32), t.view(labels, {-1}));
}

void play_logits(Play& play, const Head& head, Stream& s) {
  s.logits = head.logits(play, s.hidden);
  s.hidden.reset();
}

void of_output(Torch& t, Stream& s) { s.loss = of_summed_logits(t, s.logits, s.labels, 0); }

constexpr Objective held_logits{.loss = Loss::held_logits,
                                .task = Task::causal_lm,
                                .evaluated = Loss::held_logits,
                                .play = play_logits,
                                .of_output = of_output,
                                .in_loop = true};

}  // namespace

extern const Objective summed_logits;
const Objective summed_logits{.loss = Loss::summed_logits,
                              .task = Task::causal_lm,
                              .evaluated = Loss::held_logits,
                              .other_version = &held_logits,
                              .of_logits = of_summed_logits,
                              .in_loop = true};

}  // namespace oomplan::estimator::objectives
