// What the screen leaves out, and how to see it.
#include <fmt/format.h>

#include <algorithm>

#include "layout.hpp"
#include "oomplan/core/text.hpp"
#include "sections.hpp"

namespace oomplan::report {
namespace {

std::string hidden_parts(const TextParts& parts) {
  std::string out;
  const auto add = [&](bool shown, std::string_view flag) {
    if (!shown) out += (out.empty() ? "" : ", ") + std::string(flag);
  };
  add(parts.phases, "--phases");
  add(parts.largest, "--largest");
  add(parts.assumptions, "--assumptions");
  return out;
}

bool is_given(const Fact& fact) { return fact.origin.is_said(); }

std::string recipe_text(const Findings& found) {
  if (found.recipe.empty()) return {};
  return "no config but `" + printable(found.recipe) + "` (--method, --batch, --length and --set change it), ";
}

}  // namespace

std::string more_section(const Report& report, const ViewOptions& options) {
  const std::string hidden = hidden_parts(options.parts);
  if (hidden.empty()) return {};
  std::string out;
  if (!options.parts.assumptions) {
    const auto given = std::ranges::count_if(report.facts, is_given);
    out = fmt::format("It rests on {}{} facts that were given and {} that were not. ", recipe_text(report.found), given,
                      std::ssize(report.facts) - given);
  }
  return wrapped(out + "More: " + hidden + (hidden.find(',') == std::string::npos ? "." : ", or --all."), 0, 2,
                 options.width) +
         "\n";
}

}  // namespace oomplan::report
