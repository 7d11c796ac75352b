// What LongT5 makes of rows that are cut into blocks, of which each sees itself and its neighbours.
#pragma once

#include <array>
#include <string_view>

#include "play.hpp"

namespace oomplan::estimator {

enum class LongAttention { local, transient_global };
inline constexpr std::array<std::string_view, 2> long_attentions{"local", "transient-global"};
inline LongAttention long_attention(const Attributes& a) {
  return static_cast<LongAttention>(a.choice("attention", long_attentions));
}

/// _split_into_blocks, padded where the row is no multiple.
Tensor split_into_blocks(Torch& t, Tensor x, std::int64_t block, int dim);

/// _concatenate_3_blocks of blocks in dimension 1, side by side in dimension 2.
Tensor with_neighbours(Torch& t, const Tensor& x);

/// _get_local_attention_mask: batch × 1 × blocks × block × 3 · block.
Tensor local_mask(Torch& t, const Tensor& mask, std::int64_t block);

/// torch.where(mask > 0, 0.0, -1e10)
Tensor additive(Torch& t, const Tensor& mask);

}  // namespace oomplan::estimator
