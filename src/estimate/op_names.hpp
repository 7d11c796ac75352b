#pragma once

#include <string_view>
#include <vector>

namespace oomplan::estimator {

/// Of all ops that there are.
std::vector<std::string_view> op_names();

}  // namespace oomplan::estimator
