#include "quantized_checkpoint.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace oomplan::catalog {
namespace {

constexpr std::string_view skip_key = "llm_int8_skip_modules";

/// A scalar's text; the default where there is none.
std::string text_of(const Node& config, std::string_view key, std::string_view otherwise) {
  const Node* value = config.find(key);
  return std::string(value == nullptr || value->kind == Node::Kind::null ? otherwise : std::string_view(value->text));
}

bool is_on(const Node& config, std::string_view key) {
  const Node* value = config.find(key);
  return value != nullptr && value->as_boolean().value_or(false);
}

/// The names, or nothing where the list is not one of names.
std::optional<std::vector<std::string>> names_in(const Node& list) {
  std::vector<std::string> out;
  for (const Node& item : list.items) {
    if (!item.is_scalar() || item.kind == Node::Kind::null) return std::nullopt;
    out.push_back(item.text);
  }
  return list.is_sequence() ? std::optional(out) : std::nullopt;
}

std::optional<DType> computed_in(const std::string& name) {
  if (name == "bfloat16") return DType::bf16;
  if (name == "float16") return DType::fp16;
  return name == "float32" ? std::optional(DType::fp32) : std::nullopt;
}

}  // namespace

std::optional<QuantizedCheckpoint> by_bitsandbytes(const Node& config) {
  constexpr std::array<std::string_view, 2> kinds{"nf4", "fp4"};
  QuantizedCheckpoint out;
  out.seen = config.entries.size() > 1;
  if (!out.seen) return out;
  const bool eight = is_on(config, "load_in_8bit") || is_on(config, "_load_in_8bit");
  const bool four = is_on(config, "load_in_4bit") || is_on(config, "_load_in_4bit");
  if (eight == four) return std::nullopt;
  out.bits = eight ? 8 : 4;
  out.kind = text_of(config, "bnb_4bit_quant_type", "fp4");
  out.nested = is_on(config, "bnb_4bit_use_double_quant");
  const std::optional<DType> computed = computed_in(text_of(config, "bnb_4bit_compute_dtype", "float32"));
  if (!computed || std::ranges::count(kinds, out.kind) == 0) return std::nullopt;
  out.compute = *computed;
  out.storage = text_of(config, "bnb_4bit_quant_storage", "uint8");
  const Node* skipped = config.find(skip_key);
  if (skipped == nullptr || skipped->kind == Node::Kind::null) return out;
  out.skipped = names_in(*skipped);
  return out.skipped ? std::optional(out) : std::nullopt;
}

}  // namespace oomplan::catalog
