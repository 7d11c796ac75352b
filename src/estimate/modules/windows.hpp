// What layers of Swin and Swin v2 share: a picture in windows, which may be moved by half a window.
#pragma once

#include "modules/pictures.hpp"

namespace oomplan::estimator {

struct Windows {
  std::int64_t side = 1;     ///< Of a window, in patches.
  std::int64_t height = 1;   ///< Of the picture, in patches,
  std::int64_t columns = 1;  ///< … as is this.
  std::int64_t width = 1;    ///< Of a patch.
  bool moved = false;

  std::int64_t area() const { return saturating_mul(side, side); }
  std::int64_t padded_height() const { return saturating_mul(divided_up(height, side), side); }
  std::int64_t padded_columns() const { return saturating_mul(divided_up(columns, side), side); }

  /// Rows of patches as a picture that whole windows cover: a copy in any case.
  Tensor padded(Torch& t, const Tensor& x) const;
  /// window_partition, with the patches of a window in one row.
  Tensor parted(Torch& t, const Tensor& x) const;
  /// get_attn_mask: what came together only as the picture was moved does not see each other.
  Tensor regions(Torch& t, DType dtype) const;
  /// window_reverse
  Tensor joined(Torch& t, const Tensor& windows, std::int64_t rows) const;
  /// Without what was padded, as rows of patches.
  Tensor cut(Torch& t, Tensor x) const;
};

}  // namespace oomplan::estimator
