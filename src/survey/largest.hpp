// The largest value of a whole number that fits a card: bounded by its tensors alone first, then replayed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "oomplan/core/bytes.hpp"
#include "oomplan/survey/survey.hpp"

namespace oomplan::survey {

/// A number of the config's, or of the plan, of which more never needs less.
struct Scale {
  std::string key{};       ///< As an override has it.
  std::int64_t first = 1;  ///< Tried first.
  std::int64_t least = 1;
  std::int64_t most = 0;
  bool coarse = false;  ///< To within 1 %.
};

struct Largest {
  std::int64_t value = 0;  ///< 0: not even the least.
  Bytes needed{};
};

/// The question's plan with that value.
std::optional<TrainingPlan> plan_with(const RoomQuestion& question, const std::string& key, std::int64_t value);

/// Nothing where there is no bound, and where a value between cannot be decided.
std::optional<Largest> largest_on(const RoomQuestion& question, const Scale& scale);

}  // namespace oomplan::survey
