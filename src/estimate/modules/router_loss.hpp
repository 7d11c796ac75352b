// The load-balancing loss of a mixture's routers, of Switch Transformers (arXiv 2101.03961, equations 4 to 6).
#pragma once

#include "play.hpp"

namespace oomplan::estimator {

/// transformers 5.23.0: load_balancing_loss_func of models/mixtral/modeling_mixtral.py, which the other mixtures share.
/// `masked`: the model was given an attention mask, by which tokens count. Leaves a number.
Tensor router_loss(Torch& t, const RouterLogits& collected, bool masked);

}  // namespace oomplan::estimator
