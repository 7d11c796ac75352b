// What a plain YAML scalar is, as PyYAML's safe_load resolves it, for the frameworks use that.
#pragma once

#include <string_view>

#include "oomplan/document.hpp"

namespace oomplan::read {

/// null, boolean, integer, real or string. Not what YAML 1.2 says: "1e-5", "1.0e5" and "0o17" are strings, "010",
/// "0b1", "1:30" and "1_000" are integers, "yes" and "off" are booleans.
Node::Kind resolve(std::string_view plain);

}  // namespace oomplan::read
