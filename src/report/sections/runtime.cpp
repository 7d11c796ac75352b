#include <fmt/format.h>

#include "layout.hpp"
#include "oomplan/text.hpp"
#include "sections.hpp"

namespace oomplan::report {
namespace {

std::string terms_of(const Fit& fit, bool colour) {
  std::vector<Row> rows;
  for (const RuntimeTerm& term : fit.runtime) {
    rows.push_back({{oomplan::to_text(term.bytes), true}, {term.name}, {term.source, false, Paint::dim}});
  }
  return fmt::format("Beside the tensors on {}\n", fit.gpu.title) + aligned(rows, colour);
}

}  // namespace

std::string runtime_section(const Report& report, const ViewOptions& options) {
  std::string out;
  for (const Fit& fit : report.found.fits) {
    if (!fit.runtime.empty()) out += terms_of(fit, options.colour);
  }
  return out;
}

}  // namespace oomplan::report
