// litgpt's fine-tuning of adapters (finetune/lora.py: fit; utils.py: chunked_cross_entropy of a list): the model
// returns the logits of 128 positions after the other, whose cross entropies are added.
#include "objective.hpp"
#include "torch/chunks.hpp"

namespace oomplan::estimator::objectives {
namespace {

constexpr std::int64_t positions = 128;  // lm_head_chunk_size, chunk_size

void play_chunked_head(Play& play, const Head& head, Stream& s) {
  Torch& t = play.torch;
  t.recorder.begin_loss();
  InBucket bucket(t, Bucket::logits_and_loss);
  for (const Tensor& chunk : split_into_chunks(t, s.hidden, positions, 1)) {
    s.returned.push_back(head.logits_of_part(play, chunk));
  }
  s.hidden.reset();
}

Tensor without_last(Torch& t, const Tensor& logits) { return t.slice(logits, 1, 0, logits->sizes[1] - 1); }

Tensor as_rows(Torch& t, const Tensor& logits) { return t.reshape(logits, {-1, logits->sizes.back()}); }

/// Of each chunk, one after the other once all are made rows.
Tensor added_losses(Torch& t, const std::vector<Tensor>& chunks, const std::vector<Tensor>& targets) {
  Tensor total;
  for (std::size_t i = 0; i < targets.size(); ++i) {  // The last position alone in a chunk has no target.
    const Tensor loss = t.cross_entropy(chunks[i], targets[i]);
    total = total ? t.add(total, loss) : loss;
  }
  return t.div_scalar(total);
}

void of_chunks(Torch& t, Stream& s) {
  std::vector<Tensor> rows = s.returned;
  rows.back() = without_last(t, rows.back());
  for (Tensor& chunk : rows) chunk = as_rows(t, chunk);
  std::vector<Tensor> targets = split_into_chunks(t, without_last(t, s.labels), positions, 1);
  for (Tensor& chunk : targets) chunk = t.reshape(chunk, {-1});
  s.loss = added_losses(t, rows, targets);
}

/// finetune/full.py: fit, over rows of all the batch.
void of_rows(Torch& t, Stream& s) {
  const Tensor rows = as_rows(t, without_last(t, s.logits));
  const Tensor targets = t.reshape(without_last(t, s.labels), {-1});
  s.loss = added_losses(t, split_into_chunks(t, rows, positions, 0), split_into_chunks(t, targets, positions, 0));
}

/// validate, without chunks.
void of_all(Torch& t, Stream& s) {
  const Tensor rows = as_rows(t, without_last(t, s.logits));
  s.loss = t.cross_entropy(rows, t.reshape(without_last(t, s.labels), {-1}));
}

void play_logits(Play& play, const Head& head, Stream& s) {
  s.logits = head.logits(play, s.hidden);
  s.hidden.reset();
}

constexpr Objective sliced_logits{.loss = Loss::sliced_logits,
                                  .task = Task::causal_lm,
                                  .evaluated = Loss::sliced_logits,
                                  .play = play_logits,
                                  .of_output = of_all};

constexpr Objective chunked_rows{.loss = Loss::chunked_rows,
                                 .task = Task::causal_lm,
                                 .evaluated = Loss::sliced_logits,
                                 .play = play_logits,
                                 .other_version = &sliced_logits,
                                 .of_output = of_rows};

}  // namespace

extern const Objective chunked_head;
const Objective chunked_head{.loss = Loss::chunked_head,
                             .task = Task::causal_lm,
                             .evaluated = Loss::sliced_logits,
                             .play = play_chunked_head,
                             .other_version = &chunked_rows,
                             .of_output = of_chunks};

}  // namespace oomplan::estimator::objectives
