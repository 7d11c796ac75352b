// Errors that the command line itself can make.
#pragma once

#include <optional>
#include <string_view>

#include "oomplan/estimate/footprint.hpp"
#include "oomplan/report/report.hpp"

namespace oomplan::cli {

std::optional<Bucket> find_bucket(std::string_view name);

Diagnostic unknown_bucket(std::string_view name);
Diagnostic unknown_dialect(std::string_view name);

/// Nothing found but `errors`.
Findings failed(Diagnostics errors);

}  // namespace oomplan::cli
