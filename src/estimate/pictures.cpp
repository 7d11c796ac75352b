// The rules of transformers 5.23's image processors, from a picture to what the tower is given. Sizes are Python's, in
// doubles: round() is to the even one of two.
#include "pictures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "media_errors.hpp"
#include "modules/hd_crops.hpp"

namespace oomplan::estimator {
namespace {

struct Rule {
  const OpSpec& spec;
  double number(std::string_view name, double otherwise = 0) const {
    const Attribute* a = spec.find(name);
    if (a == nullptr) return otherwise;
    if (const auto* whole = std::get_if<std::int64_t>(a)) return static_cast<double>(*whole);
    const auto* real = std::get_if<double>(a);
    return real != nullptr ? *real : otherwise;
  }
  std::int64_t integer(std::string_view name) const { return static_cast<std::int64_t>(number(name, 1)); }
};

/// Of a picture: how it is wrong, or nothing.
using Wrong = std::string;

std::int64_t whole(double x) { return static_cast<std::int64_t>(x); }

/// qwen2_vl/image_processing_qwen2_vl.py: smart_resize, and those like it: multiples of `step`, between `least` and
/// `most` pixels. LFM2-VL cuts what is `cut_above` times larger.
Wrong smart_resize(const Rule& r, Images& i) {
  const auto h = static_cast<double>(i.height);
  const auto w = static_cast<double>(i.width);
  const double step = r.number("step");
  const double least_side = r.number("least_side", 0);
  if (std::min(h, w) < least_side) return fmt::format("a picture of fewer than {} pixels a side", least_side);
  if (std::max(h, w) / std::min(h, w) > r.number("longest", 200)) return "a picture so much longer than wide";
  const double least_steps = r.number("least_steps", 0);
  const auto nearest = [&](double side) { return std::max(std::nearbyint(side / step), least_steps) * step; };
  const double most = r.number("most");
  const double least = r.number("least");
  double height = nearest(h);
  double width = nearest(w);
  const double pixels = height * width;
  if (const double cut = r.number("cut_above", 0); cut > 0 && pixels > most * cut)
    return "a picture that is cut into tiles beside one of another size";
  if (pixels > most) {
    const double scale = std::sqrt(h * w / most);
    height = std::max(step, std::floor(h / scale / step) * step);
    width = std::max(step, std::floor(w / scale / step) * step);
  } else if (pixels < least) {
    const double scale = std::sqrt(least / (h * w));
    height = std::ceil(h * scale / step) * step;
    width = std::ceil(w * scale / step) * step;
  }
  i.height = whole(height);
  i.width = whole(width);
  i.room = whole(r.number("room", 0));
  return {};
}

/// pixtral/image_processing_pixtral.py: get_resize_output_image_size.
Wrong longest_edge(const Rule& r, Images& i) {
  const auto h = static_cast<double>(i.height);
  const auto w = static_cast<double>(i.width);
  const std::int64_t step = r.integer("step");
  const double ratio = std::max(h, w) / r.number("edge");
  if (ratio > 1) {
    i.height = std::max<std::int64_t>(whole(std::floor(h / ratio)), 1);
    i.width = std::max<std::int64_t>(whole(std::floor(w / ratio)), 1);
  }
  i.height = ((i.height - 1) / step + 1) * step;
  i.width = ((i.width - 1) / step + 1) * step;
  return {};
}

/// gemma4/image_processing_gemma4.py: get_aspect_ratio_preserving_size, as large as `tokens` squares of `step` allow.
Wrong filled(const Rule& r, Images& i) {
  const auto h = static_cast<double>(i.height);
  const auto w = static_cast<double>(i.width);
  const double step = r.number("step");
  const double tokens = r.number("tokens");
  const double patch = r.number("patch");
  const double across = step / patch;  // Patches in a square's side.
  const double most = tokens * across * across * patch * patch;
  const double scale = std::sqrt(most / (h * w));
  double height = std::floor(scale * h / step) * step;
  double width = std::floor(scale * w / step) * step;
  if (height == 0 && width == 0) return "a picture of no pixels";
  if (height == 0) {
    height = step;
    width = std::min(std::floor(w / h), tokens) * step;
  } else if (width == 0) {
    width = step;
    height = std::min(std::floor(h / w), tokens) * step;
  }
  if (height * width > most) return "a picture of so thin a shape, at which its processor stops,";
  i.height = whole(height);
  i.width = whole(width);
  return {};
}

struct Grid {
  std::int64_t across = 1;
  std::int64_t down = 1;
  std::int64_t tiles() const { return across * down; }
};

/// Of at most so many tiles, the smaller ones first.
std::vector<Grid> grids(std::int64_t most) {
  std::vector<Grid> out;
  for (std::int64_t across = 1; across <= most; ++across)
    for (std::int64_t down = 1; across * down <= most; ++down) out.push_back({across, down});
  std::ranges::stable_sort(out, {}, &Grid::tiles);
  return out;
}

/// The tiles, and where they are several the whole in one.
Wrong cut(const Grid& grid, Images& i) {
  i.tiles = grid.tiles() + (grid.tiles() > 1 ? 1 : 0);
  return {};
}

/// got_ocr2/image_processing_got_ocr2.py: get_optimal_tiled_canvas, the grid of the nearest shape.
Wrong tiles_by_shape(const Rule& r, Images& i) {
  const auto h = static_cast<double>(i.height);
  const auto w = static_cast<double>(i.width);
  const double tile = r.number("tile");
  Grid best;
  double nearest = std::numeric_limits<double>::infinity();
  for (const Grid& grid : grids(r.integer("most"))) {
    const double off = std::abs(w / h - static_cast<double>(grid.across) / static_cast<double>(grid.down));
    const bool large = w * h > tile * tile * static_cast<double>(grid.tiles()) / 2;
    if (off < nearest || (off == nearest && large)) best = grid;
    nearest = std::min(nearest, off);
  }
  return cut(best, i);
}

/// cohere2_vision/image_processing_cohere2_vision.py: get_optimal_tiled_canvas, the grid that the picture is scaled up
/// to least, or down to least where none holds it.
Wrong tiles_by_scale(const Rule& r, Images& i) {
  const double tile = r.number("tile");
  Grid best;
  double least_up = std::numeric_limits<double>::infinity();
  double least_down = 0;
  for (const Grid& grid : grids(r.integer("most"))) {
    const double scale = std::min(static_cast<double>(grid.across) * tile / static_cast<double>(i.width),
                                  static_cast<double>(grid.down) * tile / static_cast<double>(i.height));
    if (scale >= 1 ? scale < least_up : std::isinf(least_up) && scale > least_down) best = grid;
    (scale >= 1 ? least_up : least_down) = scale >= 1 ? std::min(least_up, scale) : std::max(least_down, scale);
  }
  return cut(best, i);
}

/// llama4/image_processing_llama4.py: get_best_fit, in floats; of equal ones the smallest.
Wrong tiles_by_fit(const Rule& r, Images& i) {
  const auto tile = static_cast<float>(r.number("tile"));
  Grid best;
  float scale_of_best = 0;
  for (const Grid& grid : grids(r.integer("most"))) {
    const float scale = std::min(static_cast<float>(grid.across) * tile / static_cast<float>(i.width),
                                 static_cast<float>(grid.down) * tile / static_cast<float>(i.height));
    const bool better = scale_of_best >= 1 ? scale >= 1 && scale < scale_of_best : scale > scale_of_best;
    if (!better) continue;
    scale_of_best = scale;
    best = grid;
  }
  return cut(best, i);
}

/// idefics3/image_processing_idefics3.py: scaled to `edge`, then to whole tiles.
Wrong tiles_by_edge(const Rule& r, Images& i) {
  constexpr double largest = 4096;
  const double shape = static_cast<double>(i.width) / static_cast<double>(i.height);
  const double tile = r.number("tile");
  const bool wide = i.width >= i.height;
  double longer = r.number("edge");
  double shorter = std::trunc(wide ? longer / shape : longer * shape);
  if (std::fmod(shorter, 2) != 0) ++shorter;
  shorter = std::max(shorter, 1.0);
  if (longer > largest) {
    const double now = wide ? longer / shorter : shorter / longer;
    longer = largest;
    shorter = std::max(std::trunc(wide ? longer / now : longer * now), 1.0);
  }
  const double exact = wide ? longer / shorter : shorter / longer;
  longer = std::ceil(longer / tile) * tile;
  shorter = std::ceil(std::trunc(wide ? longer / exact : longer * exact) / tile) * tile;
  return cut({whole(longer / tile), std::max<std::int64_t>(whole(shorter / tile), 1)}, i);
}

/// image_processing_phi4_multimodal.py: as many crops as a picture fills. Its own size says the rest, so that
/// image_tiles alone does not say how they lie.
Wrong tiles_by_crops(const Rule& r, Images& i) {
  const HdCrops crops = hd_crops({r.integer("tile"), r.integer("patch"), r.integer("most")}, i.height, i.width);
  if (crops.too_thin) return "a picture of so thin a shape, at which its processor stops,";
  const std::int64_t made = crops.crops() + 1;
  if (i.tiles > 0 && i.tiles != made)
    return fmt::format("a picture of {} tiles (image_tiles), of whose size its processor makes {},", i.tiles, made);
  i.tiles = made;
  return {};
}

struct Named {
  std::string_view name;
  Wrong (*play)(const Rule&, Images&);
  bool cuts;  ///< Into tiles of the tower's size.
};
constexpr std::array rules{Named{"smart_resize", smart_resize, false},
                           Named{"longest_edge", longest_edge, false},
                           Named{"filled", filled, false},
                           Named{"tiles_by_crops", tiles_by_crops, false},
                           Named{"tiles_by_shape", tiles_by_shape, true},
                           Named{"tiles_by_scale", tiles_by_scale, true},
                           Named{"tiles_by_fit", tiles_by_fit, true},
                           Named{"tiles_by_edge", tiles_by_edge, true}};

}  // namespace

std::optional<Diagnostic> hand_over(const OpSpec& processor, const std::string& model, Images& images) {
  const auto rule = std::ranges::find(rules, processor.op, &Named::name);
  if (rule == rules.end())
    return undecided_media(model, "an image processor's rule " + processor.op + " is not known", images);
  if (rule->cuts && images.tiles > 0) return {};
  if (images.height <= 0 || images.width <= 0) {
    Diagnostic d = undecided_media(model, "the size of its images decides what it holds, and is not known", images);
    d.hint = rule->cuts ? "set image_height and image_width: pixels of the pictures themselves; or image_tiles."
                        : "set image_height and image_width: pixels of the pictures themselves.";
    return d;
  }
  const Wrong wrong = rule->play({processor}, images);
  if (!wrong.empty()) return undecided_media(model, wrong + " is not modelled yet", images);
  return {};
}

}  // namespace oomplan::estimator
