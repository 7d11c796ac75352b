// Which parameters transformers' Trainer gives weight decay, and which are in a group without.
#pragma once

#include "parameter.hpp"

namespace oomplan::estimator {

/// Trainer.get_decay_parameter_names (trainer.py): none of an nn.LayerNorm, and none with a bias's or a norm's name.
bool decays(const Parameter& parameter);

}  // namespace oomplan::estimator
