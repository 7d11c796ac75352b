// Phi-4 multimodal's processor (image_processing_phi4_multimodal.py: dynamic_preprocess): a picture is put into as many
// crops as it fills, what is left of them is padding, and the whole is one more.
#pragma once

#include <cstdint>

namespace oomplan::estimator {

struct HdCrops {
  std::int64_t across = 1;
  std::int64_t down = 1;
  std::int64_t half = 1;     ///< Features of a crop's side.
  std::int64_t rows = 1;     ///< Of all crops' features, those that are no padding,
  std::int64_t columns = 1;  ///< … and how many a row has.
  bool padded = false;
  bool too_thin = false;  ///< The processor stops at it.

  std::int64_t crops() const { return across * down; }
  /// Each row of the crops and of the whole with one behind it, and one between them.
  std::int64_t tokens() const { return rows * (columns + 1) + 1 + half * (half + 1); }
};

struct CropSizes {
  std::int64_t side = 1;   ///< Of a crop, in pixels.
  std::int64_t patch = 1;  ///< … and of a patch.
  std::int64_t most = 36;  ///< Crops of a picture.
};

HdCrops hd_crops(const CropSizes& sizes, std::int64_t height, std::int64_t width);

}  // namespace oomplan::estimator
