// GRPOTrainer under Unsloth.
#pragma once

#include "../../arguments.hpp"
#include "../../dialect.hpp"

namespace oomplan::ingestion::unsloth {

/// Unsloth's GRPOConfig over trl 0.22.2's (models/rl.py, rl_replacements.py), whose completions vLLM writes that
/// shares the policy's weights. `origin`: of a fact that its sources decide.
void plan_rollouts(const Arguments& args, Draft& draft, const Document& document, const Origin& own);

}  // namespace oomplan::ingestion::unsloth
