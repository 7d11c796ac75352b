// What state-space and linear-attention layers of transformers share, as it is written in Python where no package of
// kernels is installed: the short convolution along the sequence, and the mask of padded positions.
#pragma once

#include <string>

#include "modules/activation.hpp"
#include "play.hpp"

namespace oomplan::estimator {

/// A torch.nn.Conv1d with a filter a channel, run as causal_conv1d_fn does.
class CausalConv {
 public:
  CausalConv() = default;
  /// `name` is the submodule's ("conv1d"). The op's attributes say what cannot be played. `packages`: the op plays the
  /// kernels of flash-linear-attention.
  CausalConv(const Attributes& attributes, Builder& builder, const std::string& name, std::int64_t channels,
             std::int64_t kernel, bool bias, Activation activation = nullptr, bool packages = false);

  /// x: batch × channels × length. Under older code the module itself is called.
  Tensor operator()(Play& play, const Tensor& x) const;

 private:
  std::int64_t kernel_ = 0;
  bool older_ = false;
  Activation activation_ = nullptr;
  Tensor weight_{};
  Tensor bias_{};
  std::int32_t module_ = -1;
};

/// apply_mask_to_padding_states: x, zero where a token is padding; x itself where no row is padded. Older code leaves a
/// single row alone.
Tensor without_padding(Torch& t, const Tensor& x, const Tensor& mask, bool older = false);

}  // namespace oomplan::estimator
