// peft's adapters of a linear layer other than LoRA (peft 0.21.2: tuners/*/layer.py, Linear), a file each.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "play.hpp"

namespace oomplan::estimator {

class LinearAdapter {
 public:
  LinearAdapter() = default;
  LinearAdapter(const LinearAdapter&) = delete;
  LinearAdapter& operator=(const LinearAdapter&) = delete;
  virtual ~LinearAdapter() = default;

  /// What the layer that it is around makes of what it is given.
  using Base = std::function<Tensor(const Tensor&)>;
  virtual Tensor operator()(Play& play, const Tensor& x, const Base& base) const = 0;
};
/// Adds a matrix of the weight's sizes, made anew each time, to what the layer's weight does (peft's LycorisLayer).
class AddedWeight : public LinearAdapter {
 public:
  Tensor operator()(Play& play, const Tensor& x, const Base& base) const final;

 private:
  virtual Tensor weight(Torch& t) const = 0;
  Tensor update(Torch& t, const Tensor& x) const;
};
using LinearAdapterPtr = std::shared_ptr<const LinearAdapter>;

/// A linear layer that gets an adapter, whose weights are of `dtype`.
struct AdaptedLinear {
  const std::string& name;
  std::int64_t in = 0;
  std::int64_t out = 0;
  DType dtype = DType::fp32;
};

/// Of the kind that the plan asks for, which is none of LoRA's.
LinearAdapterPtr make_linear_adapter(Builder& builder, const AdaptedLinear& layer);

/// The matrices that all layers with VeRA share, of the largest sizes that one of them needs: buffers.
struct VeraShared {
  std::int64_t in = 0;
  std::int64_t out = 0;
  Tensor a{};  ///< rank × in
  Tensor b{};  ///< out × rank
};
/// Makes them once all layers are there.
void make_vera_shared(Builder& builder);

namespace adapters {
LinearAdapterPtr ia3(Builder& builder, const AdaptedLinear& layer);
LinearAdapterPtr vera(Builder& builder, const AdaptedLinear& layer);
LinearAdapterPtr oft(Builder& builder, const AdaptedLinear& layer);
LinearAdapterPtr loha(Builder& builder, const AdaptedLinear& layer);
LinearAdapterPtr lokr(Builder& builder, const AdaptedLinear& layer);
}  // namespace adapters

}  // namespace oomplan::estimator
