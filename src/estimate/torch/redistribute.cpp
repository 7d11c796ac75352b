#include "torch/redistribute.hpp"

namespace oomplan::estimator {
namespace {

Dims resized(Dims sizes, int dim, std::int64_t size) {
  sizes[dim] = size;
  return sizes;
}

Tensor summed(Torch& t, const Tensor& x) { return t.empty(x->sizes, x->dtype, "aten::clone"); }

/// all_gather_tensor: of dimension 0; parts of another are put side by side afterwards, unless those before it are 1.
Tensor gather(Torch& t, const Tensor& x, int dim, std::int64_t ranks) {
  const Dims whole = resized(x->sizes, dim, saturating_mul(x->sizes[dim], ranks));
  std::int64_t before = 1;
  for (int i = 0; i < dim; ++i) before = saturating_mul(before, x->sizes[i]);
  const Tensor parts = t.empty(whole, x->dtype, "_c10d_functional::all_gather_into_tensor");
  return before == 1 ? parts : t.empty(whole, x->dtype, "aten::cat");
}

/// reduce_scatter_tensor: parts of another dimension than the first are put one behind the other before. torchtitan's
/// selective checkpoints keep what it returns (models/llama3/infra/parallelize.py: _op_sac_save_list).
Tensor scatter(Torch& t, const Tensor& x, int dim, std::int64_t ranks) {
  const Tensor parts = dim == 0 ? x : t.empty(x->sizes, x->dtype, "aten::cat");
  return t.kept_by_checkpoint([&] {
    return t.empty(resized(x->sizes, dim, x->sizes[dim] / ranks), x->dtype, "_c10d_functional::reduce_scatter_tensor");
  });
}

/// The node's `ints` are the dimension and the ranks.
Tensor attached(Torch& t, const NodeRef& node, Tensor out, int dim, std::int64_t ranks) {
  if (node) node->ints = {dim, ranks};
  return t.attach(node, std::move(out));
}

}  // namespace

Tensor all_reduced(Torch& t, const Tensor& x) {
  const NodeRef node = t.record("RedistributeBackward", {&x}, [](Torch&, Node&, Grads& g) { g.out[0] = g.in[0]; });
  return t.attach(node, summed(t, x));
}

Tensor replicated(Torch& t, const Tensor& x) {
  const NodeRef node = t.record("FromTorchTensorBackward", {&x},
                                [](Torch& torch, Node&, Grads& g) { g.out[0] = summed(torch, g.in[0]); });
  return node ? t.attach(node, t.view_as(x, x->sizes, x->strides)) : x;
}

Tensor all_gathered(Torch& t, const Tensor& x, int dim, std::int64_t ranks) {
  const Restore subclass(t.subclasses, true);
  const NodeRef node = t.record("RedistributeBackward", {&x}, [](Torch& torch, Node& n, Grads& g) {
    g.out[0] = scatter(torch, g.in[0], static_cast<int>(n.ints[0]), n.ints[1]);
  });
  return attached(t, node, gather(t, x, dim, ranks), dim, ranks);
}

Tensor reduce_scattered(Torch& t, const Tensor& x, int dim, std::int64_t ranks) {
  const NodeRef node = t.record("RedistributeBackward", {&x}, [](Torch& torch, Node& n, Grads& g) {
    g.out[0] = gather(torch, g.in[0], static_cast<int>(n.ints[0]), n.ints[1]);
  });
  return attached(t, node, scatter(t, x, dim, ranks), dim, ranks);
}

Tensor gathered_output(Torch& t, const Tensor& x, std::int64_t ranks) {
  const NodeRef node = t.record("ToTorchTensorBackward", {&x}, [](Torch& torch, Node& n, Grads& g) {
    const int last = g.in[0]->dim() - 1;
    g.out[0] =
        torch.empty(resized(g.in[0]->sizes, last, g.in[0]->sizes[last] / n.ints[1]), g.in[0]->dtype, "aten::clone");
  });
  const int last = x->dim() - 1;
  return attached(t, node, gather(t, x, last, ranks), last, ranks);
}

}  // namespace oomplan::estimator
