// Kimi's delta rule as transformers writes it in Python (chunk_kimi_delta_attention): a decay for each channel, and the
// triangular system solved row by row.
#pragma once

#include "modules/delta_rule.hpp"

namespace oomplan::estimator {

/// As chunk_delta_rule(), with a decay of batch × length × heads × width.
Tensor chunk_kimi_delta(Torch& t, const DeltaInputs& in);

}  // namespace oomplan::estimator
