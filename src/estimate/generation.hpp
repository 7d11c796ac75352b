// transformers' generate() as TRL's GRPOTrainer calls it (trl 1.16: trainer/grpo_trainer.py, _generate_single_turn;
// transformers 5.23: generation/utils.py, _sample): a token of each row after the other, drawn at random.
#pragma once

#include "recipe.hpp"

namespace oomplan::estimator {

/// Completes `rows` prompts by `completion` tokens each, to rows of as many tokens as `facts` has. All are as long as
/// they may be. What is allocated for a token is the more the later it comes: of the passes after the prompts'
/// the last is played whole, and of those between what some of them leave in the cache.
void generate(Stage& stage, Facts facts, std::int64_t rows, std::int64_t completion);

}  // namespace oomplan::estimator
