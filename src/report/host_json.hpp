// The host's part of the JSON view.
#pragma once

#include <nlohmann/json.hpp>

#include "oomplan/estimate/host.hpp"

namespace oomplan::report {

nlohmann::ordered_json host_json(const HostAnswer& host);

}  // namespace oomplan::report
