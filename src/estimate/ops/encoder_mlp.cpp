// BertIntermediate and BertOutput: linear, activation, linear, dropout, post-norm; of ESM with the norm first.
#include "modules/activation.hpp"
#include "modules/layer_norm.hpp"
#include "modules/linear.hpp"

namespace oomplan::estimator::ops {
namespace {

class EncoderMlp final : public Module {
 public:
  EncoderMlp(const Attributes& a, Builder& b)
      : activation_(find_activation(a.text("activation", "gelu"), b)),
        dropout_(a.number("dropout", 0.0)),
        norm_first_(a.flag("norm_first", false)) {
    intermediate_ = Linear(b, "intermediate.dense", a.integer("width"), a.integer("inner"), true);
    output_ = Linear(b, "output.dense", a.integer("inner"), a.integer("width"), true);
    norm_ = LayerNorm(b, a.text("norm", "output.LayerNorm"), a.integer("width"));
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const Tensor normed = norm_first_ ? norm_(play, s.hidden) : s.hidden;
    const Tensor inner = intermediate(play, normed);
    Tensor hidden = output_(play, inner);
    hidden = t.dropout(hidden, dropout_);
    const Tensor sum = t.add(hidden, s.hidden);
    s.hidden = norm_first_ ? sum : norm_(play, sum);
  }

 private:
  Tensor intermediate(Play& play, const Tensor& x) const {
    Tensor hidden = intermediate_(play, x);
    hidden = activation_(play.torch, hidden);
    return hidden;
  }

  Activation activation_;
  double dropout_;
  bool norm_first_;
  Linear intermediate_{}, output_{};
  LayerNorm norm_{};
};

}  // namespace

extern const OpType encoder_mlp;
const OpType encoder_mlp{"encoder_mlp", make_module<EncoderMlp>};

}  // namespace oomplan::estimator::ops
