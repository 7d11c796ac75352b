// aten/src/ATen/native/cuda/layer_norm_kernel.cu: _fused_rms_norm_cuda, which a CPU build of PyTorch does not have. Its
// gradient of the weight sums in memory of its own only where rows are narrow and more than 65,536; that is left out.
#include "torch/fused_norm.hpp"

namespace oomplan::estimator {
namespace {

constexpr const char* backward_op = "aten::_fused_rms_norm_backward";

void fused_backward(Torch& t, Node& n, Grads& g) {
  const Tensor x = t.unpack(n, 0);
  const Tensor weight = t.unpack(n, 1);
  const Tensor rstd = t.unpack(n, 2);
  if (n.needs(0)) g.out[0] = t.empty(x->sizes, x->dtype, backward_op);
  if (n.needs(1)) g.out[1] = t.empty(weight->sizes, weight->dtype, backward_op);
}

}  // namespace

Tensor fused_rms_norm(Torch& t, const Tensor& x, const Tensor& weight) {
  NodeRef node = t.record("FusedRmsNormBackward0", {&x, &weight}, fused_backward);
  t.save(node, 0, x);
  t.save(node, 1, weight);
  Tensor out = t.empty(x->sizes, x->dtype, "aten::_fused_rms_norm");
  const Tensor rstd = t.empty({x->numel() / x->sizes.back()}, DType::fp32, "aten::_fused_rms_norm");
  t.save_output(node, 2, rstd);
  return t.attach(node, std::move(out));
}

}  // namespace oomplan::estimator
