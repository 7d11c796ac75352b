// A parsed JSON value as values.
#pragma once

#include <simdjson.h>

#include "oomplan/measure/values.hpp"

namespace oomplan::measure {

/// Fields as they stand, also those of one name.
void tell(simdjson::dom::element element, Values& values);

}  // namespace oomplan::measure
