#include "quantized_checkpoint.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace oomplan::catalog {
namespace {

/// A text; the default where there is none, and nothing where it is of another type.
std::optional<std::string> text_of(const Node& config, std::string_view key, std::string_view otherwise) {
  const Node* value = config.find(key);
  if (value == nullptr || value->kind == Node::Kind::null) return std::string(otherwise);
  return value->kind == Node::Kind::string ? std::optional(value->text) : std::nullopt;
}

/// A switch, off where there is none; nothing where it is of another type.
std::optional<bool> flag_of(const Node& config, std::string_view key) {
  const Node* value = config.find(key);
  if (value == nullptr) return false;
  return value->kind == Node::Kind::boolean ? value->as_boolean() : std::nullopt;
}

/// The names; nothing where something else stands among them.
std::optional<std::vector<std::string>> names_in(const Node& list) {
  std::vector<std::string> out;
  for (const Node& item : list.items) {
    if (item.kind != Node::Kind::string) return std::nullopt;
    out.push_back(item.text);
  }
  return list.is_sequence() ? std::optional(out) : std::nullopt;
}

// Without a threshold LLM.int8() looks for no outliers, and weights that it keeps in 16 bits are not quantized.
bool is_usual_int8(const Node& config) {
  const Node* threshold = config.find("llm_int8_threshold");
  const bool searches = threshold == nullptr || (threshold->kind == Node::Kind::real && threshold->as_number() != 0.0);
  return searches && flag_of(config, "llm_int8_has_fp16_weight") == false;
}

std::optional<DType> computed_in(const std::string& name) {
  if (name == "bfloat16") return DType::bf16;
  if (name == "float16") return DType::fp16;
  return name == "float32" ? std::optional(DType::fp32) : std::nullopt;
}

}  // namespace

std::optional<QuantizedCheckpoint> by_bitsandbytes(const Node& config) {
  constexpr std::array<std::string_view, 2> kinds{"nf4", "fp4"};
  constexpr std::array<std::string_view, 4> storages{"uint8", "bfloat16", "float16", "float32"};
  QuantizedCheckpoint out;
  out.seen = config.entries.size() > 1;
  if (!out.seen) return out;
  const std::optional<bool> eight = flag_of(config, "load_in_8bit");
  const std::optional<bool> four = flag_of(config, "load_in_4bit");
  const std::optional<bool> nested = flag_of(config, "bnb_4bit_use_double_quant");
  const std::optional<std::string> kind = text_of(config, "bnb_4bit_quant_type", "fp4");
  const std::optional<std::string> storage = text_of(config, "bnb_4bit_quant_storage", "uint8");
  const std::optional<DType> computed = computed_in(text_of(config, "bnb_4bit_compute_dtype", "float32").value_or(""));
  if (!eight || !four || *eight == *four || !nested || !computed || !is_usual_int8(config)) return std::nullopt;
  if (!kind || std::ranges::count(kinds, *kind) == 0 || !storage || std::ranges::count(storages, *storage) == 0)
    return std::nullopt;
  out.bits = *eight ? 8 : 4;
  out.kind = *kind;
  out.nested = *nested;
  out.compute = *computed;
  out.storage = *storage;
  const Node* skipped = config.find("llm_int8_skip_modules");
  if (skipped == nullptr || skipped->kind == Node::Kind::null) return out;
  out.skipped = names_in(*skipped);
  return out.skipped ? std::optional(out) : std::nullopt;
}

}  // namespace oomplan::catalog
