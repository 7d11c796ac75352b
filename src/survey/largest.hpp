// The largest value of a whole number that fits a card: bounded by its tensors alone first, then replayed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "oomplan/core/bytes.hpp"
#include "oomplan/estimate/fit_check.hpp"
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

/// Whether it fits the question's card with that value; nothing where that cannot be decided.
std::optional<CheckedFit> fit_with(const RoomQuestion& question, const std::string& key, std::int64_t value);

/// The plan with that value, where nothing but it keeps the config from being read; nothing where it is read as it
/// stands, and where more is missing.
std::optional<TrainingPlan> plan_but_for(const Document& document, IngestOptions options, std::string_view key,
                                         std::int64_t value);

/// Nothing where there is no bound, and where a value between cannot be decided.
std::optional<Largest> largest_on(const RoomQuestion& question, const Scale& scale);

}  // namespace oomplan::survey
