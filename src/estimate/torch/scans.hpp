// What chunked scans are written with: cumsum, F.pad, repeat_interleave.
#pragma once

#include "torch/torch.hpp"

namespace oomplan::estimator {

Tensor cumsum(Torch& t, const Tensor& x, int dim);

/// F.pad of one dimension with a number; a copy also where nothing is added.
Tensor pad(Torch& t, const Tensor& x, int dim, std::int64_t before, std::int64_t after);

/// x.repeat_interleave(times, dim), a copy also where `times` is 1.
Tensor repeat_interleave(Torch& t, const Tensor& x, std::int64_t times, int dim);

/// A mask of size × size that torch.tril or triu makes of ones.
Tensor triangle(Torch& t, std::int64_t size);

}  // namespace oomplan::estimator
