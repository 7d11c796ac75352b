#include "oomplan/core/text.hpp"

#include <fmt/format.h>

#include "oomplan/report/calibration_view.hpp"

namespace oomplan {
namespace {

std::string named(const std::string& card, const std::string& torch, std::int64_t runs) {
  return fmt::format("{}, torch {}: {}", printable(card), printable(torch), counted(runs, "run"));
}

std::string terms_text(const CardTerms& one) {
  std::string out = named(one.card, one.torch, one.runs) + "\n";
  out += fmt::format("  CUDA context {}\n",
                     one.context ? to_text(*one.context) : "not measured: the catalog's figure stays");
  if (one.contradict) out += "  in what is reserved they contradict one another: only the context is fitted\n";
  out += fmt::format("  beyond what is predicted: {} allocated, and {} and {:.2f} % of the tensors reserved\n",
                     to_text(one.workspaces), to_text(one.residue), 100 * one.slack);
  out += fmt::format(
      "  median error of the reserved peak: {:.2f} % as predicted, {:.2f} % with these, {:.2f} % of each run by the "
      "others\n",
      100 * one.error_before, 100 * one.error_fitted, 100 * one.error_left_out);
  return out;
}

std::string unfitted_text(const Unfitted& one) {
  const std::string head = named(one.card, one.torch, one.runs);
  if (!one.contradict) return head + ": too few, so there are no terms\n";
  return fmt::format(
      "{}: they contradict one another, so there are no terms\n"
      "  median error of the reserved peak: {:.2f} % as predicted, {:.2f} % of each run by the others\n",
      head, 100 * one.error_before, 100 * one.error_left_out);
}

}  // namespace

std::string calibration_text(const Calibration& found) {
  std::string out;
  for (const CardTerms& one : found.cards) out += terms_text(one);
  for (const Unfitted& one : found.unfitted) out += unfitted_text(one);
  if (found.cards.empty() && found.unfitted.empty()) out += "there is no run of which enough is recorded\n";
  if (found.left_out > 0)
    out += counted(found.left_out, "run") + " left out: no prediction, no card, or nothing measured\n";
  return out;
}

}  // namespace oomplan
