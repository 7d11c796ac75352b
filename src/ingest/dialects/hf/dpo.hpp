// TRL's DPOTrainer (trl 1.16.0: trainer/dpo_config.py, dpo_trainer.py).
#pragma once

#include "../../dialect.hpp"

namespace oomplan::ingestion::hf {

/// What a DPO plan has beside what all of TRL's trainers share; needs the adapter and evaluation. Of the keys that tell
/// another trainer than SFT, those that are DPO's own are no gap of its plan.
void plan_dpo(const Arguments& hf, const Inputs& inputs, const Stack& stack, Draft& draft);

}  // namespace oomplan::ingestion::hf
