// Gemma4TextAttention, and Gemma 3n's: norms of the heads of q, k and v, each head turned before it is brought to the
// front. Of layers that share keys and values the last one with weights of its own leaves them to all after it of its
// kind.
#include <algorithm>

#include "modules/attention_core.hpp"
#include "modules/gemma4_rotary.hpp"
#include "modules/linear.hpp"
#include "modules/norm_rope.hpp"
#include "modules/rms_norm.hpp"
#include "oomplan/catalog/older_code.hpp"

namespace oomplan::estimator::ops {
namespace {

enum class Sharing { none, store, reuse };
constexpr std::array<std::string_view, 3> sharings{"none", "store", "reuse"};

class Gemma4Attention final : public Module {
 public:
  Gemma4Attention(const Attributes& a, Builder& b)
      : head_dim_(a.integer("head_dim")),
        kind_{.dropout = a.number("dropout", 0.0), .span = a.span("span")},
        sharing_(static_cast<Sharing>(a.choice("sharing", sharings))),
        module_(b.module_id(a.module())) {
    // transformers 5.14 keeps them where no layer is left to reuse them, too.
    if (sharing_ == Sharing::store && a.find("shared_layers") != nullptr && a.count("shared_layers") == 0 &&
        a.find(older_code) == nullptr)
      sharing_ = Sharing::none;
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    const std::int64_t q = saturating_mul(a.integer("heads"), head_dim_);
    const bool bias = a.flag("bias", false);
    q_proj_ = Linear(b, m + "q_proj", width, q, bias);
    q_norm_ = RmsNorm(b, m + "q_norm", head_dim_, RmsStyle::raised);
    if (sharing_ != Sharing::reuse) {
      const std::int64_t kv = q / a.quotient("heads", "kv_heads");
      k_norm_ = RmsNorm(b, m + "k_norm", head_dim_, RmsStyle::raised);
      v_norm_ = RmsNorm::unscaled(b, m + "v_norm");
      k_proj_ = Linear(b, m + "k_proj", width, kv, bias);
      keys_are_values_ = a.flag("keys_are_values", false);
      values_last_ = a.flag("values_last", false);
      if (!keys_are_values_) v_proj_ = Linear(b, m + "v_proj", width, kv, bias);
    }
    o_proj_ = Linear(b, m + "o_proj", q, width, bias);
    if (sharing_ == Sharing::reuse && !is_stored(b, kind_.span))
      a.unmodelled("a layer that reuses keys of a kind that no layer before it makes, which transformers refuses,");
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const Tensor& x = s.hidden;
    const std::size_t span = static_cast<std::size_t>(kind_.span);
    const Tensor& cos = s.arguments.cos[span];
    const Tensor& sin = s.arguments.sin[span];
    const Tensor q = turned(play, q_norm_, heads(play, q_proj_, x), cos, sin);
    auto [k, v] = sharing_ == Sharing::reuse ? s.arguments.shared->of[span] : keys_and_values(play, s, cos, sin);
    if (sharing_ == Sharing::store) s.arguments.shared->of[span] = {k, v};
    s.arguments.cache.reset();  // Of this call of the block: they are in it.
    const Tensor out = attend(play, s, q, k, v, kind_);
    s.hidden = o_proj_(play, t.reshape(out, {x->sizes[0], x->sizes[1], -1}));
  }

 private:
  /// Whether some layer of the model leaves its keys and values to those of this span.
  static bool is_stored(const Builder& b, Span span) {
    const auto stores = [&](const OpSpec& op) {
      const auto text = [&](const char* name) {
        const Attribute* given = op.find(name);
        const auto* word = given == nullptr ? nullptr : std::get_if<std::string>(given);
        return word == nullptr ? std::string_view() : std::string_view(*word);
      };
      const std::string_view of = text("span").empty() ? span_names[0] : text("span");
      return text("sharing") == "store" && of == span_names[static_cast<std::size_t>(span)];
    };
    return any_op(b.architecture, stores);
  }

  Tensor heads(Play& play, const Linear& projection, const Tensor& x) const {
    return play.torch.view(projection(play, x), {x->sizes[0], x->sizes[1], -1, head_dim_});
  }

  /// Axolotl's forward of it has one kernel for both (monkeypatch/models/gemma4/fused_attn.py).
  static Tensor turned(Play& play, const RmsNorm& norm, Tensor x, const Tensor& cos, const Tensor& sin) {
    Torch& t = play.torch;
    if (play.facts.fused_norm_rope) return t.transpose(fused_norm_rope(t, x, norm.weight(), cos, sin), 1, 2);
    x = norm(play, x);
    x = turned_before_heads(t, x, cos, sin);
    return t.transpose(x, 1, 2);
  }

  std::array<Tensor, 2> keys_and_values(Play& play, Stream& s, const Tensor& cos, const Tensor& sin) const {
    Torch& t = play.torch;
    Tensor k = heads(play, k_proj_, s.hidden);
    Tensor v = keys_are_values_ ? k : values_last_ ? Tensor() : heads(play, v_proj_, s.hidden);
    k = turned(play, k_norm_, std::move(k), cos, sin);
    if (values_last_) v = heads(play, v_proj_, s.hidden);
    v = play.facts.fused_norm_rope ? fused_norm(t, v) : v_norm_(play, v);
    v = t.transpose(v, 1, 2);
    KeyValues* const cache = s.arguments.cache.get();
    if (cache == nullptr) return {k, v};
    const Tensor keys = cache->add(k);
    return {keys, cache->add(t.to(v, keys->dtype))};
  }

  std::int64_t head_dim_;
  AttentionKind kind_;
  Sharing sharing_;
  bool keys_are_values_ = false;  ///< attention_k_eq_v: one projection makes both.
  bool values_last_ = false;      ///< Gemma 3n's: made when the keys are whole.
  std::int32_t module_;
  Linear q_proj_{}, k_proj_{}, v_proj_{}, o_proj_{};
  RmsNorm q_norm_{}, k_norm_{}, v_norm_{};
};

}  // namespace

extern const OpType gemma4_attention;
const OpType gemma4_attention{"gemma4_attention", make_module<Gemma4Attention>};

}  // namespace oomplan::estimator::ops
