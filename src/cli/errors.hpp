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

/// Neither the catalog nor the allocator knows of configs; the line that names what they read is where to mend it.
Diagnostics placed(Diagnostics errors, const Origin& origin);

/// Nothing found but `errors`.
Findings failed(Diagnostics errors);

}  // namespace oomplan::cli
