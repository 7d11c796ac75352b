// RecurrentGemmaRecurrentBlock: a short convolution and a gated linear recurrence, token by token in fp32, which a
// second branch gates.
#include "modules/activation.hpp"
#include "modules/linear.hpp"
#include "modules/selective_scan.hpp"
#include "torch/convolution.hpp"
#include "torch/loops.hpp"
#include "torch/scans.hpp"

namespace oomplan::estimator::ops {
namespace {

/// torch.baddbmm(bias, a, b), of which each may be trained.
Tensor biased_bmm(Torch& t, const Tensor& z, const Tensor& x, const Tensor& y) {
  const Tensor b = t.lowered(y);
  const Tensor a = t.lowered(x);
  const Tensor c = t.lowered(z);
  NodeRef node = t.record("BaddbmmBackward0", {&c, &a, &b}, [](Torch& torch, Node& n, Grads& g) {
    const Tensor left = n.needs(2) ? torch.unpack(n, 0) : Tensor();
    const Tensor right = n.needs(1) ? torch.unpack(n, 1) : Tensor();
    if (n.needs(1)) g.out[1] = torch.bmm(g.in[0], torch.transpose(right, 1, 2));
    if (n.needs(2)) g.out[2] = torch.bmm(torch.transpose(left, 1, 2), g.in[0]);
    if (n.needs(0)) g.out[0] = g.in[0];
  });
  if (node && node->needs(2)) t.save(node, 0, a);
  if (node && node->needs(1)) t.save(node, 1, b);
  return t.attach(node, t.empty({a->sizes[0], a->sizes[1], b->sizes[2]}, a->dtype, "aten::baddbmm"));
}

/// SqrtBoundDerivative
Tensor bounded_sqrt(Torch& t, const Tensor& x) {
  NodeRef node = t.record("SqrtBoundDerivativeBackward", {&x}, [](Torch& torch, Node& n, Grads& g) {
    const Tensor self = torch.unpack(n, 0);
    const Tensor clipped = torch.clamp(torch.mul_scalar(self));
    const Tensor root = torch.pointwise({&clipped}, clipped->dtype, "aten::sqrt");
    g.out[0] = torch.pointwise({&g.in[0], &root}, g.in[0]->dtype, "aten::div");
  });
  t.save(node, 0, x);
  return t.attach(node, t.pointwise({&x}, x->dtype, "aten::sqrt"));
}

/// ~x
Tensor inverted(Torch& t, const Tensor& x) { return t.empty(x->sizes, DType::boolean, "aten::bitwise_not"); }

/// RecurrentGemmaRglru
class RgLru {
 public:
  RgLru() = default;
  RgLru(Builder& b, const std::string& name, std::int64_t width, std::int64_t heads)
      : heads_(heads), block_(width / heads), module_(b.module_id(name)) {
    const std::string m = name + ".";
    recurrent_ = b.weight(m + "recurrent_param", {width}, Part::bias);
    const Dims of_weight{heads_, block_, block_};
    const Dims of_bias{heads_, block_};
    input_weight_ = b.weight(m + "input_gate_weight", of_weight, Part::matrix);
    input_bias_ = b.weight(m + "input_gate_bias", of_bias, Part::bias);
    gate_weight_ = b.weight(m + "recurrent_gate_weight", of_weight, Part::matrix);
    gate_bias_ = b.weight(m + "recurrent_gate_bias", of_bias, Part::bias);
  }

  /// x: batch × length × width.
  Tensor operator()(Torch& t, const Tensor& x) const {
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const Dims& sizes = x->sizes;
    const Tensor reset = t.empty({1, sizes[1], 1}, DType::boolean, "aten::eq");
    Tensor blocks = t.reshape(x, {saturating_mul(sizes[0], sizes[1]), heads_, block_});
    blocks = t.permute(blocks, {1, 0, 2});
    Tensor product = biased_bmm(t, t.unsqueeze(input_bias_, 1), blocks, input_weight_);
    const Tensor input_gate = sigmoid(t, product, sizes);
    product = biased_bmm(t, t.unsqueeze(gate_bias_, 1), blocks, gate_weight_);
    Tensor gate = sigmoid(t, product, sizes);
    const Tensor logarithm = log_gate(t, gate);
    gate = t.exp(logarithm);
    const Tensor square = t.exp(t.mul_scalar(logarithm));
    const Tensor gated = t.mul(x, input_gate);
    Tensor multiplier = bounded_sqrt(t, rest_of(t, square));
    multiplier = t.add(reset, t.mul(inverted(t, reset), multiplier));
    const Tensor normed = t.mul(gated, t.to(multiplier, x->dtype));
    return scan(t, normed, gate, reset);
  }

