// BertAttention: self-attention over every position, then its output projection, dropout and post-norm; under other
// names DistilBERT's, and ESM's, whose norm comes first and whose queries and keys are turned.
#include "modules/attention_core.hpp"
#include "modules/layer_norm.hpp"
#include "modules/linear.hpp"
#include "modules/rotary.hpp"

namespace oomplan::estimator::ops {
namespace {

class EncoderAttention final : public Module {
 public:
  EncoderAttention(const Attributes& a, Builder& b)
      : head_dim_(a.quotient("width", "heads")),
        dropout_(a.number("dropout", 0.0)),
        hidden_dropout_(a.number("hidden_dropout", 0.0)),
        norm_first_(a.flag("norm_first", false)),
        turns_(a.flag("turns", false)),
        module_(b.module_id(a.module())) {
    if (turns_ && head_dim_ % 2 != 0) a.unmodelled("heads of an odd width");
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    query_ = Linear(b, m + a.text("query", "self.query"), width, width, true);
    key_ = Linear(b, m + a.text("key", "self.key"), width, width, true);
    value_ = Linear(b, m + a.text("value", "self.value"), width, width, true);
    dense_ = Linear(b, m + a.text("dense", "output.dense"), width, width, true);
    norm_ = LayerNorm(b, a.text("norm", m + "output.LayerNorm"), width);
  }

  void forward(Play& play, Stream& s) const override {
    Restore module(play.torch.recorder.scope.module, std::int32_t{module_});
    const Tensor normed = norm_first_ ? norm_(play, s.hidden) : s.hidden;
    s.hidden = output(play, self_attention(play, s, normed), s.hidden);
  }

 private:
  Tensor heads(Play& play, const Linear& projection, const Tensor& x) const {
    Torch& t = play.torch;
    return heads_of(t, projection(play, x), head_dim_);
  }

  Tensor self_attention(Play& play, Stream& s, const Tensor& x) const {
    Torch& t = play.torch;
    Tensor q = heads(play, query_, x);
    Tensor k = heads(play, key_, x);
    const Tensor v = heads(play, value_, x);
    if (turns_) {
      q = t.mul_scalar(q);
      rotate(t, Rotary::raised_halves, q, k, s.arguments.cos[0], s.arguments.sin[0]);
    }
    const Tensor out =
        attend(play, s, q, k, v, {.dropout = t.drops ? dropout_ : 0.0, .causal = false, .softmax = Softmax::as_is});
    return t.reshape(out, {x->sizes[0], x->sizes[1], -1});
  }

  Tensor output(Play& play, const Tensor& attended, const Tensor& input) const {
    Torch& t = play.torch;
    Tensor hidden = dense_(play, attended);
    hidden = t.dropout(hidden, hidden_dropout_);
    const Tensor sum = t.add(hidden, input);
    return norm_first_ ? sum : norm_(play, sum);
  }

  std::int64_t head_dim_;
  double dropout_;
  double hidden_dropout_;
  bool norm_first_;
  bool turns_;
  std::int32_t module_;
  Linear query_{}, key_{}, value_{}, dense_{};
  LayerNorm norm_{};
};

}  // namespace

extern const OpType encoder_attention;
const OpType encoder_attention{"encoder_attention", make_module<EncoderAttention>};

}  // namespace oomplan::estimator::ops
