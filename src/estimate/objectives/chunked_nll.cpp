// TRL 1.4's to 1.14's chunked loss (trl/trainer/sft_trainer.py: _chunk, _chunked_cross_entropy_loss): a copy of the
// labelled tokens' hidden states, of which 256 at a time go through the head and the cross entropy in a checkpoint.
#include "objective.hpp"
#include "torch/chunks.hpp"

namespace oomplan::estimator::objectives {
namespace {

constexpr std::int64_t chunk = 256;  // _CHUNKED_LM_HEAD_CHUNK_SIZE

struct Labelled {
  Tensor hidden{};
  Tensor labels{};
};

/// What a chunk is multiplied by, and how.
struct ChunkHead {
  Tensor weight{};
  Tensor bias{};
  bool raised = false;  ///< Whether the product is of copies in fp32.
};

/// Those of a row's tokens whose next one has a label, in one row: the ones before them, and their labels.
Labelled labelled_of(Torch& t, const Tensor& states, const Tensor& all_labels, std::int64_t of_a_row) {
  const std::int64_t most = states->sizes[1] - 1;
  const Tensor hidden = t.reshape(t.slice(states, 1, 0, most), {-1, states->sizes.back()});
  const Tensor labels = t.reshape(t.slice(all_labels, 1, 1, most), {-1});
  const std::int64_t rows = saturating_mul(states->sizes[0], labelled_positions(of_a_row, most));
  const Tensor order = t.empty({rows}, DType::int64, "aten::argsort");
  return {.hidden = t.index_rows(hidden, order), .labels = t.index_rows(labels, order)};
}

Tensor scores_of(Torch& t, const Tensor& hidden, const ChunkHead& head) {
  const DType compute = head.raised ? DType::fp32 : hidden->dtype;
  const Tensor product = t.matmul(t.to(hidden, compute), t.t(t.to(head.weight, compute)));
  const Tensor logits = head.raised ? product : t.to(product, DType::fp32);
  return head.bias ? t.add(logits, t.to(head.bias, DType::fp32)) : logits;
}

/// _chunk. Nothing asks the entropy for a gradient, but it is made as if.
Tensor loss_of(Torch& t, const Tensor& hidden, const Tensor& labels, const ChunkHead& head) {
  const Tensor logits = scores_of(t, hidden, head);
  const Tensor log_probs = t.log_softmax_last(t.to(logits, DType::fp32));
  const Tensor loss = t.nll_loss(log_probs, labels);
  const Tensor valid = t.empty(labels->sizes, DType::boolean, "aten::ne");
  t.empty(labels->sizes, DType::int64, "aten::argmax");
  const Tensor entropy = t.sum_all(t.mul(t.sum_last(t.mul(t.exp(log_probs), log_probs)), valid));
  return loss;
}

void play_chunks(Play& play, const Head& head, Stream& s, bool raised) {
  Torch& t = play.torch;
  t.recorder.begin_loss();
  InBucket bucket(t, Bucket::logits_and_loss);
  const ChunkHead by{.weight = play.policy.read_weight(t, head.projection().weight(play.facts)),
                     .bias = head.projection().bias(play.facts),
                     .raised = raised};
  const Labelled labelled = labelled_of(t, s.hidden, s.labels, play.facts.labelled);
  Tensor total = t.zeros({}, DType::fp32);
  std::int64_t begin = 0;
  for (const std::int64_t size : distinct_parts(labelled.labels->sizes[0], chunk)) {
    const Tensor labels = t.slice(labelled.labels, 0, begin, size);
    const auto run = [&t, labels, by](const Tensor& hidden) { return loss_of(t, hidden, labels, by); };
    total = t.add(total, t.checkpoint(t.slice(labelled.hidden, 0, begin, size), run, {}));
    begin += size;
  }
  s.loss = t.div_scalar(total);
}

void play_chunked_nll(Play& play, const Head& head, Stream& s) { play_chunks(play, head, s, false); }
void play_raised(Play& play, const Head& head, Stream& s) { play_chunks(play, head, s, true); }

constexpr Objective in_fp32{.loss = Loss::raised_chunked_nll,
                            .task = Task::causal_lm,
                            .evaluated = Loss::raised_chunked_nll,
                            .play = play_raised,
                            .as_finished = false};

}  // namespace

extern const Objective chunked_nll;
const Objective chunked_nll{.loss = Loss::chunked_nll,
                            .task = Task::causal_lm,
                            .evaluated = Loss::chunked_nll,
                            .play = play_chunked_nll,
                            .as_finished = false,
                            .other_version = &in_fp32};

}  // namespace oomplan::estimator::objectives
