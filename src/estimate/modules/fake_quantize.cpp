#include "modules/fake_quantize.hpp"

namespace oomplan::estimator {
namespace {

/// _Round: its gradient is the output's.
Tensor rounded(Torch& t, const Tensor& x) {
  NodeRef node = t.record("_RoundBackward", {&x}, [](Torch&, Node&, Grads& g) { g.out[0] = g.in[0]; });
  return t.attach(node, t.pointwise({&x}, x->dtype, "aten::round"));
}

Tensor copied(Torch& t, const Tensor& x, DType dtype) { return x->dtype == dtype ? t.clone(x) : t.to(x, dtype); }

/// _quantize_affine_no_dtype_cast.
Tensor quantized(Torch& t, const Tensor& x, const Tensor& scale, const Tensor& zero) {
  Tensor out;
  {
    const Tensor inverse = t.empty(scale->sizes, DType::fp32, "aten::mul");
    out = t.mul(x, inverse);
  }
  out = rounded(t, out);
  out = t.add(out, zero);
  return t.clamp(out);
}

/// _dequantize_affine_no_dtype_check.
Tensor dequantized(Torch& t, const Tensor& quantized, const Tensor& scale, DType dtype) {
  Tensor out = copied(t, quantized, dtype);
  {
    const Tensor zero = t.empty(scale->sizes, dtype, "aten::_to_copy");
    out = t.sub(out, zero);
  }
  out = t.mul(out, scale);
  return t.to(out, dtype);
}

}  // namespace

Tensor fake_quantized(Torch& t, const Tensor& x, std::int64_t group, const Tensor& kept) {
  Dims groups = x->sizes;
  groups[groups.size() - 1] /= group;
  groups.push(group);
  Dims scales = groups;
  scales[scales.size() - 1] = 1;
  Tensor scale = t.empty(scales, DType::fp32, "aten::_to_copy");
  Tensor zero = t.empty(scales, DType::fp32, "aten::_to_copy");
  if (kept) scale = zero = t.view(kept, scales);
  const Tensor codes = quantized(t, t.view(x, groups), scale, zero);
  return t.view(dequantized(t, codes, scale, x->dtype), x->sizes);
}

}  // namespace oomplan::estimator
