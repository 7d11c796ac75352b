// c10/core/MemoryFormat.h: pictures whose channels lie innermost.
#pragma once

#include "torch/torch.hpp"

namespace oomplan::estimator {

/// is_channels_last_strides_2d_s4 and is_channels_last_strides_3d_s5.
bool is_channels_last(const TensorImpl& x);

/// Of four or five dimensions.
Dims channels_last_strides(const Dims& sizes);

}  // namespace oomplan::estimator
