// RMS norms of what another tensor gates, as transformers writes them in Python.
#pragma once

#include <string>

#include "play.hpp"

namespace oomplan::estimator {

/// MambaRMSNormGated and FalconH1RMSNormGated: normed by groups of the last dimension.
class GroupedGatedNorm {
 public:
  GroupedGatedNorm() = default;
  GroupedGatedNorm(Builder& builder, const std::string& name, std::int64_t width, std::int64_t group);

  /// Mamba-2: gated in fp32, normed, and the weight times that in x's dtype.
  Tensor operator()(Play& play, const Tensor& x, const Tensor& gate) const;
  /// Falcon H1: gated in fp32, normed with the groups' weights.
  Tensor gated_first(Play& play, const Tensor& x, const Tensor& gate) const;
  /// Falcon H1 where mamba_norm_before_gate says so: the other way round.
  Tensor normed_first(Play& play, const Tensor& x, const Tensor& gate) const;

 private:
  Tensor normed(Torch& t, const Tensor& x) const;
  Tensor weighted(Torch& t, const Tensor& x) const;

  std::int64_t group_ = 1;
  Tensor weight_{};
  std::int32_t module_ = -1;
};

/// Qwen3NextRMSNormGated: normed first, in x's dtype, then gated in fp32; KimiLinearRMSNormGated all in fp32, by a
/// sigmoid (`strict`).
class NormThenGate {
 public:
  NormThenGate() = default;
  NormThenGate(Builder& builder, const std::string& name, std::int64_t width, bool strict = false);
  Tensor operator()(Play& play, const Tensor& x, const Tensor& gate) const;
  const Tensor& weight() const { return weight_; }
  std::int32_t module_id() const { return module_; }

 private:
  Tensor weight_{};
  bool strict_ = false;
  std::int32_t module_ = -1;
};

}  // namespace oomplan::estimator
