// What lies beyond an estimate's verdict.
#pragma once

#include <cstddef>

#include "answer.hpp"
#include "oomplan/catalog/catalog.hpp"
#include "oomplan/read/document.hpp"
#include "oomplan/report/outlook.hpp"
#include "replays.hpp"

namespace oomplan::cli {

/// What it is worked out of; all outlive it.
struct OutlookInputs {
  const Question& question;
  const Document& document;
  const Catalog& catalog;
};

/// Replays of more events than this take seconds, of which a search takes some tens.
inline constexpr std::size_t most_events = 2'000'000;

/// Of a run that was held against its cards: `room` and `lever` where there is one that decided it, `cards` where there
/// is one at most (alone, where the question wants no more); else, and where a replay is of more than `most_events`,
/// all is empty. Plays on several threads.
Outlook outlook_of(const Findings& findings, Replays& replays, const OutlookInputs& inputs);

}  // namespace oomplan::cli
