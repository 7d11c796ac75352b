// What a model's processor makes of the pictures of a row: the size that each comes to, and how many it is cut into.
#pragma once

#include <optional>

#include "play.hpp"

namespace oomplan::estimator {

/// `images.height` and `images.width` are those of the pictures themselves; what the processor has made already it
/// leaves as it is. Empty where there is a figure. `tiles` that a plan says are not worked out.
std::optional<Diagnostic> hand_over(const OpSpec& processor, const std::string& model, Images& images);

}  // namespace oomplan::estimator
