// OlmoHybridGatedDeltaNet without packages of kernels: Qwen3-Next's, with a projection of its own for each of queries,
// keys, values, decay, beta and gate; the gate is made after the rule.
#include "modules/causal_conv.hpp"
#include "modules/delta_rule.hpp"
#include "modules/gated_norm.hpp"
#include "modules/linear.hpp"

namespace oomplan::estimator::ops {
namespace {

class OlmoDeltaNet final : public Module {
 public:
  OlmoDeltaNet(const Attributes& a, Builder& b)
      : heads_(a.integer("value_heads")),
        key_width_(a.integer("key_width")),
        value_width_(a.integer("value_width")),
        keys_(saturating_mul(a.integer("key_heads"), key_width_)),
        values_(saturating_mul(heads_, value_width_)),
        doubled_(a.flag("beta_doubled", false)),
        module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    q_proj_ = Linear(b, m + "q_proj", width, keys_, false);
    k_proj_ = Linear(b, m + "k_proj", width, keys_, false);
    v_proj_ = Linear(b, m + "v_proj", width, values_, false);
    a_proj_ = Linear(b, m + "a_proj", width, heads_, false);
    b_proj_ = Linear(b, m + "b_proj", width, heads_, false);
    g_proj_ = Linear(b, m + "g_proj", width, values_, false);
    o_proj_ = Linear(b, m + "o_proj", values_, width, false);
    conv_ = CausalConv(a, b, m + "conv1d", 2 * keys_ + values_, a.integer("kernel"), false,
                       find_activation(a.text("activation", "silu"), b));
    a_log_ = b.weight(m + "A_log", {heads_}, Part::bias);
    dt_bias_ = b.weight(m + "dt_bias", {heads_}, Part::bias);
    norm_ = NormThenGate(b, m + "o_norm", value_width_);
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const Tensor hidden = without_padding(t, s.hidden, s.arguments.recurrent_mask);
    const std::int64_t length = hidden->sizes[1];
    Tensor mixed = conv_(play, projected(play, hidden));
    mixed = t.slice(mixed, 2, 0, length);  // The last so many, which are all: a slice nonetheless.
    const std::vector<Tensor> parts = t.split_sizes(t.transpose(mixed, 1, 2), {keys_, keys_, values_}, 2);
    const Dims keys{hidden->sizes[0], length, -1, key_width_};
    DeltaInputs in{t.view(parts[0], keys), t.view(parts[1], keys), {}, {}, {}};
    in.value = t.view(parts[2], {hidden->sizes[0], length, -1, value_width_});
    in.beta = t.sigmoid(b_proj_(play, hidden));
    if (doubled_) in.beta = t.mul_scalar(in.beta);
    in.decay = decay(t, a_proj_(play, hidden));
    Tensor out = chunk_delta_rule(t, in, nullptr);
    Tensor gate = g_proj_(play, hidden);
    out = t.reshape(out, {-1, value_width_});
    gate = t.reshape(gate, {-1, value_width_});
    out = norm_(play, out, gate);
    out = t.reshape(out, {hidden->sizes[0], length, -1});
    s.hidden = o_proj_(play, out);
  }

 private:
  Tensor projected(Play& play, const Tensor& x) const {
    const Tensor q = q_proj_(play, x);
    const Tensor k = k_proj_(play, x);
    const Tensor v = v_proj_(play, x);
    return play.torch.transpose(play.torch.cat({q, k, v}, 2), 1, 2);
  }

  /// -self.A_log.float().exp() * F.softplus(a.float() + self.dt_bias)
  Tensor decay(Torch& t, const Tensor& a) const {
    const Tensor rate = t.neg(t.exp(t.to(a_log_, DType::fp32)));
    const Tensor step = t.softplus(t.add(t.to(a, DType::fp32), dt_bias_));
    return t.mul(rate, step);
  }

  std::int64_t heads_;
  std::int64_t key_width_;
  std::int64_t value_width_;
  std::int64_t keys_;
  std::int64_t values_;
  bool doubled_;
  std::int32_t module_;
  Linear q_proj_{}, k_proj_{}, v_proj_{}, a_proj_{}, b_proj_{}, g_proj_{}, o_proj_{};
  CausalConv conv_{};
  Tensor a_log_{}, dt_bias_{};
  NormThenGate norm_{};
};

}  // namespace

extern const OpType olmo_delta_net;
const OpType olmo_delta_net{"olmo_delta_net", make_module<OlmoDeltaNet>};

}  // namespace oomplan::estimator::ops
