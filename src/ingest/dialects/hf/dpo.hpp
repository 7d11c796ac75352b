// TRL's DPOTrainer (trl 1.16.0: trainer/dpo_config.py, dpo_trainer.py).
#pragma once

#include "../../dialect.hpp"
#include "keys.hpp"

namespace oomplan::ingestion::hf {

/// Keys that plan_dpo() reads tell another script where it is not DPO's.
void note_dpo_keys(const Hf& hf, Draft& draft);

/// What a DPO plan has beside what all of TRL's trainers share; needs the adapter and evaluation. Of the keys that tell
/// another trainer than SFT, those that are DPO's own are no gap of its plan.
void plan_dpo(const Hf& hf, const Inputs& inputs, Draft& draft);

}  // namespace oomplan::ingestion::hf
