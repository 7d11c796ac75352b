// The order in which a model of transformers has its parameters.
#pragma once

#include <vector>

#include "parameter.hpp"

namespace oomplan::estimator {

/// Of parameters in the order of use that of named_parameters(), as far as one rule says it: RMS norms that stand in a
/// block themselves are registered behind its attention and its MLP (modeling_*.py, the decoder layers' __init__), but
/// for a few families; bench/accuracy/registered.py lists both. LayerNorms stay where they are used: GPT-2's and its
/// like are registered so, others' are not.
void order_as_registered(std::vector<Parameter*>& members);

}  // namespace oomplan::estimator
