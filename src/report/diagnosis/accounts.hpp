// What memory snapshots say, on paper.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "oomplan/report/diagnosis_view.hpp"

namespace oomplan::report {

/// A section for each device, each after an empty line.
std::string accounts_text(const std::vector<MemoryAccount>& accounts, bool colour);

nlohmann::ordered_json accounts_json(const std::vector<MemoryAccount>& accounts);

}  // namespace oomplan::report
