// Gemma4VisionAttention: every patch of a picture sees all of it; halves of each head are turned by a patch's row and
// by its column.
#include "modules/attention_core.hpp"
#include "modules/clippable_linear.hpp"
#include "modules/gemma4_rotary.hpp"
#include "modules/rms_norm.hpp"

namespace oomplan::estimator::ops {
namespace {

/// apply_multidimensional_rope of two dimensions.
Tensor turned_twice(Torch& t, const Tensor& x, const Tensor& cos, const Tensor& sin) {
  const std::int64_t half = x->sizes[3] / 2;
  const std::vector<Tensor> parts = t.split_sizes(x, {half, half}, 3);
  const std::vector<Tensor> cosines = t.split_sizes(cos, {half, half}, 2);
  const std::vector<Tensor> sines = t.split_sizes(sin, {half, half}, 2);
  const Tensor first = turned_before_heads(t, parts[0], cosines[0], sines[0]);
  const Tensor second = turned_before_heads(t, parts[1], cosines[1], sines[1]);
  return t.cat({first, second}, 3);
}

class Gemma4VisionAttention final : public Module {
 public:
  Gemma4VisionAttention(const Attributes& a, Builder& b)
      : head_dim_(a.integer("head_dim")),
        kind_{.dropout = a.number("dropout", 0.0), .causal = false, .pictures = true},
        module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    const std::int64_t q = saturating_mul(a.integer("heads"), head_dim_);
    const std::int64_t kv = q / a.quotient("heads", "kv_heads");
    q_proj_ = ClippableLinear(a, b, m + "q_proj", width, q);
    k_proj_ = ClippableLinear(a, b, m + "k_proj", width, kv);
    v_proj_ = ClippableLinear(a, b, m + "v_proj", width, kv);
    o_proj_ = ClippableLinear(a, b, m + "o_proj", q, width);
    q_norm_ = RmsNorm(b, m + "q_norm", head_dim_, RmsStyle::raised);
    k_norm_ = RmsNorm(b, m + "k_norm", head_dim_, RmsStyle::raised);
    v_norm_ = RmsNorm::unscaled(b, m + "v_norm");
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const Tensor x = std::exchange(s.hidden, {});
    const Tensor q = turned(play, s, q_proj_, q_norm_, x);
    const Tensor k = turned(play, s, k_proj_, k_norm_, x);
    Tensor v = heads(play, v_proj_, x);
    v = v_norm_(play, v);
    v = t.transpose(v, 1, 2);
    const Tensor out = attend(play, s, q, k, v, kind_);
    s.hidden = o_proj_(play, t.reshape(out, {x->sizes[0], x->sizes[1], -1}));
  }

 private:
  Tensor heads(Play& play, const ClippableLinear& projection, const Tensor& x) const {
    return play.torch.view(projection(play, x), {x->sizes[0], x->sizes[1], -1, head_dim_});
  }

  Tensor turned(Play& play, const Stream& s, const ClippableLinear& projection, const RmsNorm& norm,
                const Tensor& x) const {
    Tensor out = heads(play, projection, x);
    out = norm(play, out);
    out = turned_twice(play.torch, out, s.arguments.cos[0], s.arguments.sin[0]);
    return play.torch.transpose(out, 1, 2);
  }

  std::int64_t head_dim_;
  AttentionKind kind_;
  std::int32_t module_;
  ClippableLinear q_proj_{}, k_proj_{}, v_proj_{}, o_proj_{};
  RmsNorm q_norm_{}, k_norm_{}, v_norm_{};
};

}  // namespace

extern const OpType gemma4_vision_attention;
const OpType gemma4_vision_attention{"gemma4_vision_attention", make_module<Gemma4VisionAttention>};

}  // namespace oomplan::estimator::ops
