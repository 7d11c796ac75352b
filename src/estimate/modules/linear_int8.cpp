// bitsandbytes' Linear8bitLt as transformers loads it: int8 weights with a scale a row, inputs quantised as they come,
// and their columns of outliers (of which none is played) in the inputs' dtype.
#include <fmt/format.h>

#include "modules/linear.hpp"

namespace oomplan::estimator {
namespace {

/// backends/cuda/ops.py: int8_vectorwise_quant, with the search for outliers that a threshold above 0 asks for.
struct Int8Rows {
  Tensor scales{};
  Tensor values{};
};

Int8Rows int8_rows(Torch& t, const Tensor& half) {
  Int8Rows out;
  out.scales = t.empty({half->sizes[0]}, DType::fp32, "bitsandbytes::int8_vectorwise_quant");
  out.values = t.empty(half->sizes, DType::int8, "bitsandbytes::int8_vectorwise_quant");
  Tensor magnitude = t.empty(half->sizes, DType::fp16, "aten::abs");
  const Tensor outliers = t.empty(half->sizes, DType::boolean, "aten::ge");
  magnitude.reset();
  t.empty({}, DType::boolean, "aten::any");
  return out;
}

// autograd/_functions.py: MatMul8bitLt.backward, of a frozen weight.
void int8_backward(Torch& t, Node& n, Grads& g) {
  const DType dtype = n.attribute->dtype;
  const Tensor weight = t.empty({n.ints[1], n.ints[0]}, dtype, "aten::_to_copy");
  t.empty({n.ints[1], 1}, DType::fp32, "aten::mul");  // The scales, by which it is multiplied in place.
  g.out[0] = t.matmul(t.to(g.in[0], dtype), weight);
}

}  // namespace

// transformers/integrations/bitsandbytes.py: Bnb8bitQuantize takes the loaded weight to the host and back, and
// nn/modules.py: Int8Params._quantize goes by way of fp16.
void Linear::quantize_to_int8(Builder& builder, const std::string& name) {
  Torch& t = builder.torch;
  int8_ = true;
  const std::int64_t elements = saturating_mul(in_, out_);
  builder.loads(name + ".weight", elements);
  const bool made_here = !builder.facts.quantized_before;
  const Tensor loaded = made_here ? t.empty({out_, in_}, builder.facts.weights, "aten::_to_copy") : Tensor();
  const Tensor half = made_here ? t.empty({out_, in_}, DType::fp16, "aten::_to_copy") : Tensor();
  builder.quantized_storage({out_}, DType::fp32);
  builder.quantized_storage({out_, in_}, DType::int8);
  builder.count(elements, false);
  // bitsandbytes 0.50 cannot multiply by what transformers makes of a Conv1D.
  const bool conv1d = kind_ == LinearKind::conv1d;
  if (in_ % 4 == 0 && !conv1d) return;
  Diagnostic d;
  d.code = "estimate/unmodelled";
  d.message = conv1d ? fmt::format("8-bit weights of a Conv1D ({}) are not modelled yet", name)
                     : fmt::format("8-bit weights of {} columns, not a multiple of 4, are not modelled yet", in_);
  builder.problems.push_back(std::move(d));
}

// backends/default/ops.py: int8_vectorwise_dequant, a product with the rows' scales and one with 1/127.
Tensor Linear::int8_weight(Torch& t) const {
  const Tensor scaled = t.empty({out_, in_}, DType::fp32, "aten::mul");
  return t.empty({out_, in_}, DType::fp32, "aten::mul");
}

// autograd/_functions.py: MatMul8bitLt.forward. Its ctx holds the input where no checkpoint sees it.
Tensor Linear::int8_product(Play& play, const Tensor& x) const {
  Torch& t = play.torch;
  NodeRef node = t.record("MatMul8bitLtBackward", {&x}, int8_backward);
  if (node) node->ints = {in_, out_};
  Restore no_grad(t.grad_enabled, false);
  const Tensor rows = t.reshape(x, {-1, in_});
  t.hold(node, rows);
  const Int8Rows input = int8_rows(t, t.to(rows, DType::fp16));
  const std::int64_t count = rows->sizes[0];
  const Tensor sums = t.empty({count, out_}, DType::int32, "bitsandbytes::int8_linear_matmul");
  Tensor out = t.empty({count, out_}, DType::fp16, "bitsandbytes::int8_mm_dequant");
  if (const Tensor& bias = bias_.of(play.facts); bias) t.to(bias, x->dtype);
  out = t.to(out, x->dtype);
  Dims sizes = x->sizes;
  sizes[sizes.size() - 1] = out_;
  return t.attach(node, t.view(out, sizes));
}

}  // namespace oomplan::estimator
