// aten/src/ATen/native: TensorAdvancedIndexing.cpp, Sorting.cpp (topk), GroupedMMUtils.h.
#include "torch/torch.hpp"

namespace oomplan::estimator {

Tensor Torch::index_rows(const Tensor& x, const Tensor& rows) {
  NodeRef node =
      record("IndexBackward0", {&x}, [](Torch& t, Node& n, Grads& g) { g.out[0] = t.zeros(n.dims, g.in[0]->dtype); });
  if (node) node->dims = x->sizes;
  save(node, 0, rows);
  Dims sizes = x->sizes;
  sizes[0] = rows->sizes[0];
  return attach(node, empty(sizes, x->dtype, "aten::index"));
}

// derivatives.yaml: index_select_backward_symint, which adds to zeros in place.
Tensor Torch::index_select(const Tensor& x, const Tensor& rows) {
  NodeRef node = record("IndexSelectBackward0", {&x},
                        [](Torch& t, Node& n, Grads& g) { g.out[0] = t.zeros(n.dims, g.in[0]->dtype); });
  if (node) node->dims = x->sizes;
  save(node, 0, rows);
  Dims sizes = x->sizes;
  sizes[0] = rows->sizes[0];
  return attach(node, empty(sizes, x->dtype, "aten::index_select"));
}

// The index is a tensor of one number, from which a list of one is made.
Tensor Torch::index_one(const Tensor& x, int dim) {
  const Tensor index = empty({1}, DType::int64, "aten::_to_copy");
  NodeRef node =
      record("IndexBackward0", {&x}, [](Torch& t, Node& n, Grads& g) { g.out[0] = t.zeros(n.dims, g.in[0]->dtype); });
  if (node) node->dims = x->sizes;
  save(node, 0, index);
  Dims sizes = x->sizes;
  sizes[dim] = 1;
  return attach(node, empty(sizes, x->dtype, "aten::index"));
}

// derivatives.yaml: gather_backward(grad, self, dim, index, sparse_grad), which makes zeros and adds to them in place.
Tensor Torch::gather_last(const Tensor& x, const Tensor& index) {
  NodeRef node = record("GatherBackward0", {&x}, [](Torch& t, Node& n, Grads& g) {
    const Tensor self = t.unpack(n, 0);
    const Tensor at = t.unpack(n, 1);
    g.out[0] = t.zeros(self->sizes, g.in[0]->dtype);
  });
  save(node, 1, index);
  save(node, 0, x);
  return attach(node, empty(index->sizes, x->dtype, "aten::gather"));
}

// aten/src/ATen/native/TensorShape.cpp: repeat() copies into a new tensor; repeat_backward sums what came of each.
Tensor Torch::repeat_first(const Tensor& x, std::int64_t times) {
  NodeRef node = record("RepeatBackward0", {&x}, [](Torch& t, Node& n, Grads& g) {
    g.out[0] = n.ints[0] == 1 ? g.in[0] : t.empty(n.dims, g.in[0]->dtype, "aten::sum");
  });
  if (node) node->dims = x->sizes;
  if (node) node->ints[0] = times;
  Dims sizes = x->sizes;
  sizes[0] = saturating_mul(sizes[0], times);
  return attach(node, empty(sizes, x->dtype, "aten::repeat"));
}

// derivatives.yaml's formula names source, for its shape alone.
Tensor Torch::index_add_(const Tensor& x, const Tensor& rows, const Tensor& source) {
  NodeRef node = record("IndexAddBackward0", {&x, &source}, [](Torch& t, Node& n, Grads& g) {
    const Tensor from = t.unpack(n, 1);
    if (n.needs(1)) g.out[1] = t.empty(from->sizes, g.in[0]->dtype, "aten::index_select");
    if (n.needs(0)) g.out[0] = g.in[0];
  });
  save(node, 0, rows);
  save(node, 1, source);
  return attach(node, x);
}

// aten/src/ATen/native/Repeat.cpp, of one number of repeats: an expanded view, copied.
Tensor Torch::repeat_rows(const Tensor& x, std::int64_t times) {
  const Dims& s = x->sizes;
  const Tensor wide = expand(unsqueeze(x, 1), {s[0], times, s[1]});
  return view(contiguous(wide), {saturating_mul(s[0], times), s[1]});
}

std::pair<Tensor, Tensor> Torch::topk_last(const Tensor& x, std::int64_t count) {
  NodeRef node = record("TopkBackward0", {&x}, [](Torch& t, Node& n, Grads& g) {
    const Tensor index = t.unpack(n, 0);
    g.out[0] = t.zeros(n.dims, g.in[0]->dtype);
  });
  if (node) node->dims = x->sizes;
  Dims sizes = x->sizes;
  sizes[sizes.size() - 1] = count;
  Tensor values = empty(sizes, x->dtype, "aten::topk");
  Tensor indices = empty(sizes, DType::int64, "aten::topk");
  save_output(node, 0, indices);
  return {attach(node, std::move(values)), std::move(indices)};
}

Tensor Torch::div_(const Tensor& x, const Tensor& by) {
  NodeRef node = record("DivBackward0", {&x, &by}, [](Torch& t, Node& n, Grads& g) {
    const Tensor other = t.unpack(n, 0);
    const Tensor self = t.unpack(n, 1);
    if (n.needs(1)) g.out[1] = t.pointwise({&g.in[0], &self}, g.in[0]->dtype, "aten::mul");
    if (n.needs(0)) g.out[0] = t.pointwise({&g.in[0], &other}, g.in[0]->dtype, "aten::div");
  });
  save(node, 0, by);
  if (node && node->needs(1)) {  // In place: what was there before is kept as a copy.
    Restore no_grad(grad_enabled, false);
    save(node, 1, clone(x));
  }
  return attach(node, x);
}

// Autocast sums in fp32 (autocast_mode.h: fp32_set_opt_dtype); the engine casts the gradient back.
Tensor Torch::sum_dim(const Tensor& x, int dim, bool keep, std::optional<DType> dtype) {
  NodeRef node = record("SumBackward1", {&x}, [](Torch& t, Node& n, Grads& g) {
    const bool kept = g.in[0]->dim() == n.dims.size();
    const Tensor wide = t.expand(kept ? g.in[0] : t.unsqueeze(g.in[0], static_cast<int>(n.ints[0])), n.dims);
    g.out[0] = t.to(wide, static_cast<DType>(n.ints[1]));
  });
  if (node) {
    node->dims = x->sizes;
    node->ints = {dim, static_cast<std::int64_t>(x->dtype)};
  }
  Dims sizes = x->sizes;
  keep ? void(sizes[dim] = 1) : sizes.erase(dim);
  const DType by_itself = autocast() && bytes_of(x->dtype) == 2 ? DType::fp32 : x->dtype;
  return attach(node, empty(sizes, dtype.value_or(by_itself), "aten::sum"));
}

// No op of autocast's: a's dtype is the weight's (transformers' _grouped_mm sees to it).
Tensor Torch::grouped_mm(const Tensor& a, const Tensor& weight, const Tensor& offsets) {
  NodeRef node = record("GroupedMmBackward0", {&a, &weight}, [](Torch& t, Node& n, Grads& g) {
    const Tensor x = t.unpack(n, 0);
    const Tensor w = t.unpack(n, 1);
    const Tensor ends = t.unpack(n, 2);
    const char* op = "aten::_grouped_mm";
    // weight is experts × out × in, of which the product takes the transposed view.
    if (n.needs(1)) g.out[1] = t.empty(n.dims, g.in[0]->dtype, op);
    if (n.needs(0)) g.out[0] = t.empty({g.in[0]->sizes[0], n.dims[2]}, g.in[0]->dtype, op);
  });
  if (node) node->dims = weight->sizes;
  if (node && node->needs(0)) save(node, 1, weight);
  save(node, 2, offsets);
  if (node && node->needs(1)) save(node, 0, a);
  Tensor out = empty({a->sizes[0], weight->sizes[1]}, a->dtype, "aten::_grouped_mm");
  recorder.multiply();
  return attach(node, std::move(out));
}

}  // namespace oomplan::estimator
