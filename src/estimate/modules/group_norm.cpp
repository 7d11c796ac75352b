// aten/src/ATen/native/group_norm.cpp, and derivatives.yaml's formula of it.
#include "modules/group_norm.hpp"

namespace oomplan::estimator {

Tensor group_norm(Torch& t, const Tensor& input, const Tensor& w, const Tensor& b, std::int64_t groups) {
  const Tensor x = t.contiguous(t.raised(input));
  const Tensor weight = t.raised(w);
  const Tensor bias = t.raised(b);
  NodeRef node = t.record("NativeGroupNormBackward0", {&x, &weight, &bias}, [](Torch& torch, Node& n, Grads& g) {
    const char* op = "aten::native_group_norm_backward";
    const Tensor self = torch.unpack(n, 0);
    const Tensor scale = torch.unpack(n, 1);
    const Tensor mean = torch.unpack(n, 2);
    const Tensor rstd = torch.unpack(n, 3);
    const Tensor gradient = torch.contiguous(g.in[0]);
    if (n.needs(0)) g.out[0] = torch.empty(self->sizes, self->dtype, op);
    if (n.needs(1)) g.out[1] = torch.empty(scale->sizes, scale->dtype, op);
    if (n.needs(2)) g.out[2] = torch.empty(scale->sizes, scale->dtype, op);
  });
  t.save(node, 0, x);
  t.save(node, 1, weight);
  const char* op = "aten::native_group_norm";
  const Tensor out = t.empty(x->sizes, x->dtype, op);
  t.save_output(node, 2, t.empty({x->sizes[0], groups}, x->dtype, op));
  t.save_output(node, 3, t.empty({x->sizes[0], groups}, x->dtype, op));
  return t.attach(node, out);
}

}  // namespace oomplan::estimator
