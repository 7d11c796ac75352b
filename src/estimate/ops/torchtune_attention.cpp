// torchtune's MultiHeadAttention (torchtune/modules/attention.py) over rows without a mask: heads are turned one
// projection after the other, keys and values are repeated before the kernel.
#include "modules/attention_core.hpp"
#include "modules/linear.hpp"
#include "modules/rms_norm.hpp"
#include "modules/rope_cache.hpp"

namespace oomplan::estimator::ops {
namespace {

/// How positions turn heads, batch × length × heads × width: the classes of torchtune.
enum class Turn {
  pairs,          ///< RotaryPositionalEmbeddings, Llama3ScaledRoPE: neighbours, in fp32.
  halves,         ///< Qwen2RotaryPositionalEmbeddings: halves, in the model's dtype.
  raised_halves,  ///< Phi3RotaryPositionalEmbeddings: halves, by cosines in fp32.
};
constexpr std::array<std::string_view, 3> turns{"pairs", "halves", "raised_halves"};

enum class Scores {
  kernel,   ///< By torch's scaled_dot_product_attention.
  capped,   ///< Gemma2Attention: made and capped in Python, beside a mask of each layer's own.
  sliding,  ///< The same with a window.
};
constexpr std::array<std::string_view, 3> scores_names{"kernel", "capped", "sliding"};

/// The mask that a Gemma2Attention makes for itself; the names that are bound when it has it stay so.
struct OwnMask {
  Tensor mask{};
  Tensor ones{};
  Tensor window{};
};

OwnMask own_mask(Torch& t, std::int64_t length, bool sliding) {
  const Dims square{length, length};
  OwnMask out;
  {
    Tensor ones = t.empty(square, DType::boolean, "aten::_to_copy");
    const Tensor causal = t.empty(square, DType::boolean, "aten::tril");
    ones.reset();
    const Tensor hidden = t.empty(square, DType::boolean, "aten::logical_not");
    out.mask = t.empty(square, DType::fp32, "aten::where");
  }
  if (!sliding) return out;
  out.ones = t.empty(square, DType::fp32, "aten::ones_like");
  {
    const Tensor upper = t.empty(square, DType::fp32, "aten::triu");
    const Tensor lower = t.empty(square, DType::fp32, "aten::tril");
    out.window = t.mul(upper, lower);
  }
  const Tensor within = t.empty(square, DType::boolean, "aten::eq");
  out.mask = t.empty(square, DType::fp32, "aten::where");
  return out;
}

/// Batch × length × heads × width, each head as often as queries share it.
Tensor shared(Torch& t, const Tensor& x, std::int64_t times) {
  const Dims& s = x->sizes;
  const Tensor single = t.view(x, {s[0], s[1], s[2], 1, s[3]});
  const Tensor wide = times == 1 ? single : t.expand(single, {s[0], s[1], s[2], times, s[3]});
  return t.reshape(wide, {s[0], s[1], -1, s[3]});
}

/// The first `length` rows of the cache, beside heads: 1 × length × 1 × width.
Tensor rows_of(Torch& t, const Tensor& cache, std::int64_t length) {
  return t.view(t.slice(cache, 0, 0, length), {1, length, 1, cache->sizes[1]});
}

Tensor turn_pairs(Torch& t, const Tensor& x, const Tensor& cache) {
  const Tensor raised = t.to(x, DType::fp32);
  const std::int64_t half = x->sizes[3] / 2;
  const Tensor pairs = t.view(raised, {x->sizes[0], x->sizes[1], x->sizes[2], half, 2});
  const Tensor both = t.view(rows_of(t, cache, x->sizes[1]), {1, x->sizes[1], 1, half, 2});
  const auto product = [&](const Tensor& by) { return t.mul(t.select(pairs, 4), by); };
  const auto difference = [&] {
    const Tensor first = product(t.select(both, 4));
    return t.sub(first, product(t.select(both, 4)));
  };
  const auto sum = [&] {
    const Tensor first = product(t.select(both, 4));
    return t.add(first, product(t.select(both, 4)));
  };
  Tensor out;
  {
    const Tensor real = difference();
    const Tensor imaginary = sum();
    out = t.stack_last(real, imaginary);
  }
  out = t.view(out, x->sizes);
  return t.to(out, x->dtype);
}

Tensor turn_halves(Torch& t, const Tensor& x, const Tensor& cache, bool raised) {
  const std::int64_t width = x->sizes[3];
  const Tensor rows = rows_of(t, cache, x->sizes[1]);
  const DType dtype = raised ? DType::fp32 : x->dtype;
  const Tensor cos = t.to(t.slice(rows, 3, 0, width), dtype);
  const Tensor sin = t.to(t.slice(rows, 3, width, width), dtype);
  const Tensor first = t.slice(x, 3, 0, width / 2);
  const Tensor second = t.slice(x, 3, width / 2, width / 2);
  const Tensor rotated = t.cat({t.neg(second), first}, 3);
  Tensor out;
  {
    const Tensor straight = t.mul(x, cos);
    out = t.add(straight, t.mul(rotated, sin));
  }
  return t.to(out, x->dtype);
}

class TorchtuneAttention final : public Module {
 public:
  TorchtuneAttention(const Attributes& a, Builder& b)
      : head_dim_(a.integer("head_dim")),
        dropout_(a.number("dropout", 0.0)),
        turn_(static_cast<Turn>(a.choice("turn", turns))),
        scores_(static_cast<Scores>(a.choice("scores", scores_names))),
        module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    const std::int64_t q = a.integer("heads") * head_dim_;
    const std::int64_t kv = q / a.quotient("heads", "kv_heads");
    const bool bias = a.flag("qkv_bias", false);
    q_ = Linear(b, m + "q_proj", width, q, bias);
    k_ = Linear(b, m + "k_proj", width, kv, bias);
    v_ = Linear(b, m + "v_proj", width, kv, bias);
    output_ = Linear(b, m + "output_proj", q, width, false);
    if (a.flag("qk_norm", false)) {
      q_norm_ = RmsNorm(b, m + "q_norm", head_dim_, RmsStyle::functional);
      k_norm_ = RmsNorm(b, m + "k_norm", head_dim_, RmsStyle::functional);
    }
    if (!b.facts.adapts() || !a.flag("own_rope_adapted", false)) return;
    own_rope_ = RopeCache(b, a.integer("positions"), head_dim_, turn_ != Turn::pairs);
  }

