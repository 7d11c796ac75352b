// rl and reward_model: TRL's trainers as Axolotl starts them.
#pragma once

#include "../../dialect.hpp"

namespace oomplan::ingestion::axolotl {

/// Whether `rl` asks for anything; normalize_config and the builders look at that alone.
bool is_rl(const Inputs& inputs);

/// The recipe of the plan's trainer, and what that makes of facts that other keys say. Nothing where the trainer is
/// transformers' own.
void plan_preference(const Arguments& axolotl, const Inputs& inputs, const Stack& stack, Draft& draft);

/// What Axolotl and TRL stop at.
void check_preference(const Inputs& inputs, Draft& draft, const Document& document);

}  // namespace oomplan::ingestion::axolotl
