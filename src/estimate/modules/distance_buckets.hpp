// _relative_position_bucket of T5 and its like: what it makes of distances on its way, the last of which is returned.
#pragma once

#include "play.hpp"

namespace oomplan::estimator {

/// `decodes`: of a decoder, which sees what is before. `named`: the ratio of logarithms has a name (UMT5).
Tensor distance_buckets(Torch& t, const Dims& sizes, bool decodes, bool named);

}  // namespace oomplan::estimator
