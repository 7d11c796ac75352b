// The host's part of the JSON view.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "oomplan/estimate/host.hpp"

namespace oomplan::report {

nlohmann::ordered_json limits_json(const std::vector<HostFit>& limits);
nlohmann::ordered_json host_json(const HostAnswer& host);

}  // namespace oomplan::report
