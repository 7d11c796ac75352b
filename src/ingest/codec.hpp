// The codecs of the plan's stage, under the names that dialects have for them.
#pragma once

#include "oomplan/plan/codec.hpp"

namespace oomplan::ingestion {

using namespace planning;
namespace as {
using namespace planning::as;
}

}  // namespace oomplan::ingestion
