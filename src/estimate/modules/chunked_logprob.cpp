#include "modules/chunked_logprob.hpp"

#include <algorithm>

#include "torch/chunks.hpp"

namespace oomplan::estimator {
namespace {

constexpr std::int64_t token_tile = 4096;        // TOKEN_CHUNK_SIZE
constexpr std::int64_t vocabulary_tile = 32768;  // _CHUNKED_LOGPROB_CHUNK_SIZE, also where the vocabulary is smaller.

/// What a pass over the tiles holds when it ends: the buffer of one tile's logits, and the casts that names keep.
struct Tiles {
  Tensor logits{};
  Tensor hidden{};
  Tensor weight{};
};

/// One pass over tiles of tokens and of the vocabulary. A name keeps its cast until the next one is made; the forward
/// pass has none for the weight's.
Tiles pass(Torch& t, const Tensor& hidden, const Tensor& weight, DType compute, bool weight_is_named) {
  const std::int64_t width = hidden->sizes[1];
  Tiles tiles;
  tiles.logits = t.empty({std::min(hidden->sizes[0], token_tile), vocabulary_tile}, compute, "aten::empty");
  for (const std::int64_t rows : distinct_parts(hidden->sizes[0], token_tile)) {
    if (hidden->dtype != compute) tiles.hidden = t.empty({rows, width}, compute, "aten::_to_copy");
    if (weight->dtype == compute) continue;
    for (const std::int64_t columns : distinct_parts(weight->sizes[0], vocabulary_tile)) {
      tiles.weight = t.empty({columns, width}, compute, "aten::_to_copy");
      if (!weight_is_named) tiles.weight.reset();
    }
  }
  return tiles;
}

/// The positions of a mask's true elements. Not saved: both uses find them again.
void find_positions(Torch& t, const Tensor& mask, std::int64_t count) {
  t.empty({mask->dim(), count}, DType::int64, "aten::nonzero");
}

void chunked_backward(Torch& t, Node& n, Grads& g) {
  const Tensor hidden = t.unpack(n, 0);
  const Tensor weight = t.unpack(n, 1);
  const Tensor bias = t.unpack(n, 2);
  const Tensor targets = t.unpack(n, 3);
  const Tensor log_z = t.unpack(n, 4);
  const Tensor entropy = t.unpack(n, 5);
  const Tensor grad_hidden = t.zeros(hidden->sizes, DType::fp32);
  const Tensor grad_weight = n.needs(1) ? t.zeros(weight->sizes, DType::fp32) : Tensor();
  const Tensor grad_bias = n.needs(2) ? t.zeros(bias->sizes, DType::fp32) : Tensor();
  const Tiles tiles = pass(t, hidden, weight, static_cast<DType>(n.ints[0]), true);
  g.out[0] = t.to(grad_hidden, hidden->dtype);
  if (grad_weight) g.out[1] = t.to(grad_weight, weight->dtype);
  if (grad_bias) g.out[2] = t.to(grad_bias, bias->dtype);
}

/// x[mask], where x has the mask's dimensions and perhaps one more, and `rows` of the mask's elements are true.
Tensor masked(Torch& t, const Tensor& x, const Tensor& mask, std::int64_t rows) {
  NodeRef node = t.record("IndexBackward0", {&x},
                          [](Torch& torch, Node& n, Grads& g) { g.out[0] = torch.zeros(n.dims, g.in[0]->dtype); });
  if (node) node->dims = x->sizes;
  t.save(node, 0, mask);
  find_positions(t, mask, rows);
  const Dims sizes = x->dim() == mask->dim() ? Dims{rows} : Dims{rows, x->sizes.back()};
  return t.attach(node, t.empty(sizes, x->dtype, "aten::index"));
}

/// x.new_zeros(mask.shape).masked_scatter(mask, x)
Tensor scattered(Torch& t, const Tensor& mask, const Tensor& x) {
  NodeRef node = t.record("MaskedScatterBackward0", {&x}, [](Torch& torch, Node& n, Grads& g) {
    find_positions(torch, torch.unpack(n, 0), n.dims[0]);
    g.out[0] = torch.empty(n.dims, g.in[0]->dtype, "aten::masked_select");
  });
  if (node) node->dims = x->sizes;
  t.save(node, 0, mask);
  const Tensor zeros = t.zeros(mask->sizes, x->dtype);
  Tensor out = t.empty(mask->sizes, x->dtype, "aten::clone");
  t.empty(mask->sizes, DType::int64, "aten::masked_scatter_");
  return t.attach(node, std::move(out));
}

/// The outputs of ChunkedLogProbFunction that trainers ask for. Nothing asks the entropy for a gradient.
void per_token(Play& play, const Tensor& hidden, const Linear& projection, const Tensor& targets, bool mean_logits,
               TokenLogProbs& out) {
  Torch& t = play.torch;
  const Tensor weight = play.policy.read_weight(t, projection.weight(play.facts));
  const Tensor& bias = projection.bias(play.facts);
  const Dims rows{hidden->sizes[0]};
  const DType compute = play.facts.autocast.value_or(hidden->dtype);
  NodeRef node = t.record("ChunkedLogProbBackward", {&hidden, &weight, &bias}, chunked_backward);
  if (node) node->ints[0] = static_cast<std::int64_t>(compute);
  Restore no_grad(t.grad_enabled, false);
  std::array<Tensor, 7> running{};  // Maxima, sums and the target's logit of each row.
  for (Tensor& r : running) r = t.empty(rows, DType::fp32, "aten::full");
  const Tiles tiles = pass(t, hidden, weight, compute, false);
  const Tensor log_z = t.add(running[0], t.empty(rows, DType::fp32, "aten::log"));
  out.log_probs = t.sub(running[6], log_z);
  out.entropy = t.sub(log_z, t.empty(rows, DType::fp32, "aten::div"));
  if (mean_logits) out.mean_logits = t.empty(rows, DType::fp32, "aten::div");
  out.is_top1 = t.empty(rows, DType::boolean, "aten::bitwise_and");
  t.save(node, 0, hidden);
  t.save(node, 1, weight);
  t.save(node, 2, bias);
  t.save(node, 3, targets);
  t.save_output(node, 4, log_z);
  t.save_output(node, 5, out.entropy);
  out.log_probs = t.attach(node, std::move(out.log_probs));
}

}  // namespace

TokenLogProbs chunked_log_probs(Play& play, const Tensor& states, const Tensor& all_labels, const Linear& projection,
                                bool mean_logits, std::int64_t labelled) {
  Torch& t = play.torch;
  const bool shifted =
      t.ring.ranks > 1;  // Of rows that ranks share labels come so, the last of them to the first rank.
  const Tensor hidden = shifted ? states : t.slice(states, 1, 0, states->sizes[1] - 1);
  const Tensor labels = shifted ? all_labels : t.slice(all_labels, 1, 1, all_labels->sizes[1] - 1);
  TokenLogProbs fields{.mask = t.empty(labels->sizes, DType::boolean, "aten::ne")};
  const std::int64_t most = labels->sizes[1] - (shifted && t.ring.rank == 0 ? 1 : 0);
  const std::int64_t rows = saturating_mul(labels->sizes[0], labelled_positions(labelled, most));
  const Tensor scored = masked(t, hidden, fields.mask, rows);
  const Tensor targets = masked(t, labels, fields.mask, rows);
  per_token(play, scored, projection, targets, mean_logits, fields);
  for (Tensor* field : {&fields.log_probs, &fields.entropy, &fields.mean_logits, &fields.is_top1}) {
    if (*field) *field = scattered(t, fields.mask, *field);
  }
  return fields;
}

Tensor chunked_logprob_loss(Play& play, const Stream& s, const Linear& projection) {
  Torch& t = play.torch;
  const TokenLogProbs fields = chunked_log_probs(play, s.hidden, s.labels, projection, false, play.facts.labelled);
  return t.div_scalar(t.sum_all(t.neg(fields.log_probs)));
}

}  // namespace oomplan::estimator
