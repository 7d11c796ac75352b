// diffusers/models/attention_processor.py: Attention under AttnProcessor2_0.
#pragma once

#include <string>

#include "modules/linear.hpp"
#include "play.hpp"

namespace oomplan::estimator {

class DiffusersAttention {
 public:
  struct Shape {
    std::int64_t width = 1;  ///< Of queries, and of what comes out.
    std::int64_t of = 1;     ///< Of what keys and values are made of.
    std::int64_t heads = 1;
    bool bias = false;
  };
  DiffusersAttention() = default;
  DiffusersAttention(Builder& b, const std::string& name, const Shape& shape);
  /// `context`: what keys and values are made of; empty: x.
  Tensor operator()(Play& play, const Tensor& x, const Tensor& context) const;

 private:
  std::int64_t head_dim_ = 1;
  std::int32_t module_ = -1;
  Linear to_q_{}, to_k_{}, to_v_{}, to_out_{};
};

}  // namespace oomplan::estimator
