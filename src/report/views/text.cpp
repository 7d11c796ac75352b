// For people: the verdict, then the table, then what it rests on.
//
//   fits on NVIDIA GeForce RTX 4090: 9.62 GiB needed of 23.52 GiB, headroom 13.90 GiB
//   peak in backward of step 2
//
//   GiB        load  forward   loss  backward  optimizer_step  between
//   weights    5.31     5.31   5.31      5.31            5.31     5.31
//   …
//   total      5.80     7.01   8.92    9.62 *            6.20     6.20
#include "../sections.hpp"
#include "../view.hpp"

namespace oomplan::report::views {

std::string text(const Report& report, const ViewOptions& options) {
  if (!report.found.footprint) return host_section(report, options);
  std::string out;
  for (auto section : {verdict_section, model_section, phases_section, largest_section, runtime_section, host_section,
                       facts_section, limits_section}) {
    const std::string part = section(report, options);
    if (!part.empty()) out += (out.empty() ? "" : "\n") + part;
  }
  return out;
}

}  // namespace oomplan::report::views
