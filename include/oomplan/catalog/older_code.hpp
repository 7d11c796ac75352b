// What an older version of a model's library has otherwise: an op's attribute `older_code` names the versions
// ("transformers 5.14.1, transformers 5.6.0") whose code the op plays where it is given.
#pragma once

#include <string_view>

#include "oomplan/catalog/architecture.hpp"

namespace oomplan {

inline constexpr std::string_view older_code = "older_code";

/// Whether one of those versions is in `framework` ("axolotl 0.18.0 on transformers 5.14.1").
bool runs_older_code(const OpSpec& spec, std::string_view framework);

/// The model as `framework` runs it: with the attribute only where one of its versions is in there.
Architecture as_run(Architecture model, std::string_view framework);

}  // namespace oomplan
