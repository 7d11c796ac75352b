#include "modules/local_blocks.hpp"

#include "torch/scans.hpp"

namespace oomplan::estimator {

Tensor split_into_blocks(Torch& t, Tensor x, std::int64_t block, int dim) {
  const std::int64_t more = (block - x->sizes[dim] % block) % block;
  if (more != 0) x = pad(t, x, dim, 0, more);
  Dims sizes = x->sizes;
  sizes[dim] = x->sizes[dim] / block;
  sizes.insert(dim + 1, block);
  return t.reshape(x, sizes);
}

Tensor with_neighbours(Torch& t, const Tensor& x) {
  const std::int64_t blocks = x->sizes[1];
  const Tensor padded = pad(t, x, 1, 1, 1);
  const auto from = [&](std::int64_t first) { return t.slice(padded, 1, first, blocks); };
  return t.cat({from(0), from(1), from(2)}, 2);
}

Tensor local_mask(Torch& t, const Tensor& mask, std::int64_t block) {
  const Tensor blocked = split_into_blocks(t, mask, block, 1);
  const Tensor around = with_neighbours(t, blocked);
  const Dims sizes{mask->sizes[0], blocked->sizes[1], block, 3 * block};
  Tensor allowed = t.empty(sizes, DType::boolean, "aten::logical_and");
  const Tensor near = t.empty({1, 1, block, 3 * block}, DType::boolean, "aten::_to_copy");
  allowed = t.empty(sizes, DType::boolean, "aten::logical_and");
  return t.unsqueeze(allowed, 1);
}

Tensor additive(Torch& t, const Tensor& mask) {
  const Tensor allowed = t.empty(mask->sizes, DType::boolean, "aten::gt");
  return t.empty(mask->sizes, DType::fp32, "aten::where");
}

}  // namespace oomplan::estimator
