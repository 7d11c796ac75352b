#include "torch/zero3_linear.hpp"

namespace oomplan::estimator {
namespace {

Tensor forward(Torch& t, const Tensor& input, const Tensor& weight, const Tensor& bias) {
  if (input->dim() == 2 && bias) return t.addmm(bias, input, t.t(weight));
  const Tensor output = t.matmul(input, t.t(weight));
  return bias ? t.add_(output, bias) : output;
}

void backward(Torch& t, Node& n, Grads& g) {
  const Tensor input = t.unpack(n, 0);
  const Tensor weight = t.unpack(n, 1);
  const Tensor& grad = g.in[0];
  if (n.needs(0)) g.out[0] = t.matmul(grad, weight);
  if (n.needs(1)) {
    const Tensor rows = t.reshape(grad, {-1, grad->sizes.back()});
    g.out[1] = t.matmul(t.t(rows), t.reshape(input, {-1, input->sizes.back()}));
  }
  if (n.needs(2)) g.out[2] = t.sum_to(grad, {grad->sizes.back()});
}

}  // namespace

Tensor zero3_linear_wrap(Torch& t, const Tensor& input, const Tensor& weight, const Tensor& bias) {
  NodeRef node = t.record("LinearFunctionForZeroStage3Backward", {&input, &weight, &bias}, backward);
  Tensor output;
  {
    Restore no_grad(t.grad_enabled, false);
    output = forward(t, input, weight, bias);
  }
  t.save(node, 0, input);
  t.save(node, 1, weight);
  t.save(node, 2, bias);
  return t.attach(node, std::move(output));
}

}  // namespace oomplan::estimator
