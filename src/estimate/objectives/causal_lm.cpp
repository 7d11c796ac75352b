// transformers' ForCausalLMLoss (loss/loss_utils.py): an fp32 copy of the logits, labels shifted by a pad.
#include "objective.hpp"

namespace oomplan::estimator::objectives {
namespace {

/// Qwen2AudioForConditionalGeneration.forward: logits[..., :-1, :][mask[..., 1:] != 0].contiguous(), in their own
/// dtype; Gemma3ForConditionalGeneration.forward until transformers 5.14.1: of logits.float(), which it returns.
Tensor loss_of_shifted(Play& play, bool raised, Stream& s) {
  Torch& t = play.torch;
  if (raised) s.logits = t.to(s.logits, DType::fp32);
  const Dims& sizes = s.logits->sizes;
  const std::int64_t rows = sizes[0] * (sizes[1] - 1);
  const Tensor before_last = t.slice(s.logits, 1, 0, sizes[1] - 1);
  Tensor logits;
  Tensor labels;
  if (s.attention_mask || play.facts.mask_sent) {
    const Tensor places = t.empty({rows, 2}, DType::int64, "aten::nonzero");
    NodeRef node = t.record("IndexBackward0", {&before_last},
                            [](Torch& torch, Node& n, Grads& g) { g.out[0] = torch.zeros(n.dims, g.in[0]->dtype); });
    if (node) node->dims = before_last->sizes;
    t.save(node, 0, places);
    logits = t.attach(node, t.empty({rows, sizes[2]}, s.logits->dtype, "aten::index"));
    labels = t.empty({rows}, DType::int64, "aten::index");
  } else {
    logits = t.view(t.contiguous(before_last), {rows, sizes[2]});
    labels = t.empty({rows}, DType::int64, "aten::clone");
  }
  return t.cross_entropy(logits, labels);
}

/// ForCausalLMLoss before transformers 4.49: logits[..., :-1, :].contiguous(), whose argument lives until it returns.
Tensor loss_of_all_but_last(Torch& t, const Tensor& logits) {
  const Dims& sizes = logits->sizes;
  const std::int64_t rows = sizes[0] * (sizes[1] - 1);
  const Tensor copy = t.contiguous(t.slice(logits, 1, 0, sizes[1] - 1));
  const Tensor labels = t.empty({rows}, DType::int64, "aten::clone");
  return t.cross_entropy(t.view(copy, {rows, sizes[2]}), labels);
}

void play_causal_lm(Play& play, const Head& head, Stream& s) {
  Torch& t = play.torch;
  Tensor named;
  s.logits = head.logits(play, s.hidden, &named);
  InBucket bucket(t, Bucket::logits_and_loss);
  if (head.shifts_logits) {
    s.loss = loss_of_shifted(play, head.shifts_raised, s);
    return;
  }
  Tensor logits = t.to(s.logits, DType::fp32);
  if (play.facts.logit_shift != LogitShift::labels) {
    if (play.facts.logit_shift == LogitShift::replaced_logits) s.logits = logits;
    s.loss = loss_of_all_but_last(t, logits);
    return;
  }
  const Tensor labels = shifted_labels(t, s.labels);
  logits = t.view(logits, {-1, logits->sizes.back()});
  s.loss = t.cross_entropy(logits, labels);
}

}  // namespace

extern const Objective causal_lm;
const Objective causal_lm{Loss::full_logits, Task::causal_lm, Loss::full_logits, play_causal_lm};

}  // namespace oomplan::estimator::objectives
