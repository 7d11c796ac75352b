#include "torch/chunks.hpp"

#include <algorithm>

namespace oomplan::estimator {

std::vector<Tensor> split_into_chunks(Torch& t, const Tensor& x, std::int64_t size, int dim) {
  constexpr std::int64_t most = 8;
  const std::int64_t parts = divided_up(x->sizes[dim], size);
  if (parts <= most) return t.split(x, size, dim);
  std::vector<Tensor> out;
  for (const Tensor& eighth : t.split(x, divided_up(parts, most) * size, dim)) {
    for (Tensor& chunk : split_into_chunks(t, eighth, size, dim)) out.push_back(std::move(chunk));
  }
  return out;
}

std::vector<std::int64_t> distinct_parts(std::int64_t total, std::int64_t size) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(std::min<std::int64_t>(total / size, 2)), size);
  if (total % size != 0) sizes.push_back(total % size);
  return sizes;
}

}  // namespace oomplan::estimator
