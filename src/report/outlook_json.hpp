// What lies beyond an estimate's verdict, for programs.
#pragma once

#include <nlohmann/json.hpp>

#include "oomplan/report/outlook.hpp"

namespace oomplan::report {

nlohmann::ordered_json outlook_json(const Outlook& outlook);

}  // namespace oomplan::report
