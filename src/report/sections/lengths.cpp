// A run of which only the length of rows is open: the longest that fit, and what a few lengths need.
//
//   cannot be decided on NVIDIA A100 80GB: rows of up to 5,312 tokens fit (74.29 GiB needed)
//     tokens               512      2,048  …
//     needed         19.87 GiB  25.10 GiB  …
#include <string>

#include "layout.hpp"
#include "numbers.hpp"
#include "sections.hpp"

namespace oomplan::report {
std::string lengths_section(const Report& report, const ViewOptions& options) {
  std::string out;
  for (const Lengths& lengths : report.found.lengths) {
    const std::string text =
        "cannot be decided on " + lengths.gpu + ": nothing says how long rows are; " + fitting_text(lengths);
    out += wrapped(text, 0, 2, options.width) + "\n";
    if (!options.verdict_only) out += numbers_table("tokens", "needed", lengths.points, &LengthPoint::length, options);
  }
  if (!out.empty()) out += wrapped("--set sequence_length=… plays one length", 0, 2, options.width) + "\n";
  return out;
}

}  // namespace oomplan::report
