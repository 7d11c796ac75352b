#include "modules/hd_crops.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace oomplan::estimator {
namespace {

/// find_closest_aspect_ratio: of the grids of at most so many crops, the smaller ones first.
void nearest_grid(const CropSizes& sizes, double height, double width, HdCrops& out) {
  double nearest = std::numeric_limits<double>::infinity();
  const auto side = static_cast<double>(sizes.side);
  for (std::int64_t crops = 1; crops <= sizes.most; ++crops) {
    for (std::int64_t across = 1; across <= crops; ++across) {
      if (crops % across != 0) continue;
      const std::int64_t down = crops / across;
      const double off = std::abs(width / height - static_cast<double>(across) / static_cast<double>(down));
      const bool large = width * height > side * side * static_cast<double>(crops) / 2;
      if (off < nearest || (off == nearest && large)) {
        out.across = across;
        out.down = down;
      }
      nearest = std::min(nearest, off);
    }
  }
}

/// Patches of padding.
std::int64_t padding(std::int64_t filled, std::int64_t real, std::int64_t patch) { return (filled - real) / patch; }

}  // namespace

HdCrops hd_crops(const CropSizes& sizes, std::int64_t height, std::int64_t width) {
  HdCrops out;
  const auto h = static_cast<double>(height);
  const auto w = static_cast<double>(width);
  out.across = (width - 1) / sizes.side + 1;
  out.down = (height - 1) / sizes.side + 1;
  if (out.across > sizes.most || out.down > sizes.most || out.crops() > sizes.most) nearest_grid(sizes, h, w, out);
  const std::int64_t wide = sizes.side * out.across;
  const std::int64_t high = sizes.side * out.down;
  const double by_width = static_cast<double>(wide) / w;
  const double by_height = static_cast<double>(high) / h;
  const bool fills_width = by_width < by_height;
  const std::int64_t real_width = fills_width ? wide : static_cast<std::int64_t>(w * by_height);
  const std::int64_t real_height = fills_width ? static_cast<std::int64_t>(h * by_width) : high;
  constexpr std::int64_t least = 10;
  out.too_thin = std::min(real_width, real_height) < least;
  const std::int64_t patches = sizes.side / sizes.patch;
  const std::int64_t rows = patches * out.down - padding(high, real_height, sizes.patch);
  const std::int64_t columns = patches * out.across - padding(wide, real_width, sizes.patch);
  out.padded = rows < patches * out.down || columns < patches * out.across;
  out.half = patches / 2;
  out.rows = (rows + 1) / 2;
  out.columns = (columns + 1) / 2;
  return out;
}

}  // namespace oomplan::estimator
