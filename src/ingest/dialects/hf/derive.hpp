// What derive.cpp takes of the other files of the dialect.
#pragma once

#include <algorithm>
#include <optional>
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
/// Where it is assumed, a key that only TRL's other trainers have is that missing fact too, in place of being not
/// played.
void ask_for_trainer(const Inputs& inputs, Draft& draft);

/// What keys of transformers' examples say of what the model is trained for.
void plan_head(const Inputs& inputs, TrainingPlan& plan);

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
void check_rollouts(const Arguments& hf, const Inputs& inputs, Draft& draft, const Document& document);

// TRL's GKD, which distils a teacher into the model (trl 1.16.0: experimental/gkd, and its examples/scripts/gkd.py).

/// What such a plan has beside what plan_preference() gives all.
void plan_distillation(const Arguments& hf, const Inputs& inputs, const Stack& stack, Draft& draft);

/// What GKDConfig and GKDTrainer refuse, and values that are none.
void check_distillation(const Arguments& hf, const Inputs& inputs, Draft& draft, const Document& document);

/// What a trainer's config is given and SFTConfig has not, so that no table of arguments reads it. Without a value also
/// where it is none that `codec` reads.
template <class T>
Arg<T> given(const Inputs& inputs, std::string_view key, std::string_view codec) {
  const auto found = std::ranges::find(inputs, key, &Input::key);
  if (found == inputs.end()) return {};
  const std::optional<FactValue> value = find_codec(codec)->read(*found->value);
  const Held<T>* read = value ? std::get_if<Held<T>>(&*value) : nullptr;
  return read == nullptr ? Arg<T>{} : Arg<T>{static_cast<T>(*read), origin_of(*found)};
}

// What the frameworks refuse together.

/// Errors: ingest/conflict, for what TrainingArguments, ModelConfig or TRL's SFTTrainer stop at before a step is made.
void check_refused(const Arguments& hf, const Inputs& inputs, bool sft, Draft& draft, const Document& document);

// How HF's keys say what derive.cpp makes of more than one.

std::span<const Saying> sayings();

}  // namespace oomplan::ingestion::hf
