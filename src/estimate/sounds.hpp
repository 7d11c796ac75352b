// What a model's processor makes of the sounds of a row: how many frames each comes to.
#pragma once

#include <optional>

#include "play.hpp"

namespace oomplan::estimator {

/// Fills in `frames`, `room` and `tokens` of sounds that are so long. Empty where there is a figure.
std::optional<Diagnostic> hear(const OpSpec& processor, const std::string& model, std::int64_t milliseconds,
                               Images& sounds);

}  // namespace oomplan::estimator
