// apply_rotary_pos_emb, as each family writes it.
#pragma once

#include <utility>

#include "play.hpp"

namespace oomplan::estimator {

enum class Rotary {
  halves,          ///< Llama: (q * cos) + (rotate_half(q) * sin).
  back_again,      ///< OLMo 2: so, with cos and sin in fp32, and the result in q's dtype.
  pairs,           ///< Cohere: in fp32, every other element of q turned.
  repeated_pairs,  ///< Helium: every other element turned by the first half of cos and sin, each of it twice.
  raised_pairs,    ///< ERNIE 4.5: every other element turned, each factor raised to fp32.
  raised_halves,   ///< ModernBERT: as Llama, each factor raised to fp32.
  sliced,          ///< GPT-NeoX: a part of the head's width, the rest put behind it.
  sliced_each,     ///< Phi-3: so, q done before k is begun.
  sliced_pairs,    ///< GLM-4: a part, every other element of it turned.
  sliced_given,    ///< GLM-4V: so, by cos and sin that come in pairs.
  interleaved,     ///< DeepSeek-V3: the even and the odd elements turned, one half behind the other.
  split,           ///< gpt-oss: the halves turned by cos and sin as wide as one of them.
  complex,         ///< DeepSeek-V2, Llama 4: pairs as complex numbers, in fp32; cos is both.
  none,
};

/// The style of that name.
Rotary rotary_style(const Attributes& attributes, std::string_view name);

/// q times a number for each position (get_llama_4_attn_scale): of Ministral 3 and Mistral 4.
Tensor scaled_by_position(Torch& t, const Tensor& q);

/// (x * cos) + (rotate_every_two(x) * sin), as GPT-J and CodeGen turn a part of a head.
Tensor turned_by_pairs(Torch& t, const Tensor& x, const Tensor& cos, const Tensor& sin);

/// Turns q and k, which are batch × heads × length × width, in place of what they are.
void rotate(Torch& t, Rotary style, Tensor& q, Tensor& k, const Tensor& cos, const Tensor& sin);

/// The angle of each position, a half of a head wide, in fp32.
Tensor rotary_angles(Torch& t, const Dims& sizes);

/// What x is multiplied by.
struct Turns {
  Tensor cos{};
  Tensor sin{};
};

/// Of those angles twice, or of them as they are (`halved`).
Turns turns_of(Torch& t, const Tensor& angles, bool halved, DType dtype);

}  // namespace oomplan::estimator
