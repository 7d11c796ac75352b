// What a gate says of a config, in the same words in every format.
#pragma once

#include <string>
#include <string_view>

#include "oomplan/gate.hpp"

namespace oomplan::report::gate {

/// "does not fit".
std::string_view words_of(GateVerdict verdict);

/// The verdict with its reason, without the config's name. Fit for a terminal, and one line.
std::string reason_of(const GateItem& item);

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
