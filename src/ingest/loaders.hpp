// What loaders of frameworks do by a model's architecture.
#pragma once

#include <string_view>

#include "oomplan/catalog/architecture.hpp"
#include "oomplan/plan/plan.hpp"

namespace oomplan::ingestion {

/// Whether a layer has the op, with the attribute where one is named.
bool has_op(const Architecture& model, std::string_view op, std::string_view attribute = {});

/// Of a framework that loads models by code of its own: what it freezes and adapts of a model that sees images, and the
/// class that it loads of one for another task than causal language modelling, give no estimate yet.
void leave_own_loading(TrainingPlan& plan, const Architecture& model);

/// The second of the two alone.
void leave_own_task(TrainingPlan& plan, const Architecture& model);

}  // namespace oomplan::ingestion
