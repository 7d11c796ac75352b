// Models of Axolotl that see images: rows that a processor collates, and what is frozen of them.
#pragma once

#include "../../arguments.hpp"
#include "../../dialect.hpp"

namespace oomplan::ingestion::axolotl {

/// Whether its collator makes a batch by the model's processor (axolotl 0.18.0: core/builders/causal.py).
bool sees_images(const Arguments& a);

/// How many images a row has, how large they are and how long the row is, only the data say: each is a fact that is
/// missing until it is given.
void plan_images(const Arguments& a, Draft& draft, const Document& document);

/// freeze_mm_modules (axolotl 0.18.0: utils/freeze.py).
void plan_frozen_towers(const Arguments& a, TrainingPlan& plan);

}  // namespace oomplan::ingestion::axolotl
