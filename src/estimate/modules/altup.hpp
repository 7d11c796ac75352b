// Gemma 3n's AltUp: several copies of the residual stream, of which a layer reads one and corrects all.
#pragma once

#include "modules/linear.hpp"
#include "modules/rms_norm.hpp"

namespace oomplan::estimator {

/// Gemma3nTextAltUp.compute_router_modalities
class AltUpRouter {
 public:
  AltUpRouter() = default;
  AltUpRouter(Builder& builder, const std::string& module, std::int64_t width, std::int64_t inputs);
  Tensor operator()(Play& play, const Tensor& x) const;

 private:
  Linear modality_router_{};
  RmsNorm router_norm_{};
  Tensor input_scale_{};
};

/// Copies by projections of their own, each as large as the first: what the loops of Gemma3nTextModel.forward do.
class AltUpProjections {
 public:
  AltUpProjections() = default;
  AltUpProjections(Builder& builder, const std::string& module, std::int64_t width, std::int64_t inputs);
  std::size_t count() const { return projections_.size(); }
  /// How large all copies are to be.
  static void measure(Play& play, Streams& streams, const Tensor& first);
  /// Copy number `i` of x, put beside those that there are.
  void add(Play& play, Streams& streams, std::size_t i, const Tensor& x) const;

 private:
  std::vector<Linear> projections_{};
};

}  // namespace oomplan::estimator
