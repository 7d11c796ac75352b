// A config's prediction beside what was observed, on paper.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "oomplan/core/join.hpp"

namespace oomplan::report {

/// A section after an empty line; nothing where there is no config.
std::string join_text(const std::optional<Join>& join, bool colour, std::size_t width);

/// An object, or null.
nlohmann::ordered_json join_json(const std::optional<Join>& join);

}  // namespace oomplan::report
