// Values of a change, which are YAML, as each syntax spells them.
#pragma once

#include <string>
#include <string_view>

#include "oomplan/read/document.hpp"

namespace oomplan::advise {

/// As JSON has strings, and TOML its basic ones.
std::string in_quotes(std::string_view text);

/// As the place takes it: JSON in JSON, and in braces of YAML where a comma or a bracket in it would end it. TOML's
/// true, numbers, strings and lists are JSON's; it has no null, which no change sets there.
std::string spelled(const std::string& value, Syntax syntax, bool in_braces);

}  // namespace oomplan::advise
