// What an operator in place on a view of a tensor makes of it (torch/csrc/autograd/functions/tensor.cpp: CopySlices).
#pragma once

#include "torch/torch.hpp"

namespace oomplan::estimator {

/// whole.view += x, where the view has the sizes of x. Returns the whole.
Tensor add_to_view(Torch& t, const Tensor& whole, const Tensor& view, const Tensor& x);

/// A view that was written to, as autograd remakes it of the whole: as_strided, whose backward makes zeros of the
/// whole.
Tensor view_again(Torch& t, const Tensor& whole, const Tensor& view);

}  // namespace oomplan::estimator
