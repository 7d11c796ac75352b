// transformers/image_processing_utils.py, select_best_resolution, and what LLaVA-NeXT makes of it.
#pragma once

#include <cstdint>

#include "play.hpp"

namespace oomplan::estimator {

/// How a picture is cut, and what is left of its tiles' features.
struct BestSize {
  std::int64_t side = 1;          ///< Patches of a tile, in a row and in a column.
  std::int64_t down = 0;          ///< Tiles, one below the other; 0: the picture alone, which is not cut.
  std::int64_t across = 0;        ///< … and side by side.
  std::int64_t first = 0;         ///< Of the patches of all tiles, rows or columns that the picture does not fill,
  bool of_rows = false;           ///< … at the top and the bottom, or at both sides.
  std::int64_t rows = 0;          ///< Of patches, those that are left,
  std::int64_t columns = 0;       ///< … as is this,
  bool resized = false;           ///< … and are resized,
  std::int64_t less_rows = 0;     ///< … to so many
  std::int64_t less_columns = 0;  ///< … by so many.

  /// What the tower is given of a picture.
  std::int64_t tiles() const { return saturating_add(saturating_mul(down, across), 1); }
  /// What stands in the row for a picture.
  std::int64_t tokens() const;
};

/// By the attributes `image_size`, `patch_size`, `sizes` and `most_tiles` (LLaVA-OneVision's anyres_max_9), where the
/// plan has images. A plan without their size is a problem of the builder's.
BestSize best_size(const Attributes& a, Builder& b);

}  // namespace oomplan::estimator
