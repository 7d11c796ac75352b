// One config of many whose judgement ends in a bug of ours.
#pragma once

#include <functional>
#include <string>

#include "oomplan/survey/gate.hpp"

namespace oomplan::cli {

/// What `judge` says of `config`; where it throws, an error cli/bug of this config alone.
GateItem guarded(const std::string& config, const std::function<GateItem()>& judge);

/// The same of a config whose judgement ended its process by a signal.
GateItem ended_by(int signal, const std::string& config);

}  // namespace oomplan::cli
