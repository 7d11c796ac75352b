// A calibration from --calibration, applied to the cards that it is of.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "oomplan/calibrate/calibration.hpp"
#include "oomplan/catalog/catalog.hpp"
#include "oomplan/report/report.hpp"

namespace oomplan::cli {

/// A card, and the words that ask for it.
struct AskedCard {
  std::string as{};
  Gpu gpu{};
};

/// The terms of each card, in the order of the cards; nothing of one that they are not of.
using TermsOfCards = std::vector<std::optional<CardTerms>>;

/// Reads the calibration and finds the terms of each card. `torch` is the version that the run is said to have, ""
/// where nobody says one. What it rests on, and what does not apply, is said in `said`. Errors: calibrate/bad-profile
/// and those of reading.
Result<TermsOfCards> terms_for(const std::vector<AskedCard>& cards, const std::string& file, const std::string& torch,
                               const Catalog& catalog, Diagnostics& said);

/// The card as the run finds it: its own context, and less by what is reserved beyond what is predicted of tensors that
/// take `peak`.
Gpu with_terms(const Gpu& gpu, const CardTerms& terms, Bytes peak);

/// Puts what with_terms() took off the card into what torch will print, and into a term of its own.
void show_terms(Fit& fit, const CardTerms& terms, Bytes peak);

/// Adds them to what is reserved without a card.
void show_terms(Reserved& reserved, const CardTerms& terms, Bytes peak);

}  // namespace oomplan::cli
