#include "modules/chunked_logprob.hpp"

#include <algorithm>

namespace oomplan::estimator {
namespace {

constexpr std::int64_t token_tile = 4096;        // TOKEN_CHUNK_SIZE
constexpr std::int64_t vocabulary_tile = 32768;  // _CHUNKED_LOGPROB_CHUNK_SIZE, also where the vocabulary is smaller.

/// The buffer of one tile of logits and what is cast for it.
struct Tile {
  Tensor logits{};
  Tensor hidden{};
  Tensor weight{};
};

Tile tile_of(Torch& t, const Tensor& hidden, const Tensor& weight, DType compute) {
  const std::int64_t rows = std::min(hidden->sizes[0], token_tile);
  Tile tile;
  tile.logits = t.empty({rows, vocabulary_tile}, compute, "aten::mm");
  if (hidden->dtype != compute) tile.hidden = t.empty({rows, hidden->sizes[1]}, compute, "aten::_to_copy");
  if (weight->dtype != compute) {
    const std::int64_t columns = std::min(weight->sizes[0], vocabulary_tile);
    tile.weight = t.empty({columns, weight->sizes[1]}, compute, "aten::_to_copy");
  }
  return tile;
}

void chunked_backward(Torch& t, Node& n, Grads& g) {
  const Tensor hidden = t.unpack(n, 0);
  const Tensor weight = t.unpack(n, 1);
  const Tensor targets = t.unpack(n, 2);
  const Tensor log_z = t.unpack(n, 3);
  const Tensor entropy = t.unpack(n, 4);
  const Tensor grad_hidden = t.zeros(hidden->sizes, DType::fp32);
  const Tensor grad_weight = n.needs(1) ? t.zeros(weight->sizes, DType::fp32) : Tensor();
  const Tile tile = tile_of(t, hidden, weight, static_cast<DType>(n.ints[0]));
  g.out[0] = t.to(grad_hidden, hidden->dtype);
  if (grad_weight) g.out[1] = t.to(grad_weight, weight->dtype);
}

/// hidden_states[mask]: a copy, with the indices that its gradient needs.
Tensor labelled_rows(Torch& t, const Tensor& hidden) {
  const Tensor shifted = t.slice(hidden, 1, 0, hidden->sizes[1] - 1);
  const std::int64_t rows = shifted->sizes[0] * shifted->sizes[1];
  NodeRef node = t.record("IndexBackward0", {&shifted}, [](Torch& torch, Node& n, Grads& g) {
    const Tensor indices = torch.unpack(n, 0);
    g.out[0] = torch.zeros(n.dims, g.in[0]->dtype);
  });
  if (node) node->dims = shifted->sizes;
  const Tensor indices = t.empty({rows, 2}, DType::int64, "aten::nonzero");
  t.save(node, 0, indices);
  return t.attach(node, t.empty({rows, hidden->sizes[2]}, hidden->dtype, "aten::index"));
}

Tensor log_probabilities(Play& play, const Tensor& hidden, const Tensor& weight) {
  Torch& t = play.torch;
  const Dims rows{hidden->sizes[0]};
  const DType compute = play.facts.autocast.value_or(hidden->dtype);
  const Tensor targets = t.empty(rows, DType::int64, "aten::index");
  NodeRef node = t.record("ChunkedLogProbBackward", {&hidden, &weight}, chunked_backward);
  if (node) node->ints[0] = static_cast<std::int64_t>(compute);
  t.save(node, 0, hidden);
  t.save(node, 1, weight);
  t.save(node, 2, targets);
  Restore no_grad(t.grad_enabled, false);
  std::array<Tensor, 7> running{};  // Maxima, sums and the target's logit of each row.
  for (Tensor& r : running) r = t.empty(rows, DType::fp32, "aten::full");
  const Tile tile = tile_of(t, hidden, weight, compute);
  const Tensor log_z = t.empty(rows, DType::fp32, "aten::add");
  Tensor log_probs = t.empty(rows, DType::fp32, "aten::sub");
  const Tensor entropy = t.empty(rows, DType::fp32, "aten::sub");
  t.save_output(node, 3, log_z);
  t.save_output(node, 4, entropy);
  return t.attach(node, std::move(log_probs));
}

}  // namespace

Tensor chunked_logprob_loss(Play& play, const Stream& s, const Tensor& weight) {
  Torch& t = play.torch;
  const Tensor hidden = labelled_rows(t, s.hidden);
  const Tensor log_probs = log_probabilities(play, hidden, weight);
  NodeRef node = t.record("SumBackward0", {&log_probs}, [](Torch& torch, Node& n, Grads& g) {
    g.out[0] = torch.empty(n.dims, DType::fp32, "aten::masked_select");
  });
  if (node) node->dims = log_probs->sizes;
  return t.attach(node, t.empty({}, DType::fp32, "aten::sum"));
}

}  // namespace oomplan::estimator
