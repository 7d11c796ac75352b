// Element types of tensors.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace oomplan {

enum class DType : std::uint8_t { fp32, bf16, fp16, int64, int32, int8, uint8, boolean };

struct DTypeRow {
  DType dtype{};
  std::string_view name{};
  int bytes = 0;  ///< Per element, as torch's itemsize.
  bool floating = false;
};

inline constexpr std::array<DTypeRow, 8> dtype_rows{{
    {DType::fp32, "fp32", 4, true},
    {DType::bf16, "bf16", 2, true},
    {DType::fp16, "fp16", 2, true},
    {DType::int64, "int64", 8, false},
    {DType::int32, "int32", 4, false},
    {DType::int8, "int8", 1, false},
    {DType::uint8, "uint8", 1, false},
    {DType::boolean, "bool", 1, false},
}};

constexpr const DTypeRow& row(DType dtype) { return dtype_rows[static_cast<std::size_t>(dtype)]; }
constexpr int bytes_of(DType dtype) { return row(dtype).bytes; }
constexpr bool is_floating(DType dtype) { return row(dtype).floating; }
constexpr std::string_view name_of(DType dtype) { return row(dtype).name; }

/// Reads "bf16", "bfloat16", "torch.bfloat16", "float32", "fp16", "half", … as frameworks' configs spell them.
std::optional<DType> parse_dtype(std::string_view text);

}  // namespace oomplan
