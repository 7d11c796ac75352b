// What a config has become against its former state.
#pragma once

#include "oomplan/plan/plan.hpp"
#include "oomplan/survey/gate.hpp"

namespace oomplan::survey {

/// The settings that make one plan out of the other, each key once.
std::vector<SettingChange> changes_between(const TrainingPlan& before, const TrainingPlan& after);

}  // namespace oomplan::survey
