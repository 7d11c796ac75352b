// The phases of a run: one table, which peaks, reports, schemas and logs go by.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace oomplan {

/// In the order in which they first come. A recipe (src/estimate/recipes) goes through some of them. `between` is what
/// lies outside the others: batches arriving, gradients dropped. `generation` is a rollout's: the model writes the
/// completions that it is trained on. `reference` is the forward pass of another model than the one that is trained.
/// `evaluation` is the forward pass and the loss of a batch of it, after the step; `checkpoint_save` is what is left
/// when a checkpoint is written, after the last one.
enum class Phase : std::uint8_t {
  load,
  generation,
  forward,
  loss,
  reference,
  backward,
  optimizer_step,
  between,
  evaluation,
  checkpoint_save
};
inline constexpr std::array<std::string_view, 10> phase_names{
    "load",     "generation",     "forward", "loss",       "reference",
    "backward", "optimizer_step", "between", "evaluation", "checkpoint_save"};
inline constexpr std::size_t phase_count = phase_names.size();
constexpr std::string_view name_of(Phase phase) { return phase_names[static_cast<std::size_t>(phase)]; }

/// A phase of a step: from 1, or 0 before the first.
struct PhaseOfStep {
  Phase phase = Phase::load;
  int step = 0;

  /// As the value of an event carries it, and back.
  constexpr std::int64_t code() const { return codes_a_step * step + static_cast<int>(phase); }
  static constexpr PhaseOfStep of(std::int64_t code) {
    return {static_cast<Phase>(code % codes_a_step), static_cast<int>(code / codes_a_step)};
  }
  friend constexpr bool operator==(const PhaseOfStep&, const PhaseOfStep&) = default;

 private:
  static constexpr std::int64_t codes_a_step = 256;  // As many as a Phase can tell apart.
};

}  // namespace oomplan
