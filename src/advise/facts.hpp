// What a fix asks of a plan's facts, and what it makes of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oomplan/plan/plan.hpp"
#include "rung.hpp"

namespace oomplan::advise {

/// Why the plan is none for this fix; empty where it is.
std::string objection(const TrainingPlan& plan, const Rung& rung);

/// The first fact that makes it none, with its value: "gradient_checkpointing is true"; empty where none does.
std::string refusing_fact(const TrainingPlan& plan, const Rung& rung);

/// The plan after taking it once. False where the result is no value of the fact.
bool take(TrainingPlan& plan, const Rung& rung);

/// The smallest prime factor of n > 1.
std::int64_t smallest_factor(std::int64_t n);

/// Divides one fact by `factor`, and multiplies another by it; false where that is not exact.
bool move(TrainingPlan& plan, const Rung& rung, std::int64_t factor);

/// The facts that the fix makes something else of in this plan, in its order.
std::vector<std::string> edited_facts(const Rung& rung, const TrainingPlan& plan);

}  // namespace oomplan::advise
