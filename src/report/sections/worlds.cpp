// A run of which only the number of GPUs is open: what a few numbers need of each.
//
//   cannot be decided on NVIDIA A100 80GB: nothing says how many GPUs there are; it fits on 4, 8
//     GPUs  needed of each
//        2      > 91.20 GiB  does not fit
//        4        61.39 GiB  fits
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "layout.hpp"
#include "numbers.hpp"
#include "oomplan/core/text.hpp"
#include "sections.hpp"

namespace oomplan::report {
namespace {

std::string fitting_text(const Worlds& worlds) {
  std::vector<std::int64_t> fitting;
  for (const WorldPoint& point : worlds.points)
    if (point.fits) fitting.push_back(point.gpus);
  if (fitting.empty()) return "it does not fit on " + std::to_string(worlds.points.back().gpus);
  return fmt::format("it fits on {}", fmt::join(fitting, ", "));
}

}  // namespace

std::string worlds_section(const Report& report, const ViewOptions& options) {
  std::string out;
  for (const Worlds& worlds : report.found.worlds) {
    const std::string text = fmt::format("cannot be decided on {}: nothing says how many GPUs there are; {}",
                                         worlds.title, fitting_text(worlds));
    out += wrapped(text, 0, 2, options.width) + "\n";
    if (!options.verdict_only)
      out += numbers_table("GPUs", "needed of each", worlds.points, &WorldPoint::gpus, options);
  }
  if (out.empty()) return out;
  const Worlds& first = report.found.worlds.front();
  return out +
         wrapped(fmt::format("--gpu {}x{} plays one number", first.points.back().gpus, first.gpu), 0, 2,
                 options.width) +
         "\n";
}

}  // namespace oomplan::report
