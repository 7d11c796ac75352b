// The selective scan of Mamba as transformers writes it in Python (mamba_selective_scan), token by token.
#pragma once

#include "play.hpp"

namespace oomplan::estimator {

/// Of batch × channels × length: hidden, dt and the gate z; A is channels × state in fp32; B and C are batch × length ×
/// state; D and the bias of dt are one for each channel, in fp32.
struct ScanInputs {
  Tensor hidden{};
  Tensor dt{};
  Tensor a{};
  Tensor b{};
  Tensor c{};
  Tensor d{};
  Tensor z{};
  Tensor dt_bias{};
};

/// Batch × channels × length, in fp32.
Tensor selective_scan(Torch& t, const ScanInputs& in);

/// The same of time steps that are softplus of dt and its bias already.
Tensor scan_tokens(Torch& t, const ScanInputs& in);

/// weight @ x of a weight of out × in and x of batch × in × length, as torch.matmul folds it.
Tensor project_channels(Torch& t, const Tensor& weight, const Tensor& x);

/// The longest row that is played: the loop makes a dozen nodes for each token.
inline constexpr std::int64_t longest_scan = 4096;

}  // namespace oomplan::estimator
