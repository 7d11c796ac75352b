// What derive.cpp takes of the other files of the dialect.
#pragma once

#include <span>
#include <string_view>

#include "../../arguments.hpp"
#include "../../dialect.hpp"
#include "../../saying.hpp"

namespace oomplan::ingestion::hf {

// What is said of Hugging Face's keys beside keys.yaml.

/// The feature that a key of another trainer of TRL asks for.
inline constexpr std::string_view other_training = "preference, RL or distillation training";

std::span<const Feature> features();

// Whose trainer reads a Hugging Face config.

/// As the file, the command line or the launch command says it; else by a key that only one of them has; else SFT,
/// assumed. Keys of two that exclude each other are a missing fact (ingest/ambiguous-trainer).
Setting<std::string> trainer_of(const Arguments& hf, const Inputs& inputs, Draft& draft);

/// Who reads the keys of lengths: one of TRL's trainers, and whether its version has max_seq_length.
struct Reader {
  bool sft = false;
  bool old_length = false;
};

/// Notes, as a missing fact (ingest/unused-key), each key that sets the rows' length or their packing and that this
/// trainer does not read, unless its rows are of that `length` anyway.
void note_unused(const Inputs& inputs, const Reader& reader, std::int64_t length, Draft& draft);

// TRL's trainers of preferences that are played: DPO, ORPO, CPO, KTO and reward models (trl 1.16.0: trainer and
// experimental, each trainer's config and trainer).

/// What such a plan has beside what all of TRL's trainers share; needs the adapter and evaluation. Of the keys that
/// tell another trainer than SFT, those that are the trainer's own are no gap of its plan. Nothing for other trainers.
void plan_preference(const Arguments& hf, const Inputs& inputs, const Stack& stack, Draft& draft);

/// What these trainers refuse.
void check_preference(const Arguments& hf, const Inputs& inputs, Draft& draft, const Document& document);

// TRL's GRPO, whose rows are prompts with completions that are generated (trl 1.16.0: trainer/grpo_config.py and
// grpo_trainer.py).

/// What such a plan has beside what plan_preference() gives all. No key says how long prompts are, so that the rows'
/// length is left at 0.
void plan_rollouts(const Inputs& inputs, const Stack& stack, Draft& draft);

/// What GRPOConfig refuses, and values that are none.
void check_rollouts(const Inputs& inputs, Draft& draft, const Document& document);

// What the frameworks refuse together.

/// Errors: ingest/conflict, for what TrainingArguments, ModelConfig or TRL's SFTTrainer stop at before a step is made.
void check_refused(const Arguments& hf, const Inputs& inputs, bool sft, Draft& draft, const Document& document);

// How HF's keys say what derive.cpp makes of more than one.

std::span<const Saying> sayings();

}  // namespace oomplan::ingestion::hf
