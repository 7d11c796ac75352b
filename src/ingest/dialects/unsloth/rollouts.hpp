// GRPOTrainer under Unsloth.
#pragma once

#include <cstdint>
#include <optional>

#include "../../arguments.hpp"
#include "../../dialect.hpp"

namespace oomplan::ingestion::unsloth {

/// Unsloth's GRPOConfig over trl 0.22.2's (models/rl.py, rl_replacements.py), whose completions vLLM writes that
/// shares the policy's weights. `origin`: of a fact that its sources decide. `whole`: tokens of a row, where the
/// script leaves to completions what prompts, whose length is not read, leave of it.
void plan_rollouts(const Arguments& args, const std::optional<Setting<std::int64_t>>& whole, Draft& draft,
                   const Document& document, const Origin& own);

/// Takes `max_completion_length = n - max_prompt_length` from the inputs, where the prompts' is an expression.
std::optional<Setting<std::int64_t>> take_whole_rows(Inputs& inputs);

}  // namespace oomplan::ingestion::unsloth
