// TRL's trainers of preferences that are played: DPO, ORPO, CPO, KTO and reward models (trl 1.16.0: trainer and
// experimental, each trainer's config and trainer).
#pragma once

#include "../../dialect.hpp"

namespace oomplan::ingestion::hf {

/// What such a plan has beside what all of TRL's trainers share; needs the adapter and evaluation. Of the keys that
/// tell another trainer than SFT, those that are the trainer's own are no gap of its plan. Nothing for other trainers.
void plan_preference(const Arguments& hf, const Inputs& inputs, const Stack& stack, Draft& draft);

/// What these trainers refuse.
void check_preference(const Arguments& hf, const Inputs& inputs, Draft& draft, const Document& document);

}  // namespace oomplan::ingestion::hf
