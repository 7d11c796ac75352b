// Runs a compiled sentence over a text. Every hole is typed or bounded and the steps are counted, so that no text,
// however made, takes more than a fixed time a byte.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "oomplan/diagnose/evidence.hpp"
#include "program.hpp"

namespace oomplan::diagnose {

struct Match {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::vector<Reading> facts{};
};

/// What came of trying at one place. `wants_more`: the text ended where the sentence might have gone on, so that the
/// next line of the log may complete it, or add to a match.
struct Attempt {
  std::optional<Match> match{};
  bool wants_more = false;
};

/// `text` may hold '\n' where lines were joined: such a break may stand anywhere in a literal or a number, as terminals
/// and tables break lines, and counts as white space too. `program` must begin at `begin`.
Attempt match_at(const Program& program, std::string_view text, std::size_t begin,
                 Letters letters = Letters::as_written);

/// The sentence in `text`, knowing that one of its literals is at `near`; the longest where there are several.
Attempt match_around(const Program& program, std::string_view text, std::size_t near,
                     Letters letters = Letters::as_written);

}  // namespace oomplan::diagnose
