// ScatterMoE as Axolotl brings it (axolotl 0.18.0, integrations/kernels/libs/scattermoe_lora): one Triton kernel
// multiplies the rows of all experts, and LoRA's matrices are given to it beside the weights.
#pragma once

#include "modules/adapted_parameter.hpp"
#include "modules/router.hpp"
#include "play.hpp"

namespace oomplan::estimator {

/// flatten_sort_count: which expert each row goes to, in their order; as long as the experts run.
struct ScatteredRows {
  Tensor experts{};
  Tensor order{};
  Tensor offsets{};
  std::int64_t active = 0;  ///< Experts that get a row.
  std::int64_t each = 0;    ///< Experts of a token.
};
ScatteredRows scattered_rows(Torch& t, const Routed& routed, std::int64_t experts);

/// A parameter of the experts as the kernel takes it.
class ScatteredWeight {
 public:
  /// LoRA's matrices in the activations' dtype, B in the order of the experts.
  ScatteredWeight(Play& play, const AdaptedParameter& parameter, DType dtype);

  /// Those of the experts that get a row, dequantized where they are in 4 bits (bnb_fast).
  void choose(Play& play, const ScatteredRows& rows);
  void choose_adapter(Torch& t, const ScatteredRows& rows);

  /// Each row by the matrix of its expert. `gates`: the results of a token's experts are summed by these weights;
  /// without them the rows are those of tokens, and the result is in the order of the experts.
  Tensor operator()(Play& play, const Tensor& x, const ScatteredRows& rows, const Tensor& gates) const;

 private:
  const AdaptedParameter& parameter_;
  Tensor weight_{};  ///< Experts × in × out, a view.
  Tensor a_{};
  Tensor b_{};
  Tensor whole_a_{};  ///< Which the module keeps while it runs.
  Tensor whole_b_{};
};

}  // namespace oomplan::estimator
