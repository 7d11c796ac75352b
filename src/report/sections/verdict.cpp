#include <fmt/format.h>

#include <algorithm>

#include "layout.hpp"
#include "oomplan/text.hpp"
#include "sections.hpp"

namespace oomplan::report {
namespace {

std::string fit_line(const Fit& fit, bool colour) {
  const std::string verdict = painted(fit.fits ? "fits" : "does not fit", fit.fits ? Paint::green : Paint::red, colour);
  const std::string rest =
      fit.fits ? "headroom " + oomplan::to_text(fit.headroom) : oomplan::to_text(Bytes(0) - fit.headroom) + " too much";
  return fmt::format("{} on {}: {} needed of {}, {}\n", verdict, fit.gpu.title, oomplan::to_text(fit.needed),
                     oomplan::to_text(fit.gpu.total), rest);
}

Row comparison_row(const Fit& fit) {
  return {{fit.gpu.title},
          {oomplan::to_text(fit.gpu.total), true},
          {oomplan::to_text(fit.needed), true},
          {oomplan::to_text(fit.headroom), true},
          {fit.fits ? "fits" : "does not fit", false, fit.fits ? Paint::green : Paint::red}};
}

std::string comparison(const std::vector<Fit>& fits, bool colour) {
  const auto fitting = std::count_if(fits.begin(), fits.end(), [](const Fit& fit) { return fit.fits; });
  std::vector<Row> rows{{{"GPU"}, {"total", true}, {"needed", true}, {"headroom", true}}};
  for (Cell& cell : rows.front()) cell.paint = Paint::dim;
  for (const Fit& fit : fits) rows.push_back(comparison_row(fit));
  return fmt::format("fits on {} of {} GPUs\n{}", fitting, fits.size(), aligned(rows, colour));
}

}  // namespace

std::string moment_text(const PhasePeak& peak) {
  if (peak.step == 0) return std::string(name_of(peak.phase));
  return fmt::format("{} of step {}", name_of(peak.phase), peak.step);
}

std::string verdict_section(const Report& report, const ViewOptions& options) {
  const PhasePeak& peak = report.found.footprint->peak;
  const std::vector<Fit>& fits = report.found.fits;
  const std::string line = fmt::format("peak {} of tensors, in {}\n", oomplan::to_text(peak.total), moment_text(peak));
  if (fits.empty()) return line;
  return (fits.size() == 1 ? fit_line(fits.front(), options.colour) : comparison(fits, options.colour)) + line;
}

}  // namespace oomplan::report
