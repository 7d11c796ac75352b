#include "calibrated.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "oomplan/calibrate/calibrate.hpp"
#include "oomplan/core/text.hpp"

namespace oomplan::cli {
namespace {

bool is_of(const CardTerms& terms, const Gpu& gpu, const Catalog& catalog) {
  if (lowered(terms.card) == lowered(gpu.title)) return true;
  const Result<Gpu> named = find_gpu(terms.card, catalog);
  return named && named->name == gpu.name && !gpu.compute_capability.empty();
}

Diagnostic note(const CardTerms& terms, const std::string& file, bool torch_said) {
  const std::string context = terms.context ? "a CUDA context of " + to_text(*terms.context) : "no context of its own";
  return {Severity::note,
          "calibrate/applied",
          fmt::format("rests on {} of {}, torch {}: {}, and reserved beyond what is predicted {} and {:.2f} % of the "
                      "tensors; left out in turn they were {:.1f} % off{}",
                      counted(terms.runs, "run"), printable(terms.card), printable(terms.torch), context,
                      to_text(terms.workspaces + terms.residue), 100 * terms.slack, 100 * terms.error_left_out,
                      torch_said ? "" : "; the run's own version of torch is not said, and taken to be that"),
          {file},
          {},
          {}};
}

Diagnostic not_applied(const Gpu& gpu, const std::string& file, std::string why) {
  return {Severity::warning,
          "calibrate/not-applied",
          fmt::format("the calibration is not applied to {}: {}", gpu.title, std::move(why)),
          {file},
          "`oomplan calibrate` fits one from the callback's runs of the card and version",
          {}};
}

}  // namespace

Result<TermsOfCards> terms_for(const std::vector<Gpu>& gpus, const std::string& file, const std::string& torch,
                               const Catalog& catalog, Diagnostics& said) {
  const Result<Document> document = read_document(file);
  if (!document) return document.errors();
  const Result<Calibration> read = read_calibration(*document);
  if (!read) return read.errors();
  const std::string version = minor_version(torch);
  TermsOfCards out;
  for (const Gpu& gpu : gpus) {
    std::vector<CardTerms> of_card;
    for (const CardTerms& terms : read->cards)
      if (is_of(terms, gpu, catalog)) of_card.push_back(terms);
    const auto same = [&](const CardTerms& terms) { return version.empty() || terms.torch == version; };
    const auto count = std::ranges::count_if(of_card, same);
    out.emplace_back();
    if (of_card.empty()) {
      said.push_back(not_applied(gpu, file, "it is of other cards"));
    } else if (count == 0) {
      said.push_back(not_applied(gpu, file, "it is of torch " + printable(of_card.front().torch) + ", not " + version));
    } else if (count > 1) {
      said.push_back(
          not_applied(gpu, file, "it is of several versions of torch; --framework torch==… says which runs"));
    } else {
      out.back() = *std::ranges::find_if(of_card, same);
      said.push_back(note(*out.back(), file, !version.empty()));
    }
  }
  return out;
}

Gpu with_terms(const Gpu& gpu, const CardTerms& terms, Bytes peak) {
  Gpu out = gpu;
  if (terms.context) {
    out.context = *terms.context;
    out.context_source = fmt::format("calibrated from {} of {}", counted(terms.runs, "run"), printable(terms.card));
  }
  out.context += terms.beyond(peak);
  return out;
}

void show_terms(Fit& fit, const CardTerms& terms, Bytes peak) {
  const Bytes beyond = terms.beyond(peak);
  fit.gpu.context -= beyond;
  if (!fit.runtime.empty()) fit.runtime.front().bytes -= beyond;
  fit.runtime.push_back(
      {"calibrated",
       beyond,
       fmt::format("reserved beyond what is predicted, in {} of {}", counted(terms.runs, "run"), printable(terms.card)),
       {}});
  if (!fit.torch) return;
  fit.torch->allocated += terms.workspaces;
  fit.torch->reserved += beyond;
}

}  // namespace oomplan::cli
