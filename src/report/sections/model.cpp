#include <fmt/format.h>

#include "layout.hpp"
#include "oomplan/text.hpp"
#include "sections.hpp"

namespace oomplan::report {

std::string model_section(const Report& report, const ViewOptions&) {
  const Footprint& footprint = *report.found.footprint;
  std::string out;
  if (report.found.architecture) {
    const Architecture& model = *report.found.architecture;
    out = fmt::format("{} ({}, {} layers): ", printable(model.source), printable(model.model_type), model.layers);
  }
  out += fmt::format("{} parameters, {} trained", with_separators(footprint.parameters),
                     with_separators(footprint.trainable_parameters));
  return wrapped(out, 0, 2) + "\n";
}

}  // namespace oomplan::report
