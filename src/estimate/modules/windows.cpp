#include "modules/windows.hpp"

#include "torch/rolling.hpp"

namespace oomplan::estimator {
namespace {

/// Windows of a picture of any number of channels: windows × side × side × channels.
Tensor in_windows(Torch& t, const Tensor& x, std::int64_t side) {
  const Dims& s = x->sizes;
  const Tensor grid = t.view(x, {s[0], s[1] / side, side, s[2] / side, side, s[3]});
  return t.view(t.contiguous(t.transpose(grid, 2, 3)), {-1, side, side, s[3]});
}

}  // namespace

Tensor Windows::padded(Torch& t, const Tensor& x) const {
  const std::int64_t rows = x->sizes[0];
  return pad_to(t, t.view(x, {rows, height, columns, width}), {rows, padded_height(), padded_columns(), width});
}

Tensor Windows::parted(Torch& t, const Tensor& x) const { return t.view(in_windows(t, x, side), {-1, area(), width}); }

Tensor Windows::regions(Torch& t, DType dtype) const {
  const Tensor rows = t.empty({padded_height()}, DType::int64, "aten::add");
  const Tensor across = t.empty({padded_columns()}, DType::int64, "aten::add");
  Tensor picture = t.empty({1, padded_height(), padded_columns(), 1}, DType::int64, "aten::add");
  picture = t.to(picture, dtype);
  const Tensor windows = t.view(in_windows(t, picture, side), {-1, area()});
  const Dims sizes{windows->sizes[0], area(), area()};
  Tensor mask = t.empty(sizes, dtype, "aten::sub");
  Tensor filled = t.empty(sizes, DType::boolean, "aten::ne");
  filled = t.empty(sizes, dtype, "aten::masked_fill");
  const Tensor same = t.empty(sizes, DType::boolean, "aten::eq");
  mask = t.empty(sizes, dtype, "aten::masked_fill");
  return mask;
}

Tensor Windows::joined(Torch& t, const Tensor& windows, std::int64_t rows) const {
  const Tensor grid = t.view(windows, {rows, padded_height() / side, padded_columns() / side, side, side, width});
  return t.view(t.contiguous(t.transpose(grid, 2, 3)), {rows, padded_height(), padded_columns(), width});
}

Tensor Windows::cut(Torch& t, Tensor x) const {
  const bool lower = padded_height() > height;
  const bool narrower = padded_columns() > columns;
  if (lower) x = t.slice(x, 1, 0, height);
  if (narrower) x = t.slice(x, 2, 0, columns);
  if (lower || narrower) x = t.contiguous(x);
  return t.view(x, {x->sizes[0], saturating_mul(height, columns), width});
}

}  // namespace oomplan::estimator
