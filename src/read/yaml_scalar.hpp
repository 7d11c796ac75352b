// What a plain YAML scalar is, as PyYAML's safe_load resolves it, for the frameworks use that.
#pragma once

#include <string_view>

#include "oomplan/read/document.hpp"

namespace oomplan::read {

/// null, boolean, integer, real or string. Not what YAML 1.2 says: "1e-5", "1.0e5" and "0o17" are strings, "010",
/// "0b1", "1:30" and "1_000" are integers, "yes" and "off" are booleans.
Node::Kind resolve(std::string_view plain);

/// False where PyYAML, having resolved it so, fails to make the value: "0x_", "2024-02-30".
bool can_construct(Node::Kind kind, std::string_view plain);

/// What YAML 1.1 has for a date, or a date and time, and is one.
bool is_timestamp(std::string_view text);

}  // namespace oomplan::read
