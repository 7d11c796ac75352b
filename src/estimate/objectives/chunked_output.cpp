// torchtune's CEWithChunkedOutputLoss (torchtune/modules/loss/ce_chunked_output_loss.py): the head's products and the
// cross entropies of eight parts of the rows, of which each keeps its own until backward.
#include "objective.hpp"

namespace oomplan::estimator::objectives {
namespace {

constexpr std::int64_t chunks = 8;  // num_output_chunks

/// TransformerDecoder.chunked_output
std::vector<Tensor> logits_of(Play& play, const Head& head, Stream& s, std::int64_t size) {
  std::vector<Tensor> out;
  for (const Tensor& chunk : play.torch.split(s.hidden, size, 1)) {
    const Tensor entered = play.policy.enter_module(play.torch, Site::head, chunk);
    out.push_back(play.policy.leave_module(play.torch, Site::head, head.projection()(play, entered)));
  }
  return out;
}

/// The chunks of labels as rows of their own.
std::vector<Tensor> targets_of(Torch& t, const Tensor& shifted, std::int64_t size) {
  const Tensor counted = t.empty(shifted->sizes, DType::boolean, "aten::ne");
  std::vector<Tensor> out;
  for (const Tensor& chunk : t.split(shifted, size, 1)) out.push_back(t.reshape(chunk, {-1}));
  return out;
}

/// Rows of fewer tokens have fewer parts.
void leave_model(Play& play, std::vector<Tensor>& logits) {
  const std::size_t parts = logits.size();
  logits.resize(chunks);
  auto& l = logits;
  play.policy.leave_model(play.torch, {&l[0], &l[1], &l[2], &l[3], &l[4], &l[5], &l[6], &l[7]});
  logits.resize(parts);
}

void play_chunked_output(Play& play, const Head& head, Stream& s) {
  Torch& t = play.torch;
  t.recorder.begin_loss();
  InBucket bucket(t, Bucket::logits_and_loss);
  // A hook on the head keeps what it saves on the GPU (training/_activation_offloading.py); the loss is outside.
  Restore kept(t.offload, static_cast<ActivationOffload*>(nullptr));
  const std::int64_t size = divided_up(s.hidden->sizes[1], chunks);
  std::vector<Tensor> logits = logits_of(play, head, s, size);
  s.hidden.reset();
  leave_model(play, logits);
  const Tensor shifted = t.empty(s.labels->sizes, DType::int64, "aten::cat");  // torch.hstack, which its caller keeps.
  s.labels.reset();
  const std::vector<Tensor> targets = targets_of(t, shifted, size);
  Tensor total;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const Tensor rows = t.reshape(logits[i], {-1, logits[i]->sizes.back()});
    const Tensor loss = t.cross_entropy(t.to(rows, DType::fp32), targets[i]);
    total = total ? t.add(total, loss) : t.add_scalar(loss);
  }
  s.loss = t.div_scalar(total);
}

}  // namespace

extern const Objective chunked_output;
const Objective chunked_output{
    .loss = Loss::chunked_output, .play = play_chunked_output, .as_finished = false, .leaves = Leaves::itself};

}  // namespace oomplan::estimator::objectives
