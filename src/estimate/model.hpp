// A model built from its Architecture, ready to be played.
#pragma once

#include <memory>
#include <vector>

#include "play.hpp"

namespace oomplan::estimator {

/// The modules and weights of a model. Of many equal blocks only some are built; `layers` says which real layers the
/// built ones stand for.
struct Model {
  std::vector<std::unique_ptr<Module>> stem{};
  std::vector<std::vector<std::unique_ptr<Module>>> blocks{};
  std::vector<std::unique_ptr<Module>> tail{};
  Parameters parameters{};
  std::vector<std::string> modules{};
  std::vector<std::string> unmatched_targets{};  ///< Of LoRA, that no module is.
  std::int64_t total = 0;
  std::int64_t trained = 0;

  /// model(**batch): leaves logits and loss in the stream. What the base model's forward holds is let go at its end.
  void forward(Play& play, Stream& stream) const;
};

/// Builds `built` blocks (at most architecture.layers); the middle one stands for all that are not built.
Result<Model> build(Torch& torch, const Facts& facts, const Architecture& architecture, Policy& policy, int built);

}  // namespace oomplan::estimator
