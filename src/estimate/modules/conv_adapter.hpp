// peft's LoRA around a convolution (peft 0.21.2: tuners/lora/layer.py, _ConvNd): a convolution of the same shape to as
// many channels as the rank, and one of single places to the channels that come out.
#pragma once

#include <functional>
#include <string>

#include "play.hpp"

namespace oomplan::estimator {

class ConvAdapter {
 public:
  ConvAdapter() = default;
  /// `kernel`: of the weight behind its channels, or all the numbers of one in one piece. `groups`: of the convolution
  /// that is adapted; the first of the adapter's two has none.
  ConvAdapter(Builder& b, const std::string& name, std::int64_t in, std::int64_t out, const Dims& kernel,
              std::int64_t groups = 1);
  /// A convolution of x by a weight, as the adapted one is, or of single places.
  using Convolve = std::function<Tensor(const Tensor& x, const Tensor& weight, bool single)>;
  /// The result, and what the adapter adds to it.
  Tensor operator()(Play& play, const Tensor& x, Tensor result, const Convolve& convolve) const;

 private:
  Tensor a_{};
  Tensor b_{};
};

}  // namespace oomplan::estimator
