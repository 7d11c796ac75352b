// unsloth_zoo's fused cross entropy (fused_losses/cross_entropy_loss.py), whose parts torch.compile runs: of each the
// logits and their gradient in the head's dtype, and two numbers a row, as Inductor's code of torch 2.13 has them.
#include <algorithm>

#include "objective.hpp"

namespace oomplan::estimator::objectives {
namespace {

constexpr std::int64_t logit_bytes = 4;  // Parts are counted in fp32.

/// get_chunk_size
std::int64_t parts_of(std::int64_t tokens, std::int64_t vocabulary, std::int64_t part) {
  const std::int64_t bytes = saturating_mul(saturating_mul(tokens, vocabulary), logit_bytes);
  const std::int64_t most = std::max<std::int64_t>(part, 1);
  return bytes <= most ? 1 : saturating_mul(divided_up(divided_up(bytes, most), 4), 4);
}

/// accumulate_chunk
void play_part(Torch& t, std::int64_t rows, const Tensor& hidden, const Tensor& weight) {
  const Dims of_logits{rows, weight->sizes[0]};
  Tensor logits = t.empty(of_logits, weight->dtype, "aten::mm");
  Tensor highest = t.empty({rows, 1}, DType::fp32, "inductor");
  Tensor sums = t.empty({rows, 1}, DType::fp32, "inductor");
  Tensor gradient = t.empty(of_logits, weight->dtype, "inductor");
  logits.reset();
  highest.reset();
  sums.reset();
  t.empty({rows, hidden->sizes.back()}, hidden->dtype, "aten::mm");
}

/// The same of logits that go through a tanh, whose result is there in fp32 until the part is done.
void play_capped_part(Torch& t, std::int64_t rows, const Tensor& hidden, const Tensor& weight) {
  const Dims of_logits{rows, weight->sizes[0]};
  Tensor logits = t.empty(of_logits, weight->dtype, "aten::mm");
  const Tensor turned = t.empty(of_logits, DType::fp32, "inductor");
  const Tensor gradient = t.empty(of_logits, weight->dtype, "inductor");
  logits.reset();
  t.empty({rows, hidden->sizes.back()}, hidden->dtype, "aten::mm");
}

void scale_gradient(Torch& t, Node& n, Grads& g) {
  InBucket bucket(t, Bucket::logits_and_loss);
  const Tensor saved = t.unpack(n, 0);
  g.out[0] = t.empty(saved->sizes, saved->dtype, "aten::mul");
}

/// fast_cross_entropy_loss, of the logits that an evaluation asks for: two numbers a row.
void play_returned(Play& play, const Head& head, Stream& s) {
  Torch& t = play.torch;
  s.logits = head.logits(play, s.hidden);
  InBucket bucket(t, Bucket::logits_and_loss);
  const Tensor shifted = t.empty(s.labels->sizes, DType::int64, "aten::empty_like");
  const Tensor sums = t.empty({shifted->numel()}, DType::fp32, "unsloth::cross_entropy");
  const Tensor losses = t.empty({shifted->numel()}, DType::fp32, "unsloth::cross_entropy");
  s.loss = t.empty({}, DType::fp32, "aten::sum");
}

void play_fused(Play& play, const Head& head, Stream& s, bool capped) {
  Torch& t = play.torch;
  if (!t.grad_enabled) return play_returned(play, head, s);
  t.recorder.begin_loss();
  InBucket bucket(t, Bucket::logits_and_loss);
  const Tensor& weight = head.projection().weight(play.facts);
  // Boundaries of joined rows are masked in a copy.
  const Tensor masked = play.facts.joined > 0 ? t.empty(s.labels->sizes, DType::int64, "aten::clone") : Tensor();
  NodeRef node = t.record("UnslothFusedLossBackward", {&s.hidden}, scale_gradient);
  Restore no_grad(t.grad_enabled, false);
  const Tensor shifted = t.empty(s.labels->sizes, DType::int64, "aten::empty_like");
  const Tensor gradient = t.empty(s.hidden->sizes, s.hidden->dtype, "aten::empty_like");
  const std::int64_t tokens = s.hidden->numel() / s.hidden->sizes.back();
  const std::int64_t rows = divided_up(tokens, parts_of(tokens, weight->sizes[0], play.facts.loss_part));
  // The others are over the first again.
  for (std::int64_t i = 0; i < std::min<std::int64_t>(divided_up(tokens, rows), 2); ++i) {
    (capped ? play_capped_part : play_part)(t, rows, s.hidden, weight);
  }
  t.save(node, 0, gradient);
  s.loss = t.attach(node, t.empty({}, DType::fp32, "aten::zeros"));
}

void play_unsloth_fused(Play& play, const Head& head, Stream& s) { play_fused(play, head, s, false); }
void play_capped(Play& play, const Head& head, Stream& s) { play_fused(play, head, s, true); }

}  // namespace

/// Of logits that the model caps.
extern const Objective unsloth_fused_capped;
const Objective unsloth_fused_capped{
    .loss = Loss::unsloth_fused, .task = Task::causal_lm, .evaluated = Loss::unsloth_fused, .play = play_capped};

extern const Objective unsloth_fused;
const Objective unsloth_fused{.loss = Loss::unsloth_fused,
                              .task = Task::causal_lm,
                              .evaluated = Loss::unsloth_fused,
                              .play = play_unsloth_fused,
                              .as_finished = false};

}  // namespace oomplan::estimator::objectives
