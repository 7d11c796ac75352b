// KimiLinearDeltaAttention without packages of kernels: a short convolution of queries, keys and values side by side, a
// forget gate of low rank, Kimi's delta rule in chunks, and a norm of its result under a gate of low rank.
#include "modules/causal_conv.hpp"
#include "modules/gated_norm.hpp"
#include "modules/kimi_delta.hpp"
#include "modules/linear.hpp"
#include "torch/scans.hpp"

namespace oomplan::estimator::ops {
namespace {

class KimiDeltaAttention final : public Module {
 public:
  KimiDeltaAttention(const Attributes& a, Builder& b)
      : heads_(a.integer("heads")), head_dim_(a.integer("head_dim")), module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    all_ = saturating_mul(heads_, head_dim_);
    q_proj_ = Linear(b, m + "q_proj", width, all_, false);
    k_proj_ = Linear(b, m + "k_proj", width, all_, false);
    v_proj_ = Linear(b, m + "v_proj", width, all_, false);
    conv_ = CausalConv(a, b, m + "conv1d", saturating_mul(3, all_), a.integer("kernel"), false,
                       find_activation(a.text("activation", "silu"), b));
    dt_bias_ = b.weight(m + "forget_gate.dt_bias", {all_}, Part::bias);
    a_log_ = b.weight(m + "forget_gate.A_log", {1, 1, heads_, 1}, Part::bias);
    f_a_ = Linear(b, m + "forget_gate.f_a_proj", width, head_dim_, false);
    f_b_ = Linear(b, m + "forget_gate.f_b_proj", head_dim_, all_, false);
    b_proj_ = Linear(b, m + "b_proj", width, heads_, false);
    g_a_ = Linear(b, m + "g_a_proj", width, head_dim_, false);
    g_b_ = Linear(b, m + "g_b_proj", head_dim_, all_, false);
    norm_ = NormThenGate(b, m + "o_norm", head_dim_, true);
    o_proj_ = Linear(b, m + "o_proj", all_, width, false);
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const Tensor hidden = without_padding(t, s.hidden, s.arguments.recurrent_mask);
    const Dims heads{hidden->sizes[0], hidden->sizes[1], -1, head_dim_};
    const Tensor mixed = conv_(play, projected(play, hidden));
    const std::vector<Tensor> parts = t.split_sizes(t.transpose(mixed, 1, 2), {all_, all_, all_}, 2);
    DeltaInputs in{t.view(parts[0], heads), t.view(parts[1], heads), t.view(parts[2], heads), {}, {}};
    in.decay = decay(play, hidden, heads);
    in.beta = t.sigmoid(b_proj_(play, hidden));
    const Tensor out = chunk_kimi_delta(t, in);
    const Tensor gate = t.view(gate_of(play, hidden), heads);
    s.hidden = o_proj_(play, t.reshape(norm_(play, out, gate), {heads[0], heads[1], -1}));
  }

 private:
  Tensor projected(Play& play, const Tensor& x) const {
    const Tensor q = q_proj_(play, x);
    const Tensor k = k_proj_(play, x);
    const Tensor v = v_proj_(play, x);
    return play.torch.transpose(play.torch.cat({q, k, v}, 2), 1, 2);
  }

  Tensor gate_of(Play& play, const Tensor& x) const {
    const Tensor low = g_a_(play, x);
    return g_b_(play, low);
  }

  /// KimiLinearForgetGate
  Tensor decay(Play& play, const Tensor& x, const Dims& heads) const {
    Torch& t = play.torch;
    Tensor forget = f_a_(play, x);
    forget = f_b_(play, forget);
    Tensor g = t.to(forget, DType::fp32);
    g = t.add(g, t.view(t.to(dt_bias_, DType::fp32), {1, 1, -1}));
    g = t.view(g, heads);
    const Tensor rate = t.exp(t.to(a_log_, DType::fp32));
    const Tensor soft = softplus(t, g);
    return t.mul(t.neg(rate), soft);
  }

  /// torch.where(g > 20.0, g, torch.log(1.0 + torch.exp(g)))
  Tensor softplus(Torch& t, const Tensor& g) const {
    const Tensor high = t.pointwise({&g}, DType::boolean, "aten::gt");
    Tensor low = t.exp(g);
    low = t.add_scalar(low);
    low = log(t, low);
    return t.where(high, g, low);
  }

  std::int64_t heads_;
  std::int64_t head_dim_;
  std::int64_t all_ = 0;
  std::int32_t module_;
  CausalConv conv_{};
  Linear q_proj_{}, k_proj_{}, v_proj_{}, f_a_{}, f_b_{}, b_proj_{}, g_a_{}, g_b_{}, o_proj_{};
  Tensor dt_bias_{}, a_log_{};
  NormThenGate norm_{};
};

}  // namespace

extern const OpType kimi_delta_attention;
const OpType kimi_delta_attention{"kimi_delta_attention", make_module<KimiDeltaAttention>};

}  // namespace oomplan::estimator::ops
