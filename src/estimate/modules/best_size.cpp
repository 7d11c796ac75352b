#include "modules/best_size.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "modules/vision.hpp"

namespace oomplan::estimator {
namespace {

using Size = std::pair<std::int64_t, std::int64_t>;  ///< Height and width.

/// "336x672|672x336"
std::vector<Size> sizes_of(const std::string& text) {
  std::vector<Size> out;
  std::istringstream list(text);
  for (std::string one; std::getline(list, one, '|');) {
    const std::size_t cut = one.find('x');
    if (cut != std::string::npos) out.emplace_back(std::stoll(one.substr(0, cut)), std::stoll(one.substr(cut + 1)));
  }
  return out;
}

Size best_of(const std::vector<Size>& sizes, double height, double width) {
  Size best{1, 1};
  double most_kept = 0;
  double least_wasted = std::numeric_limits<double>::infinity();
  for (const auto& [h, w] : sizes) {
    const double scale = std::min(static_cast<double>(w) / width, static_cast<double>(h) / height);
    const double kept = std::min(std::floor(width * scale) * std::floor(height * scale), width * height);
    const double wasted = static_cast<double>(h) * static_cast<double>(w) - kept;
    if (kept < most_kept || (kept == most_kept && wasted >= least_wasted)) continue;
    most_kept = kept;
    least_wasted = wasted;
    best = {h, w};
  }
  return best;
}

/// int(round(x, 7))
std::int64_t rounded(double x) {
  constexpr double seven_digits = 1e7;
  return static_cast<std::int64_t>(std::round(x * seven_digits) / seven_digits);
}

/// unpad_image
void unpad(BestSize& s, double height, double width) {
  s.rows = saturating_mul(s.side, s.down);
  s.columns = saturating_mul(s.side, s.across);
  const auto rows = static_cast<double>(s.rows);
  const auto columns = static_cast<double>(s.columns);
  s.of_rows = width / height > columns / rows;
  const std::int64_t whole = s.of_rows ? s.rows : s.columns;
  const std::int64_t filled = s.of_rows ? rounded(height * (columns / width)) : rounded(width * (rows / height));
  s.first = (whole - filled) / 2;
  (s.of_rows ? s.rows : s.columns) -= 2 * s.first;
}

/// anyres_max_9
void shrink(BestSize& s, std::int64_t most_tiles) {
  constexpr double much = 1.1;
  const auto rows = static_cast<double>(s.rows);
  const auto columns = static_cast<double>(s.columns);
  const double ratio = std::sqrt(rows * columns / static_cast<double>(most_tiles * s.side * s.side));
  s.resized = ratio > much;
  if (!s.resized) return;
  s.less_rows = std::max<std::int64_t>(static_cast<std::int64_t>(std::floor(rows / ratio)), 1);
  s.less_columns = std::max<std::int64_t>(static_cast<std::int64_t>(std::floor(columns / ratio)), 1);
}

/// "anyres_max_9": 9.
std::int64_t most_tiles_of(const Attributes& a) {
  const std::string text = a.text("most_tiles", "");
  std::string digits;
  for (const char c : text)
    if (c >= '0' && c <= '9') digits += c;
  if (text != "anyres_max_" + digits || digits.empty() || digits.size() > 3) return 0;
  return std::stoll(digits);
}

}  // namespace

std::int64_t BestSize::tokens() const {
  const std::int64_t base = saturating_mul(side, side);
  if (down == 0) return saturating_add(base, 1);
  const std::int64_t height = resized ? less_rows : rows;
  const std::int64_t width = resized ? less_columns : columns;
  return saturating_add(base, saturating_mul(height, saturating_add(width, 1)));
}

BestSize best_size(const Attributes& a, Builder& b) {
  BestSize out;
  const std::int64_t tile = a.integer("image_size");
  out.side = std::max<std::int64_t>(tile / std::max<std::int64_t>(a.integer("patch_size"), 1), 1);
  const Images& i = b.facts.images;
  const bool limited = a.find("most_tiles") != nullptr;
  if (i.count == 0 || (limited && i.count > 1)) return out;
  if (i.height == 0 || i.width == 0) {
    refuse_images(b, "the size of its images decides what it holds, and is not known",
                  "set image_height and image_width: pixels of the pictures themselves.");
    return out;
  }
  const auto height = static_cast<double>(i.height);
  const auto width = static_cast<double>(i.width);
  const Size best = best_of(sizes_of(a.text("sizes", "")), height, width);
  out.down = best.first / tile;
  out.across = best.second / tile;
  unpad(out, height, width);
  if (out.rows < 1 || out.columns < 1) {
    refuse_images(b, "an image of so thin a shape leaves no features", "set image_height and image_width.");
    return {};
  }
  if (!limited) return out;
  const std::int64_t most = most_tiles_of(a);
  if (most == 0) a.unmodelled("an aspect ratio of another kind than anyres_max_…");
  shrink(out, std::max<std::int64_t>(most, 1));
  return out;
}

}  // namespace oomplan::estimator
