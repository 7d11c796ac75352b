// The experts of a mixture as transformers 4 had them: an MLP of linear layers each, one after the other in a loop, so
// that 4-bit loading and LoRA reach them.
#pragma once

#include <string>
#include <vector>

#include "modules/activation.hpp"
#include "modules/linear.hpp"
#include "modules/router.hpp"
#include "play.hpp"

namespace oomplan::estimator {

class ExpertLayers {
 public:
  ExpertLayers() = default;
  ExpertLayers(const Attributes& attributes, Builder& builder, const std::string& name);

  /// Hidden is tokens × width.
  Tensor operator()(Play& play, const Tensor& hidden, const Routed& routed) const;

  /// How a family's loop goes over them (`older_experts`).
  enum class Loop {
    indexed,  ///< Mixtral, Qwen: those that are hit, by a tensor of one number, which copies their part of the mask.
    each,     ///< OLMoE, PhiMoE: all of them, by a view of the mask.
    raised,   ///< DeepSeek-V3: so, summed in the weights' dtype and cast once.
  };

 private:
  struct Expert {
    Linear gate{}, up{}, down{};
  };

  /// The rows that one of them gets.
  Tensor where(Torch& t, std::int64_t share, std::int64_t each, std::int64_t tokens) const;
  Tensor mlp(Play& play, const Expert& expert, const Tensor& rows) const;

  Loop loop_ = Loop::indexed;
  Activation activation_ = nullptr;
  std::vector<Expert> experts_;
  std::int32_t module_ = -1;
};

}  // namespace oomplan::estimator
