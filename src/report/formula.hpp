// Why a bucket has the size that it has: the general formula in words, with this run's numbers in it.
#pragma once

#include <string>

#include "oomplan/report/report.hpp"

namespace oomplan::report {

/// One paragraph about `bucket` holding `size`. Needs plan, architecture and footprint.
std::string formula_text(const Report& report, Bucket bucket, Bytes size);

}  // namespace oomplan::report
