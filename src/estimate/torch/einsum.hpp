// torch.einsum of two operands (aten/src/ATen/native/Linear.cpp: einsum, sumproduct_pair).
#pragma once

#include <string_view>

#include "torch/torch.hpp"

namespace oomplan::estimator {

/// einsum("bclhn,bcshn->bclsh", a, b), of which one letter is summed: a product of matrices, whose factors are copied
/// where their layout asks for it. Autocast lowers both first.
Tensor einsum(Torch& t, const Tensor& a, std::string_view of_a, const Tensor& b, std::string_view of_b,
              std::string_view out);

}  // namespace oomplan::estimator
