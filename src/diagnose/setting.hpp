// What a log shows of a run's settings, however they are written there.
#pragma once

#include <string_view>

namespace oomplan::diagnose {

/// Whether the line sets `setting`, "name value|value": "name=value", "--name value", "'name': value", "name ....
/// value", in any letters, "-" and "_" alike. The value "on" is true, yes, 1, and an option without a value.
bool sets(std::string_view line, std::string_view setting);

}  // namespace oomplan::diagnose
