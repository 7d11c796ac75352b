// LoRA on an nn.Embedding (peft/tuners/lora/layer.py: Embedding): a column of A for each token, turned by B.
#pragma once

#include <string>

#include "play.hpp"

namespace oomplan::estimator {

class EmbeddingAdapter {
 public:
  EmbeddingAdapter() = default;
  /// Empty where the plan's targets do not name the embedding.
  EmbeddingAdapter(Builder& builder, const std::string& name, const Dims& sizes);

  /// The embedding's output with what the adapter adds to it.
  Tensor operator()(const Play& play, const Tensor& indices, Tensor result) const;

 private:
  Tensor a_{};
  Tensor b_{};
};

}  // namespace oomplan::estimator
