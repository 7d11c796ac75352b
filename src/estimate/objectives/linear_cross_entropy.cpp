// torchtune's LinearCrossEntropyLoss (torchtune/modules/loss/cross_entropy_loss.py): the labelled tokens' hidden states
// in eight parts, each through the head and the cross entropy before the next.
#include "objective.hpp"

namespace oomplan::estimator::objectives {
namespace {

constexpr std::int64_t chunks = 8;  // num_output_chunks

/// mask_inputs: hidden.index_select(0, indices). Every token has a label: the longest batch that can come.
Tensor labelled_rows(Torch& t, const Tensor& hidden, std::int64_t tokens) {
  const Tensor indices = t.empty({tokens}, DType::int64, "aten::nonzero");
  return t.index_rows(hidden, indices);
}

/// The i-th of `parts` of n, as tensor_split cuts them: the first ones are one longer.
std::int64_t part_of(std::int64_t n, std::int64_t parts, std::int64_t i) { return n / parts + (i < n % parts ? 1 : 0); }

void play_linear_cross_entropy(Play& play, const Head& head, Stream& s) {
  Torch& t = play.torch;
  t.recorder.begin_loss();
  InBucket bucket(t, Bucket::logits_and_loss);
  Restore kept(t.offload, static_cast<ActivationOffload*>(nullptr));
  const std::int64_t tokens = saturating_mul(s.hidden->sizes[0], s.hidden->sizes[1]);
  const Tensor hidden = labelled_rows(t, t.reshape(s.hidden, {-1, s.hidden->sizes.back()}), tokens);
  const Tensor targets = t.empty({tokens}, DType::int64, "aten::index_select");
  std::vector<Tensor> parts;
  std::int64_t begin = 0;
  for (std::int64_t i = 0; i < chunks; ++i) {
    const std::int64_t size = part_of(tokens, chunks, i);
    parts.push_back(t.slice(hidden, 0, begin, size));
    begin += size;
  }
  Tensor total = t.empty({}, DType::fp32, "aten::_to_copy");
  begin = 0;
  for (const Tensor& part : parts) {
    const Tensor labels = t.slice(targets, 0, begin, part->sizes[0]);
    begin += part->sizes[0];
    const Tensor entered = play.policy.enter_module(t, Site::head, part);
    const Tensor logits = play.policy.leave_module(t, Site::head, head.projection()(play, entered));
    total = t.add(total, t.cross_entropy(t.to(logits, DType::fp32), labels));
  }
  s.loss = t.div_scalar(total);
}

}  // namespace

extern const Objective linear_cross_entropy;
const Objective linear_cross_entropy{.loss = Loss::linear_cross_entropy,
                                     .play = play_linear_cross_entropy,
                                     .as_finished = false,
                                     .leaves = Leaves::with_the_hidden_states};

}  // namespace oomplan::estimator::objectives
