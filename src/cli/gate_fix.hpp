// The cheapest change that the gate passes, for what shows it beside a config that does not fit.
#pragma once

#include <functional>
#include <optional>

#include "oomplan/advise/advise.hpp"
#include "oomplan/survey/survey.hpp"

namespace oomplan::cli {

/// What the gate says of the config with another text.
using JudgeAgain = std::function<GateVerdict(const Document&)>;

/// The cheapest change of a config that does not fit, on the card that lacks most, where the config alone says it and
/// `judge` then lets it pass on all cards of the rule; nothing else.
std::optional<GateFix> gate_fix(const GateItem& item, const GateRule& rule, const Document& document,
                                const GateQuestion& question, const Ladder& ladder, const JudgeAgain& judge);

}  // namespace oomplan::cli
