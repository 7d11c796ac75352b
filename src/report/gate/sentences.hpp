// What a gate says of a config, in the same words in every format.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "oomplan/survey/gate.hpp"

namespace oomplan::report::gate {

/// "does not fit".
std::string_view words_of(GateVerdict verdict);

/// Why the verdict is what it is, without the config's name: each error, with its hint, and with its place where that
/// is not place_of(). Each fit for a terminal, and one line.
std::vector<std::string> reasons_of(const GateItem& item);

/// The same in one line.
std::string reason_of(const GateItem& item);

/// What there is to see in the config itself; its first line where that is in another file.
Location place_of(const GateItem& item);

/// "configs/a.yml:3: what is wrong [code] (hint)", in one line and fit for a terminal.
std::string placed_sentence(const Diagnostic& problem);

/// The same without the place.
std::string sentence_of(const Diagnostic& problem);

/// "adds 6.20 GiB to the peak: sequence_len 4096 → 8192"; empty where there is nothing to say.
std::string growth_of(const GateItem& item);

/// "3 configs: 2 fit, 1 does not fit".
std::string summary_of(const Gate& gate);

/// Of the card that decides: one that it does not fit on, the one with the least to spare else. Null where there is
/// none.
const GateCheck* tightest(const GateItem& item);

/// Whether the config passes.
constexpr bool passes(GateVerdict verdict) { return verdict == GateVerdict::fits || verdict == GateVerdict::allowed; }

}  // namespace oomplan::report::gate
