// The attention functions that transformers' modules share (integrations/sdpa_attention.py, eager_attention_forward).
#pragma once

#include "play.hpp"

namespace oomplan::estimator {

/// How a model's own eager_attention_forward takes the softmax.
enum class Softmax {
  in_fp32,         ///< softmax(..., dtype=float32).to(query.dtype), as the Llama family.
  cast_to_values,  ///< softmax(...).type(value.dtype), as GPT-2.
  as_is,           ///< softmax(...), as BERT.
};

struct AttentionKind {
  double dropout = 0.0;  ///< By a function, or of the module that says it.
  bool causal = true;
  Softmax softmax = Softmax::in_fp32;
  Span span = Span::full;        ///< Whose mask it is given.
  bool softcapped = false;       ///< Eager attention's logits go through a tanh.
  bool pictures = false;         ///< Of patches, of which none is padding.
  bool upcast = false;           ///< Eager attention multiplies in fp32 (GPT2Attention._upcast_and_reordered_attn).
  bool cross = false;            ///< Of a decoder's tokens with its encoder's.
  const Tensor* bias = nullptr;  ///< Added to the products, before the mask (T5's position_bias).
};

/// Of a projection's output, batch × length × (heads · head_dim): batch × heads × length × head_dim.
Tensor heads_of(Torch& t, const Tensor& x, std::int64_t head_dim);

/// Keys or values, each head so many times.
Tensor repeat_kv(Torch& t, const Tensor& x, std::int64_t times);

/// q: batch × heads × length × width, k and v with their own heads. Returns batch × length × heads × width; the weights
/// that eager attention returns too stay with the block (`hidden_states, _ = self_attn(...)`).
Tensor attend(Play& play, Stream& s, const Tensor& q, const Tensor& k, const Tensor& v, const AttentionKind& kind);

}  // namespace oomplan::estimator
