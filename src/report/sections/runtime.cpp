#include <fmt/format.h>

#include <algorithm>

#include "layout.hpp"
#include "oomplan/core/text.hpp"
#include "sections.hpp"

namespace oomplan::report {
namespace {

/// Columns for a source beside size and name; with fewer it goes below them.
constexpr std::size_t least_source = 40;

/// Size and name in columns, the source wrapped beside them.
std::string terms_of(const Fit& fit, std::size_t width) {
  std::size_t names = 0;
  for (const RuntimeTerm& term : fit.runtime) names = std::max(names, term.name.size());
  std::string out = fmt::format("Beside the tensors on {}\n", fit.gpu.title);
  for (const RuntimeTerm& term : fit.runtime) {
    const std::string head = fmt::format("  {:>10}  {:{}}  ", oomplan::to_text(term.bytes), term.name, names);
    if (head.size() + least_source > width) {
      out += head + "\n      " + wrapped(term.source, 6, 6, width) + "\n";
    } else {
      out += head + wrapped(term.source, head.size(), head.size(), width) + "\n";
    }
  }
  return out;
}

}  // namespace

std::string runtime_section(const Report& report, const ViewOptions& options) {
  std::string out;
  for (const Fit& fit : report.found.fits) {
    if (!fit.runtime.empty()) out += terms_of(fit, options.width);
  }
  return out;
}

}  // namespace oomplan::report
