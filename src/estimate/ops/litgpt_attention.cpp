// litgpt's CausalSelfAttention (litgpt/model.py), without a key-value cache: one projection for queries, keys and
// values, whose first elements are turned, and keys and values repeated before the kernel.
#include "modules/lora_qkv.hpp"

namespace oomplan::estimator::ops {
namespace {

/// apply_rope, of batch × heads × length × width.
Tensor turned(Torch& t, const Tensor& x, const Tensor& cos, const Tensor& sin) {
  const std::int64_t half = x->sizes[3] / 2;
  const Tensor first = t.slice(x, 3, 0, half);
  const Tensor second = t.slice(x, 3, half, x->sizes[3] - half);
  const Tensor rotated = t.cat({t.neg(second), first}, 3);
  Tensor roped;
  {
    const Tensor straight = t.mul(x, cos);
    roped = t.add(straight, t.mul(rotated, sin));
  }
  return t.to(roped, x->dtype);
}

/// torch.repeat_interleave by heads, which copies a single one too.
Tensor repeated(Torch& t, const Tensor& x, std::int64_t times) {
  if (times == 1) return x;
  const Dims& s = x->sizes;
  const Tensor wide = t.expand(t.unsqueeze(x, 2), {s[0], s[1], times, s[2], s[3]});
  return t.view(t.contiguous(wide), {s[0], s[1] * times, s[2], s[3]});
}

/// The first `length` rows, beside heads.
Tensor rows_of(Torch& t, const Tensor& table, std::int64_t length) {
  return t.view(t.slice(table, 0, 0, length), {1, 1, length, table->sizes[1]});
}

/// torch.ones(…).triu(diagonal=1), whose ones become the least number in place.
Tensor upper_triangle(Torch& t, const Tensor& q) {
  const Dims square{q->sizes[2], q->sizes[2]};
  Tensor mask = t.empty(square, q->dtype, "aten::ones");
  mask = t.empty(square, q->dtype, "aten::triu");
  t.empty(square, DType::boolean, "aten::_to_copy");
  return mask;
}

class LitgptAttention final : public Module {
 public:
  LitgptAttention(const Attributes& a, Builder& b)
      : head_dim_(a.integer("head_dim")),
        heads_(a.integer("heads")),
        kv_heads_(heads_ / a.quotient("heads", "kv_heads")),
        rotary_(a.integer("rotary")),
        window_(a.flag("window", false)),
        capped_(a.flag("capped", false)),
        module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    qkv_ = LoraQkv(b, m, width, heads_ * head_dim_, kv_heads_ * head_dim_, a.flag("qkv_bias", false));
    proj_ = Linear(b, m + "proj", heads_ * head_dim_, width, a.flag("bias", false));
  }

  void forward(Play& play, Stream& s) const override {
    Restore module(play.torch.recorder.scope.module, std::int32_t{module_});
    s.hidden = attention(play, s, s.hidden);
  }

 private:
  Tensor heads_of(Torch& t, const Tensor& x, std::int64_t heads) const {
    return t.transpose(t.view(x, {x->sizes[0], x->sizes[1], heads, head_dim_}), 1, 2);
  }

  Tensor roped(Torch& t, const Tensor& x, const Stream& s) const {
    const std::int64_t length = x->sizes[2];
    const Tensor cos = rows_of(t, s.arguments.cos[0], length);
    const Tensor sin = rows_of(t, s.arguments.sin[0], length);
    return turned(t, rotary_ == head_dim_ ? x : t.slice(x, 3, 0, rotary_), cos, sin);
  }

  /// torch.cat((roped, x[..., rope_n_elem:]), dim=-1)
  Tensor joined(Torch& t, const Tensor& roped, const Tensor& x) const {
    return t.cat({roped, t.slice(x, 3, rotary_, head_dim_ - rotary_)}, 3);
  }

  Tensor attention(Play& play, const Stream& s, const Tensor& x) const {
    Torch& t = play.torch;
    const Tensor qkv = qkv_(play, x);
    const std::vector<Tensor> parts =
        t.split_sizes(qkv, {heads_ * head_dim_, kv_heads_ * head_dim_, kv_heads_ * head_dim_}, 2);
    Tensor q = heads_of(t, parts[0], heads_);
    Tensor k = heads_of(t, parts[1], kv_heads_);
    Tensor v = heads_of(t, parts[2], kv_heads_);
    const Tensor q_roped = roped(t, q, s);
    const Tensor k_roped = roped(t, k, s);
    q = joined(t, q_roped, q);
    k = joined(t, k_roped, k);
    k = repeated(t, k, heads_ / kv_heads_);
    v = repeated(t, v, heads_ / kv_heads_);
    Tensor mask = window_ ? windowed(t, q) : Tensor();
    Tensor y = capped_ ? by_hand(t, q, k, v, mask) : t.attention(q, k, v, mask, 0.0, !mask, false);
    y = t.reshape(t.transpose(y, 1, 2), {x->sizes[0], x->sizes[1], -1});
    return proj_(play, y);
  }

  /// A mask of the whole triangle comes first, and lives until the window's takes its name.
  static Tensor windowed(Torch& t, const Tensor& q) {
    InBucket bucket(t, Bucket::attention_scores);
    const Tensor whole = upper_triangle(t, q);
    const Dims& s = q->sizes;
    return t.view(t.empty({s[2], s[2]}, q->dtype, "aten::full"), {1, 1, s[2], s[2]});
  }

  /// With attention_logit_softcapping.
  static Tensor by_hand(Torch& t, const Tensor& q, const Tensor& k, const Tensor& v, Tensor mask) {
    InBucket bucket(t, Bucket::attention_scores);
    Tensor scores = t.mul_scalar(t.matmul(q, t.transpose(k, 2, 3)));
    Tensor capped = t.div_scalar(scores);
    capped = t.tanh(capped);
    scores = t.mul_scalar(capped);
    capped.reset();
    if (!mask) mask = upper_triangle(t, q);
    scores = t.add(scores, mask);
    scores = t.to(t.softmax_last(scores, DType::fp32), q->dtype);
    return t.matmul(scores, v);
  }

  std::int64_t head_dim_;
  std::int64_t heads_;
  std::int64_t kv_heads_;
  std::int64_t rotary_;  ///< Elements of a head that are turned.
  bool window_;
  bool capped_;
  std::int32_t module_;
  LoraQkv qkv_{};
  Linear proj_{};
};

}  // namespace

extern const OpType litgpt_attention;
const OpType litgpt_attention{"litgpt_attention", make_module<LitgptAttention>};

}  // namespace oomplan::estimator::ops
