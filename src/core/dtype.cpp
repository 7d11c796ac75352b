#include "oomplan/core/dtype.hpp"

#include <string>

namespace oomplan {
namespace {

struct Spelling {
  std::string_view text;
  DType dtype{};
};

// What torch, transformers, DeepSpeed and Megatron accept for the types of dtype_rows, beside the names there.
constexpr std::array spellings{
    Spelling{"float32", DType::fp32},  Spelling{"float", DType::fp32},      Spelling{"f32", DType::fp32},
    Spelling{"bfloat16", DType::bf16}, Spelling{"float16", DType::fp16},    Spelling{"half", DType::fp16},
    Spelling{"f16", DType::fp16},      Spelling{"long", DType::int64},      Spelling{"int", DType::int32},
    Spelling{"byte", DType::uint8},    Spelling{"boolean", DType::boolean},
};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

}  // namespace

std::optional<DType> parse_dtype(std::string_view text) {
  constexpr std::string_view module = "torch.";
  if (text.size() > 32) return std::nullopt;
  const std::string word = lower(text.starts_with(module) ? text.substr(module.size()) : text);
  for (const DTypeRow& known : dtype_rows) {
    if (known.name == word) return known.dtype;
  }
  for (const Spelling& spelling : spellings) {
    if (spelling.text == word) return spelling.dtype;
  }
  return std::nullopt;
}

}  // namespace oomplan
