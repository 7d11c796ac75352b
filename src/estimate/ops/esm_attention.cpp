// EsmAttention: a norm, attention over every position of queries that are scaled before they are turned, and its
// output's projection, to which the input is added.
#include "modules/attention_core.hpp"
#include "modules/layer_norm.hpp"
#include "modules/linear.hpp"
#include "modules/rotary.hpp"

namespace oomplan::estimator::ops {
namespace {

class EsmAttention final : public Module {
 public:
  EsmAttention(const Attributes& a, Builder& b)
      : head_dim_(a.quotient("width", "heads")),
        dropout_(a.number("dropout", 0.0)),
        hidden_dropout_(a.number("hidden_dropout", 0.0)),
        module_(b.module_id(a.module())) {
    if (head_dim_ % 2 != 0) a.unmodelled("heads of an odd width");
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    query_ = Linear(b, m + "self.query", width, width, true);
    key_ = Linear(b, m + "self.key", width, width, true);
    value_ = Linear(b, m + "self.value", width, width, true);
    dense_ = Linear(b, m + "output.dense", width, width, true);
    norm_ = LayerNorm(b, m + "LayerNorm", width);
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const Tensor normed = norm_(play, s.hidden);
    const Tensor attended = self_attention(play, s, normed);
    Tensor hidden = dense_(play, attended);
    hidden = t.dropout(hidden, hidden_dropout_);
    s.hidden = t.add(hidden, s.hidden);
  }

 private:
  Tensor self_attention(Play& play, Stream& s, const Tensor& x) const {
    Torch& t = play.torch;
    Tensor q = heads_of(t, query_(play, x), head_dim_);
    Tensor k = heads_of(t, key_(play, x), head_dim_);
    const Tensor v = heads_of(t, value_(play, x), head_dim_);
    q = t.mul_scalar(q);
    rotate(t, Rotary::raised_halves, q, k, s.arguments.cos[0], s.arguments.sin[0]);
    const Tensor out =
        attend(play, s, q, k, v, {.dropout = t.drops ? dropout_ : 0.0, .causal = false, .softmax = Softmax::as_is});
    return t.reshape(out, {x->sizes[0], x->sizes[1], -1});
  }

  std::int64_t head_dim_;
  double dropout_;
  double hidden_dropout_;
  std::int32_t module_;
  Linear query_{}, key_{}, value_{}, dense_{};
  LayerNorm norm_{};
};

}  // namespace

extern const OpType esm_attention;
const OpType esm_attention{"esm_attention", make_module<EsmAttention>};

}  // namespace oomplan::estimator::ops
