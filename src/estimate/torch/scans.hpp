// What chunked scans are written with: cumsum, F.pad, repeat_interleave, parts set in place, triangular systems.
#pragma once

#include "torch/torch.hpp"

namespace oomplan::estimator {

Tensor cumsum(Torch& t, const Tensor& x, int dim);

/// F.pad of one dimension with a number; a copy also where nothing is added.
Tensor pad(Torch& t, const Tensor& x, int dim, std::int64_t before, std::int64_t after);

/// x.repeat_interleave(times, dim), a copy also where `times` is 1.
Tensor repeat_interleave(Torch& t, const Tensor& x, std::int64_t times, int dim);

Tensor sqrt(Torch& t, const Tensor& x);
Tensor log(Torch& t, const Tensor& x);

/// 1 - x
Tensor rest_of(Torch& t, const Tensor& x);

/// whole[...] = part, in place: autograd's CopySlices (torch/csrc/autograd/functions/tensor.cpp). Returns the whole.
Tensor set_part(Torch& t, const Tensor& whole, const Tensor& part);

/// x.to(dtype, memory_format=torch.contiguous_format): x itself where it is of that dtype, whatever its layout.
Tensor to_contiguous(Torch& t, const Tensor& x, DType dtype);

/// torch.linalg.solve_triangular(a, b, upper=False, unitriangular=True), whose result is laid out by columns. What a
/// backend copies to solve it is not in it.
Tensor solve_triangular(Torch& t, const Tensor& a, const Tensor& b);

/// x.tril()
Tensor tril(Torch& t, const Tensor& x);

/// A mask of size × size that torch.tril or triu makes of ones.
Tensor triangle(Torch& t, std::int64_t size);

}  // namespace oomplan::estimator
