#include "modules/attention_core.hpp"

namespace oomplan::estimator {
namespace {

Tensor repeat_kv(Torch& t, const Tensor& x, std::int64_t times) {
  if (times == 1) return x;
  const Dims& s = x->sizes;
  const Tensor wide = t.expand(t.unsqueeze(x, 2), {s[0], s[1], times, s[2], s[3]});
  return t.reshape(wide, {s[0], s[1] * times, s[2], s[3]});
}

Tensor eager(Torch& t, Stream& s, const Tensor& q, const Tensor& k, const Tensor& v, double dropout, Softmax softmax) {
  const std::int64_t groups = q->sizes[1] / k->sizes[1];
  const Tensor key = repeat_kv(t, k, groups);
  const Tensor value = repeat_kv(t, v, groups);
  Tensor weights;
  {
    InBucket scores(t, Bucket::attention_scores);
    weights = t.mul_scalar(t.matmul(q, t.transpose(key, 2, 3)));
    if (s.mask) weights = t.add(weights, s.mask);
    if (softmax == Softmax::in_fp32) {
      weights = t.to(t.softmax_last(weights, DType::fp32), q->dtype);
    } else {
      weights = t.softmax_last(weights);
    }
    if (softmax == Softmax::cast_to_values) weights = t.to(weights, value->dtype);
    weights = t.dropout(weights, dropout);
  }
  Tensor out = t.matmul(weights, value);
  out = t.contiguous(t.transpose(out, 1, 2));
  s.attn_weights = std::move(weights);
  return out;
}

}  // namespace

Tensor attend(Play& play, Stream& s, const Tensor& q, const Tensor& k, const Tensor& v, double dropout, bool causal,
              Softmax softmax) {
  Torch& t = play.torch;
  if (play.facts.attention == Attention::eager) return eager(t, s, q, k, v, dropout, softmax);
  const std::int64_t groups = q->sizes[1] / k->sizes[1];
  const bool gqa = groups > 1 && !s.mask && k->sizes[3] == v->sizes[3] && k->sizes[3] <= 256;
  const Tensor key = gqa ? k : repeat_kv(t, k, groups);
  const Tensor value = gqa ? v : repeat_kv(t, v, groups);
  const bool is_causal = causal && !s.mask && q->sizes[2] > 1;
  const Tensor out = t.attention(q, key, value, s.mask, dropout, is_causal, gqa);
  return t.contiguous(t.transpose(out, 1, 2));
}

}  // namespace oomplan::estimator
