// The experts of a mixture as transformers 5 keeps them: two 3-D parameters, no linear layers, so that 4-bit loading
// does not reach them (integrations/moe.py).
#pragma once

#include <string>

#include "modules/activation.hpp"
#include "modules/adapted_parameter.hpp"
#include "modules/router.hpp"
#include "play.hpp"

namespace oomplan::estimator {

/// How many tokens each expert gets that gets some. Where tokens may crowd, the last but two has them all: backward,
/// which begins with the last, then holds what was saved for nearly all tokens, and the gradients that two experts have
/// made.
std::vector<std::int64_t> tokens_of_experts(Routing routing, std::int64_t experts, std::int64_t tokens,
                                            std::int64_t each);

/// top_k_weights[token_idx, top_k_pos, None]
Tensor weights_at(Torch& t, const Tensor& weights, const Tensor& token);

/// Rows in the order of their experts, as grouped_mm_experts_forward lays them out; all of it lives as long as that.
struct RowsByExpert {
  Tensor weights{};
  Tensor experts{};
  Tensor order{};
  Tensor hidden{};
  Tensor own_weights{};
  Tensor counted{};
  Tensor per_expert{};
  Tensor offsets{};
};
RowsByExpert rows_by_expert(Torch& t, const Tensor& hidden, const Routed& routed, std::int64_t experts);

/// What the experts made of those rows, weighted, back in the order of the tokens and summed for each.
Tensor summed_by_token(Torch& t, const Tensor& out, const RowsByExpert& rows, const Tensor& hidden);

/// The same of rows that are in the order of the tokens.
Tensor summed_by_token(Torch& t, const Tensor& out, const Tensor& weights, const Tensor& hidden);

class Experts {
 public:
  Experts() = default;
  Experts(const Attributes& attributes, Builder& builder, const std::string& name);

  /// Hidden is tokens × width.
  Tensor operator()(Play& play, const Tensor& hidden, const Routed& routed) const;

 private:
  using Weight = AdaptedParameter::Active;
  /// grouped_mm_experts_forward, transformers' default. Its sizes do not depend on the routing.
  Tensor grouped(Play& play, const Tensor& hidden, const Routed& routed, Weight& gate_up, Weight& down) const;
  /// batched_mm_experts_forward: each token with weights of its own.
  Tensor batched(Play& play, const Tensor& hidden, const Routed& routed, Weight& gate_up, Weight& down) const;
  /// scattermoe_experts_forward, a kernel that Axolotl brings.
  Tensor scattered(Play& play, const Tensor& hidden, const Routed& routed) const;
  /// The family's own loop over the experts.
  Tensor eager(Play& play, const Tensor& hidden, const Routed& routed, Weight& gate_up, Weight& down) const;
  /// The same of experts without a gate (NemotronHExperts).
  Tensor plain(Play& play, const Tensor& hidden, const Routed& routed, Weight& up, Weight& down) const;
  Tensor gated(Torch& t, const Tensor& both) const;

  std::int64_t count_ = 0;
  std::int64_t inner_ = 0;
  bool gated_ = true;  ///< Else the first matrix is `up_proj`, and what it makes is activated as it is.
  Activation activation_ = nullptr;
  AdaptedParameter gate_up_{};
  AdaptedParameter down_{};
  std::int32_t module_ = -1;
};

}  // namespace oomplan::estimator