  void forward(Play& play, Stream& s) const override { s.hidden = attention(play, s, s.hidden); }

 private:
  Tensor split(Torch& t, const Tensor& x) const { return t.view(x, {x->sizes[0], x->sizes[1], -1, head_dim_}); }

  /// Qwen3Attention: of heads brought to the front, and back.
  static Tensor normed(Play& play, const RmsNorm& norm, Tensor x) {
    if (!norm) return x;
    x = play.torch.transpose(x, 1, 2);
    x = norm(play, x);
    return play.torch.transpose(x, 1, 2);
  }

  Tensor turned(Torch& t, const Tensor& x, const Tensor& cache) const {
    if (turn_ == Turn::pairs) return turn_pairs(t, x, cache);
    return turn_halves(t, x, cache, turn_ == Turn::raised_halves);
  }

  /// Gemma2Attention.forward.
  Tensor capped(Play& play, const Tensor& x, const Tensor& cache) const {
    Torch& t = play.torch;
    Tensor q = turned(t, split(t, q_(play, x)), cache);
    q = t.transpose(q, 1, 2);
    Tensor k = k_(play, x);
    Tensor v = v_(play, x);
    k = turned(t, split(t, k), cache);
    const std::int64_t groups = q->sizes[1] / k->sizes[2];
    v = shared(t, split(t, v), groups);
    k = shared(t, k, groups);
    k = t.transpose(k, 1, 2);
    v = t.transpose(v, 1, 2);
    q = t.div_scalar_(q);  // q.mul_
    OwnMask own;
    Tensor out;
    {
      InBucket bucket(t, Bucket::attention_scores);
      out = t.matmul(q, t.transpose(k, 2, 3));
      own = own_mask(t, x->sizes[1], scores_ == Scores::sliding);
      out = t.div_scalar(out);
      out = t.tanh(out);
      out = t.mul_scalar(out);
      out = t.add(out, own.mask);
      out = t.to(t.softmax_last(out), q->dtype);
    }
    out = t.matmul(out, v);
    out = t.view(t.contiguous(t.transpose(out, 1, 2)), {x->sizes[0], x->sizes[1], -1});
    return output_(play, out);
  }

  Tensor attention(Play& play, Stream& s, const Tensor& x) const {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const Tensor& cache = own_rope_.cache ? own_rope_.cache : s.arguments.cos[0];
    if (scores_ != Scores::kernel) return capped(play, x, cache);
    Tensor q = split(t, q_(play, x));
    q = normed(play, q_norm_, std::move(q));
    q = turned(t, q, cache);
    q = t.transpose(q, 1, 2);
    Tensor k = k_(play, x);
    Tensor v = v_(play, x);
    k = split(t, k);
    v = split(t, v);
    k = normed(play, k_norm_, std::move(k));
    k = turned(t, k, cache);
    k = t.transpose(k, 1, 2);
    v = t.transpose(v, 1, 2);
    const std::int64_t groups = q->sizes[1] / k->sizes[1];
    k = repeat_kv(t, k, groups);
    v = repeat_kv(t, v, groups);
    Tensor out = t.attention(q, k, v, {}, dropout_, q->sizes[2] > 1, false);
    out = t.view(t.contiguous(t.transpose(out, 1, 2)), {x->sizes[0], x->sizes[1], -1});
    return output_(play, out);
  }

  std::int64_t head_dim_;
  double dropout_;
  Turn turn_;
  Scores scores_;
  std::int32_t module_;
  Linear q_{}, k_{}, v_{}, output_{};
  RmsNorm q_norm_{}, k_norm_{};
  RopeCache own_rope_{};
};

}  // namespace

extern const OpType torchtune_attention;
const OpType torchtune_attention{"torchtune_attention", make_module<TorchtuneAttention>};

}  // namespace oomplan::estimator::ops
