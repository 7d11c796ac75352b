// Of how many texts the rows of a plan are.
#pragma once

#include <cstdint>

#include "oomplan/plan/plan.hpp"

namespace oomplan {

/// As many as multiple choice has to choose from, else one.
inline std::int64_t texts_in_row(const TrainingPlan& plan) {
  return plan.model.head.value == HeadKind::multiple_choice ? plan.model.choices.value : 1;
}

}  // namespace oomplan
