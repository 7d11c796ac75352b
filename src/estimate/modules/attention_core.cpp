#include "modules/attention_core.hpp"

#include <algorithm>

namespace oomplan::estimator {

Tensor repeat_kv(Torch& t, const Tensor& x, std::int64_t times) {
  if (times == 1) return x;
  const Dims& s = x->sizes;
  const Tensor wide = t.expand(t.unsqueeze(x, 2), {s[0], s[1], times, s[2], s[3]});
  return t.reshape(wide, {s[0], s[1] * times, s[2], s[3]});
}

namespace {

/// Of batch × heads × length × width: (batch · length) × heads × width.
Tensor token_rows(Torch& t, const Tensor& x) { return t.reshape(t.transpose(x, 1, 2), {-1, x->sizes[1], x->sizes[3]}); }

/// _index_first_axis: a copy of the real tokens' rows. Every token counts as real: the longest batch that can come.
Tensor unpadded(Torch& t, const Tensor& x, const Tensor& indices) {
  const Tensor rows = token_rows(t, x);
  NodeRef node = t.record("IndexBackward0", {&rows},
                          [](Torch& torch, Node& n, Grads& g) { g.out[0] = torch.zeros(n.dims, g.in[0]->dtype); });
  if (node) node->dims = rows->sizes;
  t.save(node, 0, indices);
  const Tensor out = t.attach(node, t.empty(rows->sizes, x->dtype, "aten::index"));
  return t.transpose(t.unsqueeze(out, 0), 1, 2);
}

/// bert_padding.pad_input: the rows put back among zeros.
Tensor padded(Torch& t, const Tensor& x, const Tensor& indices, const Dims& sizes) {
  NodeRef node = t.record("IndexPutFirstAxisBackward", {&x}, [](Torch& torch, Node& n, Grads& g) {
    g.out[0] = torch.empty(n.dims, g.in[0]->dtype, "aten::index");
  });
  if (node) node->dims = x->sizes;
  t.save(node, 0, indices);
  return t.attach(node, t.zeros(sizes, x->dtype));
}

/// _flash_attention_forward where a row is padded: flash_attn_varlen_func over one long row.
Tensor unpadded_flash(Torch& t, const Tensor& query_states, const Tensor& key_states, const Tensor& value_states,
                      double dropout, bool causal) {
  const Tensor q = t.lowered(query_states);
  const Tensor k = t.lowered(key_states);
  const Tensor v = t.lowered(value_states);
  const Dims& s = q->sizes;
  const Tensor indices = t.empty({saturating_mul(s[0], k->sizes[2]), 1}, DType::int64, "aten::nonzero");
  const Tensor key = unpadded(t, k, indices);
  const Tensor value = unpadded(t, v, indices);
  // Of a cache's next tokens none is padding (_upad_input).
  const bool next = s[2] == 1 && k->sizes[2] > 1;
  const Tensor query = next ? t.transpose(t.unsqueeze(token_rows(t, q), 0), 1, 2) : unpadded(t, q, indices);
  const Tensor out = t.attention(query, key, value, {}, dropout, causal && !next, s[1] != k->sizes[1]);
  return padded(t, t.transpose(out, 1, 2), indices, {s[0], s[2], s[1], s[3]});
}

void softcap(Torch& t, Tensor& weights) {
  weights = t.div_scalar(weights);
  weights = t.tanh(weights);
  weights = t.mul_scalar(weights);
}

/// Its `q` and `k` live until attention returns.
struct Reordered {
  Tensor q{};
  Tensor k{};
};

Tensor upcast_scores(Torch& t, const Tensor& q, const Tensor& k, Reordered& named) {
  const std::int64_t pairs = saturating_mul(q->sizes[0], q->sizes[1]);
  const Tensor into = t.empty({pairs, q->sizes[2], k->sizes[2]}, DType::fp32, "aten::empty");
  t.enter_autocast(std::nullopt);
  named.q = t.reshape(q, {-1, q->sizes[2], q->sizes[3]});
  named.k = t.reshape(t.transpose(k, 2, 3), {-1, k->sizes[3], k->sizes[2]});
  const Tensor scores = t.baddbmm({}, t.to(named.q, DType::fp32), t.to(named.k, DType::fp32));
  t.exit_autocast();
  return t.view(scores, {q->sizes[0], q->sizes[1], q->sizes[2], k->sizes[2]});
}

/// create_position_bias_mask: the bias where attention is allowed. What it makes is as large as all scores.
Tensor biased_mask(Torch& t, const Tensor& bias, const Tensor& mask, const Tensor& q, const Tensor& k, bool causal) {
  InBucket scores(t, Bucket::attention_scores);
  if (!mask && !causal) return t.contiguous(bias);
  const Tensor lowest = t.empty({}, bias->dtype, "aten::scalar_tensor");
  if (mask) return t.contiguous(t.where(mask, bias, lowest));
  const Tensor allowed = t.empty({1, 1, q->sizes[2], k->sizes[2]}, DType::boolean, "aten::ge");
  return t.contiguous(t.where(allowed, bias, lowest));
}

const Tensor& mask_of(Stream& s, const AttentionKind& kind) {
  return kind.cross ? s.arguments.cross_mask : s.arguments.mask(kind.span);
}

/// accelerate takes the mask away where ranks share rows (big_modeling.py: _attach_context_parallel_hooks).
Tensor sdpa_mask(const Torch& t, Stream& s, const AttentionKind& kind) {
  return t.ring.ranks > 1 ? Tensor() : mask_of(s, kind);
}

Tensor eager(Torch& t, Stream& s, const Tensor& q, const Tensor& k, const Tensor& v, const AttentionKind& kind) {
  const Tensor& mask = mask_of(s, kind);
  const std::int64_t groups = q->sizes[1] / std::max<std::int64_t>(k->sizes[1], 1);
  const Tensor key = repeat_kv(t, k, groups);
  const Tensor value = repeat_kv(t, v, groups);
  Tensor weights;
  Reordered named;
  {
    InBucket scores(t, Bucket::attention_scores);
    weights = kind.upcast ? upcast_scores(t, q, key, named) : t.mul_scalar(t.matmul(q, t.transpose(key, 2, 3)));
    if (kind.softcapped) softcap(t, weights);
    if (kind.bias != nullptr) weights = t.add(weights, *kind.bias);
    if (mask) weights = t.add(weights, mask);
    if (kind.softmax == Softmax::in_fp32) {
      weights = t.to(t.softmax_last(weights, DType::fp32), q->dtype);
    } else {
      weights = t.softmax_last(weights);
    }
    if (kind.softmax == Softmax::cast_to_values) weights = t.to(weights, value->dtype);
    weights = t.functional_dropout(weights, kind.dropout);
  }
  Tensor out = t.matmul(weights, value);
  out = t.contiguous(t.transpose(out, 1, 2));
  s.attn_weights = std::move(weights);
  return out;
}

/// pack_gqa: of a single token's queries, those of the heads that share a key and a value side by side.
Tensor packed(Torch& t, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, double dropout) {
  const Dims& s = q->sizes;
  const std::int64_t groups = s[1] / k->sizes[1];
  const Tensor side_by_side = t.reshape(q, {s[0], k->sizes[1], groups, s[3]});
  const Tensor out = t.attention(side_by_side, k, v, mask, dropout, false, false);
  return t.empty({s[0], 1, s[1], out->sizes[3]}, out->dtype, "aten::clone");
}

constexpr std::int64_t widest_flash_head = 256;  // flash-attn 2; wider ones go to PyTorch's own attention.

/// modeling_flash_attention_utils.py, _prepare_from_posids: contiguous, with the heads inside the rows.
Tensor in_rows(Torch& t, const Tensor& x) { return t.transpose(t.contiguous(t.transpose(t.lowered(x), 1, 2)), 1, 2); }

}  // namespace

Tensor heads_of(Torch& t, const Tensor& x, std::int64_t head_dim) {
  return t.transpose(t.view(x, {x->sizes[0], x->sizes[1], -1, head_dim}), 1, 2);
}

Tensor attend(Play& play, Stream& s, const Tensor& q, const Tensor& keys, const Tensor& values,
              const AttentionKind& kind) {
  Torch& t = play.torch;
  KeyValues* const cache = s.arguments.cache.get();
  const Tensor k = cache != nullptr ? cache->add(keys) : keys;
  const Tensor v = cache == nullptr
                       ? values
                       : cache->add(play.facts.cache_kind == CacheKind::copies ? t.to(values, keys->dtype) : values);
  if (play.facts.attention == Attention::eager) return eager(t, s, q, k, v, kind);
  const Attention kernel = play.facts.attention;
  const bool flash = kernel == Attention::flash_attention_2 ||
                     (kernel == Attention::flash_or_sdpa && q->sizes[3] <= widest_flash_head);
  if (flash && play.facts.padding_mask && !kind.pictures) {
    return unpadded_flash(t, q, k, v, kind.dropout, kind.causal);
  }
  Tensor mask = sdpa_mask(t, s, kind);
  const std::int64_t groups = q->sizes[1] / std::max<std::int64_t>(k->sizes[1], 1);
  const bool repeats = play.facts.sdpa_keys != SdpaKeys::grouped;
  const bool grouped = !repeats && groups > 1 && k->sizes[3] == v->sizes[3] && k->sizes[3] <= 256;
  // In fp32 only PyTorch's own attention takes grouped heads, which are left grouped where there is no mask: it keeps
  // all scores. That is the worse of the two.
  const bool in_fp32 = bytes_of(t.autocast().value_or(q->dtype)) == 4;
  if (grouped && in_fp32 && !kind.cross && s.arguments.may_go(kind.span)) mask.reset();
  const bool gqa = grouped && !mask;
  if (play.facts.past > 0 && groups > 1 && !gqa) return packed(t, q, k, v, mask, kind.dropout);
  Tensor query = q;
  Tensor key = gqa ? k : repeat_kv(t, k, groups);
  Tensor value = gqa ? v : repeat_kv(t, v, groups);
  if (play.facts.sdpa_keys == SdpaKeys::copied || (repeats && mask)) {
    for (Tensor* one : {&query, &key, &value}) *one = t.contiguous(*one);
  }
  bool is_causal = kind.causal && !mask && q->sizes[2] > 1;
  if (kind.bias != nullptr) {
    mask = biased_mask(t, *kind.bias, mask, q, k, is_causal);
    is_causal = false;
  }
  const bool pieces = play.facts.told_of_pieces && is_causal && q->sizes[3] <= widest_flash_head;
  const Tensor out =
      pieces ? t.attention(in_rows(t, q), in_rows(t, key), in_rows(t, value), mask, kind.dropout, is_causal, gqa)
             : t.attention(query, key, value, mask, kind.dropout, is_causal, gqa);
  return t.contiguous(t.transpose(out, 1, 2));
}

}  // namespace oomplan::estimator
