// What transformers' TrainingArguments say of a plan, for the dialects of scripts that take them.
#pragma once

#include "../../arguments.hpp"
#include "../../saying.hpp"

namespace oomplan::ingestion::trainer {

/// optim and optim_args.
void plan_optimizer(const Arguments& args, TrainingPlan& plan);
/// max_grad_norm, by which nothing is clipped where it is 0.
void plan_clipping(const Arguments& args, Setting<bool>& clips);
/// neftune_noise_alpha, by which noise is added whatever it is, 0 as well.
void plan_noise(const Arguments& args, Setting<bool>& noise);

// Back to keys.
Said optim(const TrainingPlan& plan);
Said optim_args(const TrainingPlan& plan);
Said max_grad_norm(const TrainingPlan& plan);
Said neftune_noise_alpha(const TrainingPlan& plan);
Said bf16(const TrainingPlan& plan);
Said fp16(const TrainingPlan& plan);
Said streaming(const TrainingPlan& plan);
/// bitsandbytes' kind of 4 bits, where it is not the default.
Said four_bit_kind(const TrainingPlan& plan);

}  // namespace oomplan::ingestion::trainer
