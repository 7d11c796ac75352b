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
                      to_text(terms.residue), 100 * terms.slack, 100 * terms.error_left_out,
                      torch_said ? "" : "; the run's own version of torch is not said, and taken to be that"),
          {file},
          {},
          {}};
}

Diagnostic not_applied(const std::string& to, const std::string& file, std::string why) {
  return {Severity::warning,
          "calibrate/not-applied",
          fmt::format("the calibration is not applied{}: {}", to, std::move(why)),
          {file},
          "`oomplan calibrate` fits one from the callback's runs of the card and version",
          {}};
}

bool same_text(const std::string& one, const std::string& other) { return lowered(one) == lowered(other); }

/// Those of the card; where some have its very name, these alone.
std::vector<CardTerms> terms_of(const AskedCard& card, const Calibration& calibration, const Catalog& catalog) {
  std::vector<CardTerms> out;
  for (const CardTerms& terms : calibration.cards)
    if (is_of(terms, card.gpu, catalog)) out.push_back(terms);
  for (const std::string& name : {card.as, card.gpu.title}) {
    const auto other = [&](const CardTerms& terms) { return !same_text(terms.card, name); };
    if (!std::ranges::all_of(out, other)) std::erase_if(out, other);
  }
  return out;
}

/// Why none of several is taken.
std::string ambiguous(const std::vector<CardTerms>& found) {
  const CardTerms& first = found.front();
  const auto all = [&](auto field) {
    return std::ranges::all_of(found, [&](const CardTerms& one) { return one.*field == first.*field; });
  };
  if (!all(&CardTerms::torch)) return "it is of several versions of torch; --framework torch==… says which runs";
  if (all(&CardTerms::card)) return "it has " + printable(first.card) + ", torch " + printable(first.torch) + ", twice";
  std::string names;
  for (const CardTerms& one : found) names += (names.empty() ? "" : ", ") + printable(one.card);
  return "it is of several such cards; --gpu with the whole name says which: " + names;
}

}  // namespace

Result<TermsOfCards> terms_for(const std::vector<AskedCard>& cards, const std::string& file, const std::string& torch,
                               const Catalog& catalog, Diagnostics& said) {
  const Result<Document> document = read_document(file);
  if (!document) return document.errors();
  const Result<Calibration> read = read_calibration(*document);
  if (!read) return read.errors();
  if (cards.empty()) {
    said.push_back(not_applied("", file, "no GPU is named"));
    said.back().hint = "name the card with --gpu";
  }
  const std::string version = minor_version(torch);
  TermsOfCards out;
  for (const AskedCard& card : cards) {
    std::vector<CardTerms> found = terms_of(card, *read, catalog);
    const auto refuse = [&](std::string why) {
      said.push_back(not_applied(" to " + card.gpu.title, file, std::move(why)));
    };
    const std::string of_torch = found.empty() ? "" : found.front().torch;
    out.emplace_back();
    if (found.empty()) {
      refuse("it is of other cards");
      continue;
    }
    std::erase_if(found, [&](const CardTerms& terms) { return !version.empty() && terms.torch != version; });
    if (found.empty()) {
      refuse("it is of torch " + printable(of_torch) + ", not " + version);
    } else if (found.size() > 1) {
      refuse(ambiguous(found));
    } else {
      out.back() = std::move(found.front());
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
      {std::string(calibrated_term),
       beyond,
       fmt::format("reserved beyond what is predicted, in {} of {}", counted(terms.runs, "run"), printable(terms.card)),
       {}});
  if (!fit.torch) return;
  fit.torch->reserved += beyond;
  fit.torch->allocated = std::min(fit.torch->allocated + terms.workspaces, fit.torch->reserved);
}

void show_terms(Reserved& reserved, const CardTerms& terms, Bytes peak) {
  const Bytes beyond = terms.beyond(peak);
  for (Bytes* size : {&reserved.peak, &reserved.smallest, &reserved.smallest_usual})
    if (!size->saturated()) *size += beyond;
  if (!reserved.allocated.saturated())
    reserved.allocated = std::min(reserved.allocated + terms.workspaces, reserved.peak);
}

}  // namespace oomplan::cli
