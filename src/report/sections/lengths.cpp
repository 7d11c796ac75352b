// A run of which only the length of rows is open: the longest that fit, and what a few lengths need.
//
//   cannot be decided on NVIDIA A100 80GB: rows of up to 5,312 tokens fit (74.29 GiB needed)
//     tokens               512      2,048  …
//     needed         19.87 GiB  25.10 GiB  …
#include <fmt/format.h>

#include <string>
#include <vector>

#include "layout.hpp"
#include "numbers.hpp"
#include "oomplan/core/text.hpp"
#include "sections.hpp"

namespace oomplan::report {
namespace {

std::string fitting_text(const Lengths& lengths) {
  if (lengths.none_fits()) return "not even the shortest rows fit";
  const std::string longest = lengths.largest < lengths.most ? ""
                              : lengths.stops                ? ", the longest that the model takes,"
                                                             : ", the longest tried,";
  return fmt::format("rows of up to {} tokens{} fit ({} needed)", with_separators(lengths.largest), longest,
                     oomplan::to_text(lengths.needed));
}

}  // namespace

std::string lengths_section(const Report& report, const ViewOptions& options) {
  std::string out;
  for (const Lengths& lengths : report.found.lengths) {
    const std::string text =
        fmt::format("cannot be decided on {}: nothing says how long rows are; {}", lengths.gpu, fitting_text(lengths));
    out += wrapped(text, 0, 2, options.width) + "\n";
    if (!options.verdict_only) out += numbers_table("tokens", "needed", lengths.points, &LengthPoint::length, options);
  }
  if (!out.empty()) out += wrapped("--set sequence_length=… plays one length", 0, 2, options.width) + "\n";
  return out;
}

}  // namespace oomplan::report
