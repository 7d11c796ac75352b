#include "torch/convolution.hpp"

#include <algorithm>

namespace oomplan::estimator {
namespace {

/// convolution_backward: all that is asked for in one call, made in the arguments' order.
void convolution_backward(Torch& t, Node& n, Grads& g) {
  const Tensor x = t.unpack(n, 0);
  const Tensor weight = t.unpack(n, 1);
  const char* op = "aten::convolution_backward";
  if (n.needs(0)) g.out[0] = t.empty(x->sizes, x->dtype, op);
  if (n.needs(1)) g.out[1] = t.empty(weight->sizes, weight->dtype, op);
  if (n.needs(2)) g.out[2] = t.empty({weight->sizes[0]}, weight->dtype, op);
}

}  // namespace

Tensor conv1d(Torch& t, const Tensor& input, const Tensor& w, const Tensor& b, std::int64_t padding,
              std::int64_t stride) {
  const Tensor bias = t.lowered(b);
  const Tensor weight = t.lowered(w);
  const Tensor x = t.lowered(input);
  NodeRef node = t.record("ConvolutionBackward0", {&x, &weight, &bias}, convolution_backward);
  t.save(node, 0, x);
  t.save(node, 1, weight);
  const std::int64_t length = (x->sizes[2] + 2 * padding - weight->sizes[2]) / stride + 1;
  return t.attach(node, t.empty({x->sizes[0], weight->sizes[0], length}, x->dtype, "aten::convolution"));
}

Tensor conv2d(Torch& t, const Tensor& input, const Tensor& w, const Tensor& b, std::int64_t padding,
              std::int64_t stride) {
  const Tensor bias = t.lowered(b);
  const Tensor weight = t.lowered(w);
  const Tensor x = t.lowered(input);
  NodeRef node = t.record("ConvolutionBackward0", {&x, &weight, &bias}, convolution_backward);
  t.save(node, 0, x);
  t.save(node, 1, weight);
  const auto side = [&](int dim) {
    return std::max<std::int64_t>((x->sizes[dim] + 2 * padding - weight->sizes[dim]) / stride + 1, 1);
  };
  return t.attach(node, t.empty({x->sizes[0], weight->sizes[0], side(2), side(3)}, x->dtype, "aten::convolution"));
}

}  // namespace oomplan::estimator
