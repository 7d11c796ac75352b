// LoRA targets of a mixture of experts.
#pragma once

#include "play.hpp"

namespace oomplan::estimator {

/// Whether peft makes parameters of some of the targets, since the experts' modules of that name became parts of one.
/// They are taken from the facts' modules and put to its parameters.
/// peft/utils/transformers_weight_conversion.py: _convert_peft_config_moe.
void name_experts(const Architecture& architecture, Facts& facts);

/// What peft refuses of the plan's targets, or nothing.
std::string refused_targets(const TrainingPlan& plan, const Architecture& architecture);

}  // namespace oomplan::estimator
