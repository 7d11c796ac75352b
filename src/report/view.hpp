// A view turns a Report into text. Each file in views/ defines the one view that it is named after.
#pragma once

#include <string>

#include "oomplan/report/report.hpp"

namespace oomplan::report::views {

#define OOMPLAN_ENTRY(name) std::string name(const Report& report, const ViewOptions& options);
#include "registry/views.inc"
#undef OOMPLAN_ENTRY

}  // namespace oomplan::report::views
