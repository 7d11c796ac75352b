// Keys of the rules' files, each of which somebody reads.
#pragma once

#include <string_view>
#include <vector>

#include "oomplan/core/result.hpp"
#include "oomplan/read/document.hpp"

namespace oomplan::diagnose {

/// `diagnose/bad-rule` at the place of each key of `node` that is none of `keys`: "WHAT has no key …".
Diagnostics unknown_keys(const Document& document, const Node& node, const std::vector<std::string_view>& keys,
                         std::string_view what);

}  // namespace oomplan::diagnose
