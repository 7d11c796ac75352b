// DbrxFFN: a router, and a loop over experts that are cut out of three matrices.
#include "modules/activation.hpp"
#include "modules/experts.hpp"
#include "modules/linear.hpp"

namespace oomplan::estimator::ops {
namespace {

class DbrxMoe final : public Module {
 public:
  DbrxMoe(const Attributes& a, Builder& b)
      : experts_(a.integer("experts")),
        inner_(a.integer("inner")),
        each_(a.integer("per_token")),
        width_(a.integer("width")),
        activation_(find_activation(a.text("activation", "silu"), b)),
        module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    router_ = Linear(b, m + "router.layer", width_, experts_, false);
    const Dims sizes{saturating_mul(experts_, inner_), width_};
    w1_ = AdaptedParameter(b, m + "experts.mlp.w1", sizes, Part::expert);
    v1_ = AdaptedParameter(b, m + "experts.mlp.v1", sizes, Part::expert);
    w2_ = AdaptedParameter(b, m + "experts.mlp.w2", sizes, Part::expert);
    if (a.number("jitter", 0.0) > 0.0) a.unmodelled("noise on the router");
    if (states_are_low(b.facts) && b.facts.autocast)
      a.unmodelled("autocast over hidden states that are not in fp32, at which transformers stops (index_add_),");
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const Dims sizes = s.hidden->sizes;
    const Tensor hidden = t.view(s.hidden, {-1, width_});
    const Tensor logits = router_(play, hidden);
    const auto [values, index] = t.topk_last(t.softmax_last(logits, logits->dtype), each_);
    const Tensor weights = t.div(values, t.sum_dim(values, 1, true));
    s.hidden = t.view(experts(play, hidden, weights), sizes);
  }

 private:
  /// Of the dtype of the embedding, to which the norms' results are brought.
  static bool states_are_low(const Facts& f) {
    const bool raised = (f.quantized && f.kbit_upcast) || (f.trained_to_fp32 && !f.adapts());
    return f.weights != DType::fp32 && !raised;
  }

  Tensor experts(Play& play, const Tensor& hidden, const Tensor& weights) const {
    Torch& t = play.torch;
    const std::int64_t tokens = hidden->sizes[0];
    AdaptedParameter::Active w1(play, w1_), v1(play, v1_), w2(play, w2_);
    const Tensor next_states = t.pointwise({&hidden}, hidden->dtype, "aten::zeros_like");
    const Tensor expert_mask = t.empty({tokens, each_, experts_ + 1}, DType::int64, "aten::zeros");
    Tensor token;
    Tensor states;
    for (const std::int64_t share : tokens_of_experts(play.facts.routing, experts_, tokens, each_)) {
      token = t.empty({share, 2}, DType::int64, "aten::nonzero");
      const Tensor rows = t.alias(token, {share}, {2});
      const Tensor v = of_expert(t, v1());
      const Tensor w = of_expert(t, w1());
      states = expert(t, t.index_rows(hidden, rows), w, v, of_expert(t, w2()));
      states = t.mul(states, weights_at(t, weights, rows));
      t.index_add_(next_states, rows, states);
    }
    return next_states;
  }

  /// weight.view(-1, ffn_hidden_size, hidden_size)[expert_idx]
  Tensor of_expert(Torch& t, const Tensor& weight) const {
    return t.select(t.view(weight, {experts_, inner_, width_}), 0);
  }

  /// DbrxExpertGLU
  Tensor expert(Torch& t, const Tensor& x, const Tensor& w1, const Tensor& v1, const Tensor& w2) const {
    Tensor gate = t.matmul(x, t.t(w1));
    const Tensor up = t.matmul(x, t.t(v1));
    gate = activation_(t, gate);
    const Tensor inner = t.mul(gate, up);
    return t.matmul(inner, w2);
  }

  std::int64_t experts_;
  std::int64_t inner_;
  std::int64_t each_;
  std::int64_t width_;
  Activation activation_;
  std::int32_t module_;
  Linear router_{};
  AdaptedParameter w1_{}, v1_{}, w2_{};
};

}  // namespace

extern const OpType dbrx_moe;
const OpType dbrx_moe{"dbrx_moe", make_module<DbrxMoe>};

}  // namespace oomplan::estimator::ops
