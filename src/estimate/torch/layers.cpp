// aten/src/ATen/native: Embedding.cpp, layer_norm.cpp, LossNLL.cpp.
#include "torch/loss_parallel.hpp"
#include "torch/torch.hpp"

namespace oomplan::estimator {

Tensor Torch::embedding(const Tensor& weight, const Tensor& indices, std::int64_t ranks) {
  NodeRef node = record("EmbeddingBackward0", {&weight}, [](Torch& t, Node& n, Grads& g) {
    const Tensor index = t.unpack(n, 0);
    const Tensor whole = t.zeros({saturating_mul(n.ints[0], n.ints[2]), n.ints[1]}, g.in[0]->dtype);
    g.out[0] = n.ints[2] == 1 ? whole : t.slice(whole, 0, 0, n.ints[0]);
    // embedding_dense_backward_cuda sorts the indices where there are many.
    const std::int64_t count = index->numel();
    if (count <= 3072) return;
    std::array<Tensor, 5> sorting{};
    for (Tensor& s : sorting) s = t.empty({count}, DType::int64, "aten::embedding_dense_backward");
  });
  if (node) node->ints = {weight->sizes[0], weight->sizes[1], ranks};
  save(node, 0, indices);
  Dims sizes = indices->sizes;
  sizes.push(weight->sizes[1]);
  return attach(node, empty(sizes, weight->dtype, "aten::embedding"));
}

Tensor Torch::layer_norm(const Tensor& input, const Tensor& w, const Tensor& b) {
  const Tensor x = raised(input);
  const Tensor weight = raised(w);
  const Tensor bias = raised(b);
  NodeRef node = record("NativeLayerNormBackward0", {&x, &weight, &bias}, [](Torch& t, Node& n, Grads& g) {
    const Tensor self = t.unpack(n, 0);
    const Tensor scale = t.unpack(n, 1);
    const Tensor shift = t.unpack(n, 2);
    const Tensor mean = t.unpack(n, 3);
    const Tensor rstd = t.unpack(n, 4);
    const Tensor gradient = t.contiguous(g.in[0]);  // As its formula in derivatives.yaml wants it.
    const char* op = "aten::native_layer_norm_backward";
    if (n.needs(0)) g.out[0] = t.empty(self->sizes, self->dtype, op);
    if (n.needs(1)) g.out[1] = t.empty(scale->sizes, scale->dtype, op);
    if (n.needs(2)) g.out[2] = t.empty(scale->sizes, scale->dtype, op);
  });
  save(node, 2, bias);
  save(node, 0, x);
  save(node, 1, weight);
  Tensor out = empty(x->sizes, x->dtype, "aten::native_layer_norm");
  Dims rows = x->sizes;
  rows[rows.size() - 1] = 1;
  const Tensor mean = empty(rows, DType::fp32, "aten::native_layer_norm");
  const Tensor rstd = empty(rows, DType::fp32, "aten::native_layer_norm");
  save_output(node, 3, mean);
  save_output(node, 4, rstd);
  return attach(node, std::move(out));
}

Tensor Torch::cross_entropy(const Tensor& logits, const Tensor& labels) {
  if (loss_parallel) return parallel_cross_entropy(*this, logits, labels);
  // cross_entropy_loss names the logits' own dtype, so autocast raises only what nll_loss is given.
  return nll_loss(raised(log_softmax_last(logits)), labels);
}

Tensor Torch::nll_loss(const Tensor& log_probs, const Tensor& labels) {
  NodeRef node = record("NllLossBackward0", {&log_probs}, [](Torch& t, Node& n, Grads& g) {
    const Tensor self = t.unpack(n, 0);
    const Tensor target = t.unpack(n, 1);
    const Tensor weight = t.unpack(n, 2);
    g.out[0] = t.empty(self->sizes, self->dtype, "aten::nll_loss_backward");
  });
  save(node, 0, log_probs);
  save(node, 1, labels);
  Tensor loss = empty({}, log_probs->dtype, "aten::nll_loss_forward");
  const Tensor total_weight = empty({}, log_probs->dtype, "aten::nll_loss_forward");
  save_output(node, 2, total_weight);
  return attach(node, std::move(loss));
}

}  // namespace oomplan::estimator
