#include "oomplan/core/text.hpp"

#include <fmt/format.h>

#include "../layout.hpp"
#include "oomplan/report/calibration_view.hpp"

namespace oomplan {
namespace {

std::string named(const std::string& card, const std::string& torch, std::int64_t runs) {
  return fmt::format("{}, torch {}: {}", printable(card), printable(torch), counted(runs, "run"));
}

/// A line of its own, broken at blanks.
std::string line(const std::string& text, std::size_t indent, std::size_t width) {
  return std::string(indent, ' ') + report::wrapped(text, indent, indent + 2, width) + "\n";
}

std::string terms_text(const CardTerms& one, std::size_t width) {
  std::string out = line(named(one.card, one.torch, one.runs), 0, width);
  out += line("CUDA context " + (one.context ? to_text(*one.context) : "not measured: the catalog's figure stays"), 2,
              width);
  if (one.contradict)
    out += line("in what is reserved they contradict one another: only the context is fitted", 2, width);
  out += line(fmt::format("beyond what is predicted: allocated {}, reserved {} and {:.2f} % of the tensors",
                          to_text(one.workspaces), to_text(one.residue), 100 * one.slack),
              2, width);
  out += line(fmt::format("median error of the reserved peak: {:.2f} % as predicted, {:.2f} % with these, {:.2f} % of "
                          "each run by the others",
                          100 * one.error_before, 100 * one.error_fitted, 100 * one.error_left_out),
              2, width);
  return out;
}

std::string unfitted_text(const Unfitted& one, std::size_t width) {
  const std::string head = named(one.card, one.torch, one.runs);
  if (one.why == WhyUnfitted::too_few) return line(head + ": too few, so there are no terms", 0, width);
  const std::string_view why = one.why == WhyUnfitted::contradict
                                   ? "they contradict one another"
                                   : "what they measured is beyond the limits of a calibration";
  return line(fmt::format("{}: {}, so there are no terms", head, why), 0, width) +
         line(
             fmt::format("median error of the reserved peak: {:.2f} % as predicted, {:.2f} % of each run by the others",
                         100 * one.error_before, 100 * one.error_left_out),
             2, width);
}

}  // namespace

std::string calibration_text(const Calibration& found, std::size_t width) {
  std::string out;
  for (const CardTerms& one : found.cards) out += terms_text(one, width);
  for (const Unfitted& one : found.unfitted) out += unfitted_text(one, width);
  if (found.cards.empty() && found.unfitted.empty())
    out += line("there is no run of which enough is recorded", 0, width);
  if (found.left_out > 0)
    out += line(counted(found.left_out, "run") + " left out: no prediction, no card, or no step measured", 0, width);
  if (found.torn) out += line("the last line breaks off, and is left out", 0, width);
  return out;
}

}  // namespace oomplan
