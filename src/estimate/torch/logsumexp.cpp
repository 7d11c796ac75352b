// aten/src/ATen/native/ReduceOps.cpp: logsumexp_out_impl; torch/csrc/autograd/FunctionsManual.cpp: logsumexp_backward.
#include "torch/logsumexp.hpp"

namespace oomplan::estimator {
namespace {

/// grad * (self - result).exp()
void logsumexp_backward(Torch& t, Node& n, Grads& g) {
  const Tensor self = t.unpack(n, 0);
  const Tensor result = t.unpack(n, 1);
  const Tensor apart = t.pointwise({&self}, self->dtype, "aten::sub");
  const Tensor shares = t.pointwise({&apart}, self->dtype, "aten::exp");
  g.out[0] = t.pointwise({&shares}, self->dtype, "aten::mul");
}

}  // namespace

Tensor logsumexp_last(Torch& t, const Tensor& x) {
  NodeRef node = t.record("LogsumexpBackward0", {&x}, logsumexp_backward);
  Dims sizes = x->sizes;
  sizes.erase(sizes.size() - 1);
  const Tensor highest = t.empty(sizes, x->dtype, "aten::amax");
  {
    const Tensor size_of_it = t.empty(sizes, x->dtype, "aten::abs");
    t.empty(sizes, DType::boolean, "aten::eq");  // Where it is infinite, for masked_fill_.
  }
  const Tensor exponents = t.empty(x->sizes, x->dtype, "aten::sub");
  Tensor out = t.empty(sizes, x->dtype, "aten::sum");
  t.save(node, 0, x);
  t.save_output(node, 1, out);
  return t.attach(node, std::move(out));
}

}  // namespace oomplan::estimator
