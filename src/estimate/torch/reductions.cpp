// aten/src/ATen/native/ReduceOps.cpp, SoftMax.cpp, ExpandUtils.h (sum_to).
#include "torch/torch.hpp"

namespace oomplan::estimator {
namespace {

/// A function whose gradient needs its result alone. Beside the result the kernel holds a copy of what is not
/// contiguous (aten/src/ATen/native/cuda/SoftMax.cu: host_softmax).
Tensor normalised(Torch& t, const char* name, const char* op, const Tensor& x, BackwardFn backward) {
  NodeRef node = t.record(name, {&x}, backward);
  Tensor out = t.empty(x->sizes, x->dtype, op);
  if (!contiguous(*x)) t.empty(x->sizes, x->dtype, "aten::contiguous");
  t.save_output(node, 0, out);
  return t.attach(node, std::move(out));
}

}  // namespace

Tensor Torch::mean_last(const Tensor& x) {
  NodeRef node = record("MeanBackward1", {&x}, [](Torch& t, Node& n, Grads& g) {
    const Tensor spread = t.expand(g.in[0], n.dims);
    g.out[0] = t.div_scalar(spread);
  });
  if (node) node->dims = x->sizes;
  Dims sizes = x->sizes;
  sizes[sizes.size() - 1] = 1;
  return attach(node, empty(sizes, x->dtype, "aten::mean"));
}

Tensor Torch::sum_all(const Tensor& x) {
  NodeRef node =
      record("SumBackward0", {&x}, [](Torch& t, Node& n, Grads& g) { g.out[0] = t.expand(g.in[0], n.dims); });
  if (node) node->dims = x->sizes;
  return attach(node, empty({}, x->dtype, "aten::sum"));
}

// The engine casts a gradient of another dtype to its input's (torch/csrc/autograd/engine.cpp: validate_outputs).
Tensor Torch::sum_last(const Tensor& x, std::optional<DType> dtype) {
  NodeRef node = record("SumBackward1", {&x}, [](Torch& t, Node& n, Grads& g) {
    g.out[0] = t.to(t.expand(t.unsqueeze(g.in[0], n.dims.size() - 1), n.dims), static_cast<DType>(n.ints[0]));
  });
  if (node) {
    node->dims = x->sizes;
    node->ints[0] = static_cast<std::int64_t>(x->dtype);
  }
  Dims sizes = x->sizes;
  sizes.erase(sizes.size() - 1);
  return attach(node, empty(sizes, dtype.value_or(x->dtype), "aten::sum"));
}

Tensor Torch::sum_to(const Tensor& x, const Dims& sizes) {
  const int lead = x->dim() - sizes.size();
  Dims reduced = x->sizes;
  bool reduces = false;
  for (int i = 0; i < x->dim(); ++i) {
    const bool here = i < lead || (sizes[i - lead] == 1 && x->sizes[i] != 1);
    reduces = reduces || here;
    if (here) reduced[i] = 1;
  }
  const Tensor summed = reduces ? empty(reduced, x->dtype, "aten::sum") : x;
  return lead > 0 ? view(summed, sizes) : summed;
}

Tensor Torch::softmax_last(const Tensor& input, std::optional<DType> dtype) {
  const Tensor x = dtype ? to(input, *dtype) : raised(input);
  return normalised(*this, "SoftmaxBackward0", "aten::_softmax", x, [](Torch& t, Node& n, Grads& g) {
    const Tensor result = t.unpack(n, 0);
    g.out[0] = t.empty(result->sizes, result->dtype, "aten::_softmax_backward_data");
  });
}

Tensor Torch::log_softmax_last(const Tensor& x) {
  return normalised(*this, "LogSoftmaxBackward0", "aten::_log_softmax", x, [](Torch& t, Node& n, Grads& g) {
    const Tensor result = t.unpack(n, 0);
    g.out[0] = t.empty(result->sizes, result->dtype, "aten::_log_softmax_backward_data");
  });
}

}  // namespace oomplan::estimator
