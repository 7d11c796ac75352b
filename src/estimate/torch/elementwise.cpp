// aten/src/ATen/TensorIterator.cpp (output shape and strides) and the pointwise formulas of derivatives.yaml.
#include "torch/torch.hpp"

namespace oomplan::estimator {
namespace {

using Operands = std::initializer_list<const Tensor*>;

Dims broadcast(Operands inputs) {
  Dims out;
  for (const Tensor* x : inputs) {
    const Dims& s = (*x)->sizes;
    while (out.size() < s.size()) out.insert(0, 1);
    for (int i = 0; i < s.size(); ++i) {
      std::int64_t& o = out[out.size() - s.size() + i];
      if (o == 1) o = s[i];
    }
  }
  return out;
}

/// The stride of x in dimension `dim` of the broadcast shape.
std::int64_t stride_in(const TensorImpl& x, const Dims& shape, int dim) {
  const int own = dim - (shape.size() - x.dim());
  return own < 0 || (x.sizes[own] == 1 && shape[dim] != 1) ? 0 : x.strides[own];
}

/// TensorIteratorBase::reorder_dimensions' should_swap.
int should_swap(Operands inputs, const Dims& shape, int a, int b) {
  for (const Tensor* x : inputs) {
    const std::int64_t sa = saturating_mul(stride_in(**x, shape, a), bytes_of((*x)->dtype));
    const std::int64_t sb = saturating_mul(stride_in(**x, shape, b), bytes_of((*x)->dtype));
    if (sa == 0 || sb == 0) continue;
    if (sa != sb) return sa < sb ? -1 : 1;
    if (shape[a] > shape[b]) return 1;
  }
  return 0;
}

Dims output_strides(Operands inputs, const Dims& shape) {
  bool plain = true;
  bool same = true;
  const TensorImpl& first = ***inputs.begin();
  for (const Tensor* x : inputs) {
    const bool full = (*x)->sizes == shape;
    plain = plain && full && contiguous(**x);
    same = same && full && (*x)->strides == first.strides && dense(**x);
  }
  if (plain) return contiguous_strides(shape);
  if (same) return first.strides;
  std::array<int, Dims::capacity> order{};  // Fastest dimension first.
  for (int i = 0; i < shape.size(); ++i) order[static_cast<std::size_t>(i)] = shape.size() - 1 - i;
  for (int i = 1; i < shape.size(); ++i) {
    int at = i;
    for (int j = i - 1; j >= 0; --j) {
      int& lo = order[static_cast<std::size_t>(j)];
      int& hi = order[static_cast<std::size_t>(at)];
      const int comparison = should_swap(inputs, shape, lo, hi);
      if (comparison < 0) break;
      if (comparison > 0) {
        std::swap(lo, hi);
        at = j;
      }
    }
  }
  Dims strides = shape;
  std::int64_t step = 1;
  for (int i = 0; i < shape.size(); ++i) {
    const int d = order[static_cast<std::size_t>(i)];
    strides[d] = step;
    step = saturating_mul(step, shape[d]);
  }
  return strides;
}

/// A tensor with dimensions outranks one without; among equals the wider floating type wins.
DType promoted(const Tensor& a, const Tensor& b) {
  if (a->dtype == b->dtype) return a->dtype;
  if ((a->dim() == 0) != (b->dim() == 0) && is_floating(a->dtype) == is_floating(b->dtype)) {
    return a->dim() == 0 ? b->dtype : a->dtype;
  }
  if (!is_floating(a->dtype)) return b->dtype;
  if (!is_floating(b->dtype)) return a->dtype;
  return DType::fp32;
}

void pass_on(Torch&, Node& n, Grads& g) {
  for (int i = 1; i >= 0; --i) {
    if (i < n.next_count && n.needs(i)) g.out[static_cast<std::size_t>(i)] = g.in[0];
  }
}

/// x -> f(x) whose gradient is one kernel over the gradient and what was saved.
template <bool saves_output>
Tensor unary(Torch& t, const char* name, const char* op, const Tensor& x, BackwardFn backward) {
  NodeRef node = t.record(name, {&x}, backward);
  if constexpr (!saves_output) t.save(node, 0, x);
  Tensor out = t.pointwise({&x}, x->dtype, op);
  if constexpr (saves_output) t.save_output(node, 0, out);
  return t.attach(node, std::move(out));
}

}  // namespace

Tensor Torch::pointwise(Operands inputs, DType dtype, const char* op) {
  const Dims shape = broadcast(inputs);
  return empty_strided(shape, output_strides(inputs, shape), dtype, op);
}

Tensor Torch::add(const Tensor& a, const Tensor& b) {
  NodeRef node = record("AddBackward0", {&a, &b}, pass_on);
  return attach(node, pointwise({&a, &b}, promoted(a, b), "aten::add"));
}

Tensor Torch::sub(const Tensor& a, const Tensor& b) {
  NodeRef node = record("SubBackward0", {&a, &b}, [](Torch& t, Node& n, Grads& g) {
    if (n.needs(1)) g.out[1] = t.neg(g.in[0]);
    if (n.needs(0)) g.out[0] = g.in[0];
  });
  return attach(node, pointwise({&a, &b}, promoted(a, b), "aten::sub"));
}

Tensor Torch::mul(const Tensor& a, const Tensor& b) {
  NodeRef node = record("MulBackward0", {&a, &b}, [](Torch& t, Node& n, Grads& g) {
    const Tensor other = n.needs(0) ? t.unpack(n, 0) : Tensor();
    const Tensor self = n.needs(1) ? t.unpack(n, 1) : Tensor();
    if (n.needs(1)) g.out[1] = t.mul(g.in[0], self);
    if (n.needs(0)) g.out[0] = t.mul(g.in[0], other);
  });
  if (node && node->needs(0)) save(node, 0, b);
  if (node && node->needs(1)) save(node, 1, a);
  return attach(node, pointwise({&a, &b}, promoted(a, b), "aten::mul"));
}

Tensor Torch::add_(const Tensor& x, const Tensor& y) {
  NodeRef node = record("AddBackward0", {&x, &y}, pass_on);
  return attach(node, x);
}

Tensor Torch::add_scalar(const Tensor& x) {
  NodeRef node = record("AddBackward0", {&x}, pass_on);
  return attach(node, pointwise({&x}, x->dtype, "aten::add"));
}

Tensor Torch::mul_scalar(const Tensor& x) {
  NodeRef node = record("MulBackward0", {&x}, [](Torch& t, Node&, Grads& g) { g.out[0] = t.mul_scalar(g.in[0]); });
  return attach(node, pointwise({&x}, x->dtype, "aten::mul"));
}

Tensor Torch::div_scalar(const Tensor& x) {
  NodeRef node = record("DivBackward0", {&x}, [](Torch& t, Node&, Grads& g) { g.out[0] = t.div_scalar(g.in[0]); });
  return attach(node, pointwise({&x}, x->dtype, "aten::div"));
}

// div_tensor_other_backward: -grad * ((self / other) / other).
Tensor Torch::div(const Tensor& x, const Tensor& by) {
  NodeRef node = record("DivBackward0", {&x, &by}, [](Torch& t, Node& n, Grads& g) {
    const Tensor other = t.unpack(n, 0);
    const Tensor self = n.needs(1) ? t.unpack(n, 1) : Tensor();
    if (n.needs(1)) {
      const Tensor negative = t.neg(g.in[0]);
      const Tensor once = t.pointwise({&self, &other}, self->dtype, "aten::div");
      const Tensor twice = t.pointwise({&once, &other}, self->dtype, "aten::div");
      g.out[1] = t.mul(negative, twice);
    }
    if (n.needs(0)) g.out[0] = t.pointwise({&g.in[0], &other}, g.in[0]->dtype, "aten::div");
  });
  save(node, 0, by);
  if (node && node->needs(1)) save(node, 1, x);
  return attach(node, pointwise({&x, &by}, promoted(x, by), "aten::div"));
}

// where(self >= min && self <= max, grad, 0)
Tensor Torch::clamp(const Tensor& x) {
  NodeRef node = record("ClampBackward0", {&x}, [](Torch& t, Node& n, Grads& g) {
    const Tensor self = t.unpack(n, 0);
    const Tensor above = t.pointwise({&self}, DType::boolean, "aten::ge");
    const Tensor below = t.pointwise({&self}, DType::boolean, "aten::le");
    g.out[0] = t.pointwise({&above, &below, &g.in[0]}, g.in[0]->dtype, "aten::where");  // logical_and_, in place.
  });
  save(node, 0, x);
  return attach(node, pointwise({&x}, x->dtype, "aten::clamp"));
}

Tensor Torch::pow_scalar(const Tensor& input) {
  const Tensor x = raised(input);
  NodeRef node = record("PowBackward0", {&x}, [](Torch& t, Node& n, Grads& g) {
    // pow_backward: grad * (exponent * self.pow(exponent - 1)).
    const Tensor self = t.unpack(n, 0);
    const Tensor power = t.pointwise({&self}, self->dtype, "aten::pow");
    const Tensor scaled = t.mul_scalar(power);
    g.out[0] = t.mul(g.in[0], scaled);
  });
  save(node, 0, x);
  return attach(node, pointwise({&x}, x->dtype, "aten::pow"));
}

Tensor Torch::rsqrt(const Tensor& input) {
  return unary<true>(*this, "RsqrtBackward0", "aten::rsqrt", raised(input), [](Torch& t, Node& n, Grads& g) {
    const Tensor result = t.unpack(n, 0);
    const Tensor cubed = t.pointwise({&result}, result->dtype, "aten::pow");
    const Tensor scaled = t.mul_scalar(g.in[0]);
    g.out[0] = t.mul(scaled, cubed);
  });
}

Tensor Torch::exp(const Tensor& x) {
  return unary<true>(*this, "ExpBackward0", "aten::exp", raised(x),
                     [](Torch& t, Node& n, Grads& g) { g.out[0] = t.mul(g.in[0], t.unpack(n, 0)); });
}

Tensor Torch::neg(const Tensor& x) {
  NodeRef node = record("NegBackward0", {&x}, [](Torch& t, Node&, Grads& g) { g.out[0] = t.neg(g.in[0]); });
  return attach(node, pointwise({&x}, x->dtype, "aten::neg"));
}

Tensor Torch::tanh(const Tensor& x) {
  return unary<true>(*this, "TanhBackward0", "aten::tanh", x, [](Torch& t, Node& n, Grads& g) {
    const Tensor result = t.unpack(n, 0);
    g.out[0] = t.pointwise({&g.in[0], &result}, g.in[0]->dtype, "aten::tanh_backward");
  });
}

Tensor Torch::sigmoid(const Tensor& x) {
  return unary<true>(*this, "SigmoidBackward0", "aten::sigmoid", x, [](Torch& t, Node& n, Grads& g) {
    const Tensor result = t.unpack(n, 0);
    g.out[0] = t.pointwise({&g.in[0], &result}, g.in[0]->dtype, "aten::sigmoid_backward");
  });
}

Tensor Torch::relu(const Tensor& x) {
  return unary<true>(*this, "ReluBackward0", "aten::relu", x, [](Torch& t, Node& n, Grads& g) {
    const Tensor result = t.unpack(n, 0);
    g.out[0] = t.pointwise({&g.in[0], &result}, g.in[0]->dtype, "aten::threshold_backward");
  });
}

Tensor Torch::silu(const Tensor& x) {
  return unary<false>(*this, "SiluBackward0", "aten::silu", x, [](Torch& t, Node& n, Grads& g) {
    const Tensor self = t.unpack(n, 0);
    g.out[0] = t.pointwise({&g.in[0], &self}, g.in[0]->dtype, "aten::silu_backward");
  });
}

Tensor Torch::gelu(const Tensor& x) {
  return unary<false>(*this, "GeluBackward0", "aten::gelu", x, [](Torch& t, Node& n, Grads& g) {
    const Tensor self = t.unpack(n, 0);
    g.out[0] = t.pointwise({&g.in[0], &self}, g.in[0]->dtype, "aten::gelu_backward");
  });
}

Tensor Torch::dropout(const Tensor& x, double p) { return drops ? functional_dropout(x, p) : x; }

Tensor Torch::functional_dropout(const Tensor& x, double p) {
  if (p <= 0.0 || !training) return x;
  NodeRef node = record("NativeDropoutBackward0", {&x}, [](Torch& t, Node& n, Grads& g) {
    const Tensor mask = t.unpack(n, 0);
    g.out[0] = t.pointwise({&g.in[0], &mask}, g.in[0]->dtype, "aten::native_dropout_backward");
  });
  Tensor out = pointwise({&x}, x->dtype, "aten::native_dropout");
  const Tensor mask = pointwise({&x}, DType::boolean, "aten::native_dropout");
  save_output(node, 0, mask);
  return attach(node, std::move(out));
}

}  // namespace oomplan::estimator
