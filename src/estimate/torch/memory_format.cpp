#include "torch/memory_format.hpp"

#include <array>
#include <span>

namespace oomplan::estimator {
namespace {

/// The dimensions from the innermost outwards in memory format channels_last, or channels_last_3d.
std::span<const int> channels_innermost(int dims) {
  static constexpr std::array four{1, 3, 2, 0};
  static constexpr std::array five{1, 4, 3, 2, 0};
  return dims == 4 ? std::span<const int>(four) : std::span<const int>(five);
}

}  // namespace

bool is_channels_last(const TensorImpl& x) {
  if (x.dim() != 4 && x.dim() != 5) return false;
  std::int64_t least = 0;
  for (const int at : channels_innermost(x.dim())) {
    const std::int64_t stride = x.strides[at];
    if (x.sizes[at] == 0 || stride == 0 || stride < least) return false;
    if (at == 0 && least == x.strides[1]) return false;
    least = x.sizes[at] > 1 ? saturating_mul(stride, x.sizes[at]) : stride;
  }
  return true;
}

Dims channels_last_strides(const Dims& sizes) {
  Dims out = sizes;
  std::int64_t stride = 1;
  for (const int at : channels_innermost(sizes.size())) {
    out[at] = stride;
    stride = saturating_mul(stride, sizes[at]);
  }
  return out;
}

}  // namespace oomplan::estimator
