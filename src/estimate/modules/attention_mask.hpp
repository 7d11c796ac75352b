// transformers masking_utils: the masks of and_masks, padding_mask_function, sdpa_mask and eager_mask.
#pragma once

#include "play.hpp"

namespace oomplan::estimator {

/// The step `result & mask(...)` of and_masks.
Tensor both(Torch& t, const Tensor& result, const Tensor& mask);

/// From which keys a query may see, alike for every row, to what attention gets: padding added where rows have some,
/// and for eager attention an additive mask in `dtype`.
/// `sent`: the batch has a mask, if one of ones.
Tensor attention_mask(Play& play, Tensor allowed, DType dtype, bool sent);

/// The mask of a model's _update_causal_mask before transformers 4.53: of numbers, for sdpa too.
Tensor number_mask(Play& play, DType dtype);

}  // namespace oomplan::estimator
