// Errors that the command line itself can make.
#pragma once

#include <optional>
#include <string_view>

#include "oomplan/footprint.hpp"
#include "oomplan/report.hpp"

namespace oomplan::cli {

std::optional<Bucket> find_bucket(std::string_view name);

Diagnostic unknown_bucket(std::string_view name);
Diagnostic unknown_dialect(std::string_view name);

/// One for each feature of the plan that is not modelled, as estimate() would give them: for where it cannot be asked.
Diagnostics unmodelled_errors(const TrainingPlan& plan);

/// Nothing found but `errors`.
Findings failed(Diagnostics errors);

}  // namespace oomplan::cli
