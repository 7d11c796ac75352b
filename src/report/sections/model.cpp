#include <fmt/format.h>

#include "layout.hpp"
#include "oomplan/core/text.hpp"
#include "sections.hpp"

namespace oomplan::report {
namespace {

/// What the config was taken for, so that a wrong guess shows.
std::string reading(const Report& report, std::size_t width) {
  if (!report.found.plan) return {};
  const TrainingPlan& plan = *report.found.plan;
  return wrapped(fmt::format("read as {}, with the defaults of {}", plan.dialect, printable(plan.framework)), 0, 2,
                 width) +
         "\n";
}

}  // namespace

std::string model_section(const Report& report, const ViewOptions& options) {
  const Footprint& footprint = *report.found.footprint;
  std::string out;
  if (report.found.architecture) {
    const Architecture& model = *report.found.architecture;
    const std::string layers = model.layers > 0 ? fmt::format(", {} layers", model.layers) : "";
    out = fmt::format("{} ({}{}): ", printable(model.source), printable(model.model_type), layers);
  }
  if (options.terse >= 3) return reading(report, options.width);
  out += fmt::format("{} parameters, {} trained", with_separators(footprint.parameters),
                     with_separators(footprint.trainable_parameters));
  return wrapped(out, 0, 2, options.width) + "\n" + reading(report, options.width);
}

}  // namespace oomplan::report
