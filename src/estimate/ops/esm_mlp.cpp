// EsmLayer.feed_forward_chunk: a norm, EsmIntermediate and EsmOutput, to which the input is added.
#include "modules/activation.hpp"
#include "modules/layer_norm.hpp"
#include "modules/linear.hpp"

namespace oomplan::estimator::ops {
namespace {

class EsmMlp final : public Module {
 public:
  EsmMlp(const Attributes& a, Builder& b)
      : activation_(find_activation("erf_gelu", b)), dropout_(a.number("dropout", 0.0)) {
    intermediate_ = Linear(b, "intermediate.dense", a.integer("width"), a.integer("inner"), true);
    output_ = Linear(b, "output.dense", a.integer("inner"), a.integer("width"), true);
    norm_ = LayerNorm(b, "LayerNorm", a.integer("width"));
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const Tensor normed = norm_(play, s.hidden);
    const Tensor inner = intermediate(play, normed);
    Tensor hidden = output_(play, inner);
    hidden = t.dropout(hidden, dropout_);
    s.hidden = t.add(hidden, s.hidden);
  }

 private:
  Tensor intermediate(Play& play, const Tensor& x) const {
    Tensor hidden = intermediate_(play, x);
    hidden = activation_(play.torch, hidden);
    return hidden;
  }

  Activation activation_;
  double dropout_;
  Linear intermediate_{}, output_{};
  LayerNorm norm_{};
};

}  // namespace

extern const OpType esm_mlp;
const OpType esm_mlp{"esm_mlp", make_module<EsmMlp>};

}  // namespace oomplan::estimator::ops
