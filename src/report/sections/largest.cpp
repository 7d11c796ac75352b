#include <fmt/format.h>

#include <algorithm>

#include "group.hpp"
#include "layout.hpp"
#include "oomplan/core/text.hpp"
#include "sections.hpp"

namespace oomplan::report {
namespace {

constexpr std::size_t shown = 10;

std::string remainder(const std::vector<LiveGroup>& groups) {
  if (groups.size() <= shown) return {};
  Bytes rest;
  for (std::size_t i = shown; i < groups.size(); ++i) rest += groups[i].bytes;
  return fmt::format("  and {} smaller groups, {} together (--json has them all)\n", groups.size() - shown,
                     oomplan::to_text(rest));
}

}  // namespace

std::string largest_section(const Report& report, const ViewOptions& options) {
  const Footprint& footprint = *report.found.footprint;
  const std::vector<LiveGroup>& groups = footprint.at_peak;
  const Unit unit = unit_for(footprint.peak.total);
  std::vector<Row> rows{group_heading(unit)};
  for (std::size_t i = 0; i < std::min(shown, groups.size()); ++i) rows.push_back(group_row(groups[i], unit));
  return "Largest at the peak\n" + folded(rows, options.colour, options.width) +
         wrapped(remainder(groups), 0, 4, options.width);
}

}  // namespace oomplan::report
