// The variables of a model's or block's forward function that an op of an architecture file may name.
#pragma once

#include <array>
#include <string_view>

#include "play.hpp"

namespace oomplan::estimator {

inline constexpr std::array<std::string_view, 5> variable_names{"hidden", "residual", "normed", "attention", "inputs"};

inline Tensor& variable(Stream& s, std::size_t which) {
  switch (which) {
    case 1:
      return s.residual;
    case 2:
      return s.normed;
    case 3:
      return s.attn_output;
    case 4:
      return s.inputs_embeds;
    default:
      return s.hidden;
  }
}

}  // namespace oomplan::estimator
