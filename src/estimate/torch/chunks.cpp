#include "torch/chunks.hpp"

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

}  // namespace oomplan::estimator
