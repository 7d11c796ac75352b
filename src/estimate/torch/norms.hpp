// The lengths of vectors.
#pragma once

#include "torch/torch.hpp"

namespace oomplan::estimator {

/// torch.linalg.vector_norm(x, dim=-1)
Tensor norm_last(Torch& t, const Tensor& x, bool keep);

/// torch.nn.functional.normalize(x, dim=-1)
Tensor normalized_last(Torch& t, const Tensor& x);

/// torch.cosine_similarity(a, b)
Tensor cosine_similarity(Torch& t, const Tensor& a, const Tensor& b);

}  // namespace oomplan::estimator
