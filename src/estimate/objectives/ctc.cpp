// Wav2Vec2ForCTC and its like: log probabilities in fp32, and aten::_ctc_loss of them.
#include "objective.hpp"

namespace oomplan::estimator::objectives {
namespace {

/// The ways through the labels with blanks between them, at each frame (aten/src/ATen/native/cuda/LossCTC.cu).
Tensor ctc_loss(Torch& t, const Tensor& log_probs, std::int64_t labels) {
  NodeRef node = t.record("CtcLossBackward0", {&log_probs}, [](Torch& torch, Node& n, Grads& g) {
    const Tensor input = torch.unpack(n, 0);
    const Tensor ways = torch.unpack(n, 1);
    const Tensor back = torch.empty(ways->sizes, ways->dtype, "aten::_ctc_loss_backward");
    g.out[0] = torch.empty(input->sizes, input->dtype, "aten::_ctc_loss_backward");
  });
  t.save(node, 0, log_probs);
  const std::int64_t rows = log_probs->sizes[1];
  const std::int64_t states = saturating_add(saturating_mul(2, labels), 1);
  const Tensor loss = t.empty({rows}, log_probs->dtype, "aten::_ctc_loss");
  t.save_output(node, 1, t.empty({rows, log_probs->sizes[0], states}, log_probs->dtype, "aten::_ctc_loss"));
  return t.attach(node, loss);
}

void play_ctc(Play& play, const Head& head, Stream& s) {
  Torch& t = play.torch;
  s.logits = head.logits(play, s.hidden);
  InBucket bucket(t, Bucket::logits_and_loss);
  const Tensor ones = t.empty(s.input_ids->sizes, DType::int64, "aten::ones_like");
  const Tensor log_probs = t.transpose(t.log_softmax_last(t.to(s.logits, DType::fp32)), 0, 1);
  s.loss = t.sum_all(ctc_loss(t, log_probs, s.labels->sizes[1]));
}

}  // namespace

extern const Objective ctc;
const Objective ctc{Loss::full_logits, Task::ctc, Loss::full_logits, play_ctc};

}  // namespace oomplan::estimator::objectives