  /// What the last call left of its recurrence (self.recurrent_states = None).
  void forget() const { state_.reset(); }

 private:
  static Tensor sigmoid(Torch& t, const Tensor& product, const Dims& sizes) {
    return t.sigmoid(t.reshape(t.transpose(product, 0, 1), sizes));
  }

  /// -8.0 * recurrent_gate * softplus(recurrent_param)
  Tensor log_gate(Torch& t, const Tensor& gate) const {
    const Tensor scaled = t.mul_scalar(gate);
    return t.mul(scaled, t.softplus(recurrent_));
  }

  Tensor scan(Torch& t, const Tensor& x, const Tensor& gates, const Tensor& reset) const {
    const Tensor gate = t.mul(gates, inverted(t, reset));
    Tensor state = t.zeros({x->sizes[0], x->sizes[2]}, DType::fp32);
    Tensor out = t.empty_strided(x->sizes, x->strides, x->dtype, "aten::zeros_like");
    play_turns(t, x->sizes[1], [&](std::int64_t) {
      state = t.mul(t.to(t.select(gate, 1), DType::fp32), state);
      state = t.add(state, t.to(t.select(x, 1), DType::fp32));
      out = set_part(t, out, t.to(state, x->dtype));
    });
    state_ = state;
    return out;
  }

  std::int64_t heads_ = 1;
  std::int64_t block_ = 1;
  std::int32_t module_ = -1;
  Tensor recurrent_{}, input_weight_{}, input_bias_{}, gate_weight_{}, gate_bias_{};
  mutable Tensor state_{};  ///< The last one of a row, an attribute of the module until it runs again.
};

class RgLruBlock final : public Module {
 public:
  RgLruBlock(const Attributes& a, Builder& b)
      : kernel_(a.integer("kernel")),
        activation_(find_activation(a.text("activation", "gelu_pytorch_tanh"), b)),
        module_(b.module_id(a.module())) {
    if (b.facts.length > longest_scan) a.unmodelled("rows so long in a loop over their tokens");
    if (b.facts.length == 1) a.unmodelled("a row of one token");
    if (b.facts.fills_cache) a.unmodelled("a cache of its states");
    b.remembers = true;
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    const std::int64_t inner = a.integer("inner");
    linear_y_ = Linear(b, m + "linear_y", width, inner, true);
    linear_x_ = Linear(b, m + "linear_x", width, inner, true);
    linear_out_ = Linear(b, m + "linear_out", inner, width, true);
    conv_weight_ = b.convolution(m + "conv_1d", {inner, 1, kernel_});
    conv_bias_ = b.weight(m + "conv_1d.bias", {inner}, Part::bias);
    a.quotient("inner", "heads");
    lru_ = RgLru(b, m + "rg_lru", inner, a.integer("heads"));
  }

  void forward(Play& play, Stream& s) const override {
    Restore module(play.torch.recorder.scope.module, std::int32_t{module_});
    s.hidden = block(play, s.hidden);
  }

 private:
  Tensor block(Play& play, const Tensor& input) const {
    Torch& t = play.torch;
    Tensor y = linear_y_(play, input);
    y = activation_(t, y);
    Tensor x = linear_x_(play, input);
    x = t.transpose(x, 1, 2);
    lru_.forget();
    x = t.slice(conv1d(t, x, conv_weight_, conv_bias_, kernel_ - 1), 2, 0, x->sizes[2]);
    x = lru_(t, t.transpose(x, 1, 2));
    const Tensor gated = t.mul(x, y);
    return linear_out_(play, gated);
  }

  std::int64_t kernel_;
  Activation activation_;
  std::int32_t module_;
  Linear linear_y_{}, linear_x_{}, linear_out_{};
  Tensor conv_weight_{}, conv_bias_{};
  RgLru lru_{};
};

}  // namespace

extern const OpType rg_lru_block;
const OpType rg_lru_block{"rg_lru_block", make_module<RgLruBlock>};

}  // namespace oomplan::estimator::ops
