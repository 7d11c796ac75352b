// The architecture of a plan's model.
#pragma once

#include "oomplan/catalog/catalog.hpp"
#include "oomplan/report/report.hpp"

namespace oomplan::cli {

/// Sets findings.architecture to that of findings.plan's model, with its teacher's. False where one of them is not
/// found; the findings' diagnostics say which.
bool find_architecture(Findings& findings, const Catalog& catalog);

}  // namespace oomplan::cli
