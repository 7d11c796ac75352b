// T5LayerFF: norm, T5DenseActDense or T5DenseGatedActDense, dropout and the sum.
#include "modules/activation.hpp"
#include "modules/linear.hpp"
#include "modules/rms_norm.hpp"

namespace oomplan::estimator::ops {
namespace {

/// Where it is among _keep_in_fp32_modules, nothing quantises it.
Linear out(const Attributes& a, Builder& b, const std::string& name, std::int64_t inner, std::int64_t width) {
  const bool kept = a.flag("keeps_out", false);
  if (!kept && b.facts.quantized && !b.facts.int8) a.unmodelled("a 4-bit layer of whose dtype its input is made (wo)");
  return Linear(b, name, inner, width, false, kept ? LinearKind::unquantized : LinearKind::linear);
}

class T5Mlp final : public Module {
 public:
  T5Mlp(const Attributes& a, Builder& b) : dropout_(a.number("dropout", 0.0)), module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".DenseReluDense.";
    const std::int64_t width = a.integer("width");
    const std::int64_t inner = a.integer("inner");
    // "relu", "gated-gelu": T5Config.__post_init__, for which the latter is GELU's approximation.
    const std::string kind = a.text("kind", "relu");
    const bool gated = kind.starts_with("gated-");
    activation_ = find_activation(kind == "gated-gelu" ? "gelu_new" : gated ? kind.substr(6) : kind, b);
    first_ = Linear(b, m + (gated ? "wi_0" : "wi"), width, inner, false);
    if (gated) second_ = Linear(b, m + "wi_1", width, inner, false);
    out_ = out(a, b, m + "wo", inner, width);
    norm_ = RmsNorm(b, a.module() + ".layer_norm", width, RmsStyle::t5);
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    Tensor forwarded = norm_(play, s.hidden);
    forwarded = dense(play, forwarded);
    s.hidden = t.add(s.hidden, t.dropout(forwarded, dropout_));
  }

 private:
  Tensor dense(Play& play, const Tensor& x) const {
    Torch& t = play.torch;
    Tensor gate;
    Tensor linear;
    Tensor hidden;
    if (second_.in_width() == 0) {
      hidden = first_(play, x);
      hidden = activation_(t, hidden);
    } else {
      gate = activation_(t, first_(play, x));
      linear = second_(play, x);
      hidden = t.mul(gate, linear);
    }
    hidden = t.dropout(hidden, dropout_);
    if (const Tensor& weight = out_.weight(play.facts)) hidden = t.to(hidden, weight->dtype);  // Not of an int8 one.
    return out_(play, hidden);
  }

  double dropout_;
  std::int32_t module_;
  Activation activation_ = nullptr;
  Linear first_{}, second_{}, out_{};
  RmsNorm norm_{};
};

}  // namespace

extern const OpType t5_mlp;
const OpType t5_mlp{"t5_mlp", make_module<T5Mlp>};

}  // namespace oomplan::estimator::ops
