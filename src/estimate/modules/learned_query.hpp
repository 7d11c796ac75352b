// One learned query that sees all patches of a picture, by torch.nn.MultiheadAttention, which makes its weights whether
// or not anybody reads them (torch 2.13: torch/nn/functional.py: multi_head_attention_forward, need_weights).
#pragma once

#include <string>

#include "play.hpp"

namespace oomplan::estimator {

class LearnedQuery {
 public:
  LearnedQuery() = default;
  /// The parameters `probe` and `attention.in_proj_*` below `module`, which ends with a dot.
  LearnedQuery(Builder& b, const std::string& module, std::int64_t width, std::int64_t head_dim);

  DType dtype() const { return probe_->dtype; }

  /// rows × patches × width to rows × 1 × width, by out_proj's weight and bias; an empty bias is none.
  Tensor operator()(Torch& t, const Tensor& x, const Tensor& out_weight, const Tensor& out_bias) const;

 private:
  Tensor heads_of_rows(Torch& t, const Tensor& x, std::int64_t length, std::int64_t rows) const;

  std::int64_t width_ = 0;
  std::int64_t head_dim_ = 1;
  Tensor probe_{}, in_weight_{}, in_bias_{};
};

}  // namespace oomplan::estimator
