#include "oomplan/core/dtype.hpp"

#include <gtest/gtest.h>

#include <string>

namespace oomplan {
namespace {

TEST(ParseDtype, ReadsWhatFrameworksWrite) {
  EXPECT_EQ(parse_dtype("bf16"), DType::bf16);
  EXPECT_EQ(parse_dtype("bfloat16"), DType::bf16);
  EXPECT_EQ(parse_dtype("torch.bfloat16"), DType::bf16);
  EXPECT_EQ(parse_dtype("BF16"), DType::bf16);
  EXPECT_EQ(parse_dtype("float32"), DType::fp32);
  EXPECT_EQ(parse_dtype("torch.float"), DType::fp32);
  EXPECT_EQ(parse_dtype("half"), DType::fp16);
  EXPECT_EQ(parse_dtype("float16"), DType::fp16);
  EXPECT_EQ(parse_dtype("torch.long"), DType::int64);
  EXPECT_EQ(parse_dtype("int"), DType::int32);
  EXPECT_EQ(parse_dtype("uint8"), DType::uint8);
}

TEST(ParseDtype, ReadsEveryNameOfTheTable) {
  for (const DTypeRow& known : dtype_rows) {
    EXPECT_EQ(parse_dtype(known.name), known.dtype) << known.name;
    EXPECT_EQ(parse_dtype("torch." + std::string(known.name)), known.dtype) << known.name;
  }
}

TEST(ParseDtype, RefusesEverythingElse) {
  for (const char* text : {"", "torch.", "auto", "bf", "bf16 ", "torch.torch.half", "float64", "jax.half"}) {
    EXPECT_EQ(parse_dtype(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_dtype(std::string(1 << 20, 'f')), std::nullopt);
}

// row() finds a type by its number.
TEST(DtypeRows, StandInTheOrderOfTheEnum) {
  for (std::size_t i = 0; i < dtype_rows.size(); ++i) EXPECT_EQ(static_cast<std::size_t>(dtype_rows[i].dtype), i);
  EXPECT_EQ(bytes_of(DType::fp32), 4);
  EXPECT_EQ(bytes_of(DType::int64), 8);
  EXPECT_EQ(bytes_of(DType::boolean), 1);
  EXPECT_TRUE(is_floating(DType::bf16));
  EXPECT_FALSE(is_floating(DType::int8));
  EXPECT_EQ(name_of(DType::boolean), "bool");
}

}  // namespace
}  // namespace oomplan
