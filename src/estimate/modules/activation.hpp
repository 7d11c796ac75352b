// transformers/activations.py: ACT2FN, by the name that a model's config gives.
#pragma once

#include <string_view>

#include "play.hpp"

namespace oomplan::estimator {

/// Takes its input by value, as Python's call holds it: the caller's expression may have no other reference.
using Activation = Tensor (*)(Torch&, const Tensor&);

/// The activation of that name; an unknown one is a problem of the builder's.
Activation find_activation(std::string_view name, Builder& builder);

}  // namespace oomplan::estimator
