// Plays a whole run: load, and optimizer steps until they are alike, or one of each length.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "recipe.hpp"
#include "torch/unsloth.hpp"

namespace oomplan::estimator {

/// A played run: what was allocated, when, and what is still alive at its end.
struct Run {
  Torch torch{};
  std::vector<Cast> models{};
  std::unique_ptr<Optimizer> optimizer{};
  std::unique_ptr<UnslothBuffers> unsloth{};

  const Recorder& recorder() const { return torch.recorder; }
  /// What is trained.
  const Model& policy() const { return models.front().model; }
  /// Of all models, by their numbers in the recorder.
  const std::vector<std::string>& modules() const { return models.back().model.modules; }
};

/// A run that is over leaves its memory, emptied, to the next one of its thread.
struct LeaveRun {
  void operator()(Run* run) const;
};
using RunPtr = std::unique_ptr<Run, LeaveRun>;

/// Plays `plan` on a rank that holds `shard`, with the model's layers as `repetition` builds them. `parts`: of a
/// pipeline the stages of the rank `shard` (pipeline/parts.hpp), else the model alone. `folds_loops`: of a long loop in
/// a layer's code a few turns are played (torch/loops.hpp).
Result<RunPtr> play_run(const TrainingPlan& plan, const Facts& facts, std::span<const Architecture> parts,
                        const Repetition& repetition, std::int64_t shard = 0, bool folds_loops = false);
inline Result<RunPtr> play_run(const TrainingPlan& plan, const Facts& facts, const Architecture& model,
                               const Repetition& repetition, std::int64_t shard = 0, bool folds_loops = false) {
  return play_run(plan, facts, std::span(&model, 1), repetition, shard, folds_loops);
}

}  // namespace oomplan::estimator
