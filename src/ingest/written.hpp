// Facts as a dialect's keys say them.
#pragma once

#include <string>
#include <vector>

#include "dialect.hpp"
#include "oomplan/ingest/ingest.hpp"
#include "oomplan/ingest/keys.hpp"

namespace oomplan::ingestion {

/// All that the dialect can say of the plan, in the order of its keys.
Lines lines_of(const Dialect& dialect, const TrainingPlan& plan);

/// The lines that say these facts, in that order.
Lines lines_of(const Dialect& dialect, const TrainingPlan& plan, const std::vector<std::string>& facts);

/// Every fact by its name.
std::string plain_text(const TrainingPlan& plan);

}  // namespace oomplan::ingestion
