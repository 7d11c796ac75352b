// What a bare word of TOML is.
#pragma once

#include <optional>
#include <string_view>

#include "oomplan/read/document.hpp"

namespace oomplan::read {

/// boolean, integer, real, or string for a date or time, which is text to a plan. Nothing for a word that TOML lacks,
/// and for an integer beyond 64 bits.
std::optional<Node::Kind> toml_kind(std::string_view word);

}  // namespace oomplan::read
