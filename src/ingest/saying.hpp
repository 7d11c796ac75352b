// How a key says a fact that a dialect makes of more than one key: what a plan's fact is written as.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "codec.hpp"

namespace oomplan::ingestion {

/// A key's value as text; nothing where it says nothing.
using Said = std::optional<std::string>;

struct Saying {
  std::string_view fact{};
  std::string_view keys{};  ///< One, or several with '|' between, of which the one that the config has is taken.
  Said (*text)(const TrainingPlan& plan) = nullptr;
  bool adds = false;  ///< The text is an item of the list that the config may have there already.
};

inline Said flag(bool value) { return write_boolean(value); }
inline Said flag_where(bool here, bool value) { return here ? flag(value) : std::nullopt; }
inline Said count_where(bool here, std::int64_t value) { return here ? Said(write_integer(value)) : std::nullopt; }
inline Said word_where(bool here, std::string_view word) { return here ? Said(std::string(word)) : std::nullopt; }

inline bool adapts(const TrainingPlan& plan) { return plan.adapter.kind.value != Adapter::none; }
/// Keys that are made for LoRA say no other adapter.
inline bool says_adapter(const TrainingPlan& plan) {
  return plan.adapter.kind.value == Adapter::none || plan.adapter.kind.value == Adapter::lora;
}
inline bool is_int8(const TrainingPlan& plan) { return plan.quantization.kind.value == Quantization::int8; }
inline bool is_4bit(const TrainingPlan& plan) {
  return plan.quantization.kind.value != Quantization::none && !is_int8(plan);
}

}  // namespace oomplan::ingestion
