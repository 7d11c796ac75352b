// Which kernel scaled_dot_product_attention chooses (sdp_utils.cpp, compute capability 8.0 and up) and what each makes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recording.hpp"

namespace oomplan::estimator {
namespace {

using ::testing::ElementsAre;

/// batch × heads × length × width, as models make it: a transposed view.
Tensor heads(Torch& t, std::int64_t batch, std::int64_t heads, std::int64_t length, std::int64_t width, DType dtype) {
  return t.transpose(leaf(t, {batch, length, heads, width}, dtype), 1, 2);
}

struct Call {
  DType dtype = DType::bf16;
  std::int64_t width = 64;
  std::int64_t kv_heads = 4;
  bool mask = false;
  bool gqa = false;
  bool causal = true;
  std::int64_t kv_length = 100;
};

/// The kernel that four heads of length 100 are given to.
std::string kernel(const Call& c) {
  Torch t;
  const Tensor q = heads(t, 2, 4, 100, c.width, c.dtype);
  const Tensor k = heads(t, 2, c.kv_heads, c.kv_length, c.width, c.dtype);
  const Tensor v = heads(t, 2, c.kv_heads, c.kv_length, c.width, c.dtype);
  const Tensor mask = c.mask ? input(t, {2, 1, 100, c.kv_length}, DType::boolean) : Tensor();
  t.attention(q, k, v, mask, 0.0, c.causal && !c.mask, c.gqa);
  EXPECT_EQ(t.kernels.size(), 1U);
  return t.kernels.front();
}

TEST(AttentionKernel, HalfPrecisionWithoutAMaskIsFlash) {
  EXPECT_EQ(kernel({}), "flash");
  EXPECT_EQ(kernel({.dtype = DType::fp16}), "flash");
  EXPECT_EQ(kernel({.causal = false}), "flash");
}

TEST(AttentionKernel, FlashTakesGroupedHeads) { EXPECT_EQ(kernel({.kv_heads = 2, .gqa = true}), "flash"); }

TEST(AttentionKernel, FlashTakesAnyWidthUpTo256) {
  EXPECT_EQ(kernel({.width = 20}), "flash");
  EXPECT_EQ(kernel({.width = 256}), "flash");
  EXPECT_EQ(kernel({.width = 264}), "efficient");
}

TEST(AttentionKernel, AMaskIsForTheEfficientKernel) { EXPECT_EQ(kernel({.mask = true}), "efficient"); }

TEST(AttentionKernel, Fp32IsForTheEfficientKernel) { EXPECT_EQ(kernel({.dtype = DType::fp32}), "efficient"); }

TEST(AttentionKernel, ACausalCallOfUnequalLengthsIsNotFlash) {
  EXPECT_EQ(kernel({.kv_length = 104}), "efficient");
  EXPECT_EQ(kernel({.causal = false, .kv_length = 104}), "flash");
}

TEST(AttentionKernel, TheEfficientKernelWantsAlignedWidths) {
  EXPECT_EQ(kernel({.width = 20, .mask = true}), "math");               // Of eight elements in half precision …
  EXPECT_EQ(kernel({.dtype = DType::fp32, .width = 20}), "efficient");  // … and of four in single.
  EXPECT_EQ(kernel({.dtype = DType::fp32, .width = 22}), "math");
}

TEST(AttentionKernel, GroupedHeadsInFp32AreForMath) {
  EXPECT_EQ(kernel({.dtype = DType::fp32, .kv_heads = 2, .gqa = true}), "math");
}

TEST(AttentionKernel, AutocastDecidesByTheTypeThatItCastsTo) {
  Torch t;
  const Tensor x = heads(t, 2, 4, 100, 64, DType::fp32);
  t.enter_autocast(DType::bf16);
  EXPECT_EQ(t.attention(x, x, x, {}, 0.0, true, false)->dtype, DType::bf16);
  t.exit_autocast();
  EXPECT_THAT(t.kernels, ElementsAre("flash"));
}

TEST(AttentionKernel, EachIsListedOnce) {
  Torch t;
  const Tensor x = heads(t, 2, 4, 100, 64, DType::bf16);
  t.attention(x, x, x, {}, 0.0, true, false);
  t.attention(x, x, x, {}, 0.0, true, false);
  EXPECT_THAT(t.kernels, ElementsAre("flash"));
}

constexpr std::int64_t q_bytes = 2 * 4 * 100 * 64 * 2;  // In bf16.

TEST(Flash, KeepsItsOutputAndALogSumARow) {
  Torch t;
  const Tensor x = heads(t, 2, 4, 100, 64, DType::bf16);
  const Watch watch(t);
  const Tensor out = t.attention(x, x, x, {}, 0.0, true, false);
  EXPECT_THAT(watch.sizes(), ElementsAre(q_bytes, 3584, 512, 512));  // 2 × 4 × 100 × 4 = 3,200 bytes of sums.
  EXPECT_EQ(watch.net(), q_bytes + 3584 + 1024);
  EXPECT_EQ(out->sizes, (Dims{2, 4, 100, 64}));
  EXPECT_TRUE(contiguous(*t.transpose(out, 1, 2)));
}

TEST(Flash, ItsBackwardSumsInFp32OverLengthsPaddedTo128) {
  Torch t;
  const Tensor q = heads(t, 2, 4, 100, 64, DType::bf16);
  const Tensor k = heads(t, 2, 4, 100, 64, DType::bf16);
  const Tensor v = heads(t, 2, 4, 100, 64, DType::bf16);
  const Tensor out = t.attention(q, k, v, {}, 0.0, true, false);
  const Watch watch(t);
  t.backward(out);
  const std::vector<std::int64_t> sizes = watch.sizes();
  EXPECT_THAT(std::vector(sizes.begin() + 1, sizes.end()),
              ElementsAre(q_bytes, q_bytes, q_bytes, 2 * 4 * 128 * 4, 2 * 128 * 4 * 64 * 4));
}

TEST(Flash, GroupedHeadsBackwardExpandsTheGradientsOfKeysAndValues) {
  Torch t;
  const Tensor q = heads(t, 2, 4, 100, 64, DType::bf16);
  const Tensor k = heads(t, 2, 2, 100, 64, DType::bf16);
  const Tensor v = heads(t, 2, 2, 100, 64, DType::bf16);
  const Tensor out = t.attention(q, k, v, {}, 0.0, true, true);
  const Watch watch(t);
  t.backward(out);
  const std::vector<std::int64_t> sizes = watch.sizes();
  EXPECT_THAT(std::vector(sizes.begin() + 1, sizes.end()),
              ElementsAre(q_bytes, q_bytes / 2, q_bytes / 2, 4096, 262'144, q_bytes, q_bytes));
}

TEST(Flash, OddWidthsArePaddedToEight) {
  Torch t;
  const Tensor x = heads(t, 2, 4, 128, 20, DType::bf16);
  const Watch watch(t);
  const Tensor out = t.attention(x, x, x, {}, 0.0, true, false);
  const std::int64_t padded = 2 * 4 * 128 * 24 * 2;
  EXPECT_THAT(watch.sizes(), ElementsAre(padded, padded, padded, padded, 4096, 512, 512));
  EXPECT_EQ(out->sizes.back(), 20);
}

TEST(Efficient, KeepsItsOutputAndALogSumARowPaddedTo32) {
  Torch t;
  const Tensor x = heads(t, 2, 4, 100, 64, DType::fp32);
  const Watch watch(t);
  t.attention(x, x, x, {}, 0.0, true, false);
  EXPECT_THAT(watch.sizes(), ElementsAre(2 * q_bytes, 2 * 4 * 128 * 4, 512, 512));
}

TEST(Efficient, WithoutGradientItMakesNoSums) {
  Torch t;
  const Tensor x = heads(t, 2, 4, 100, 64, DType::fp32);
  Restore no_grad(t.grad_enabled, false);
  const Watch watch(t);
  t.attention(x, x, x, {}, 0.0, true, false);
  EXPECT_THAT(watch.sizes(), ElementsAre(2 * q_bytes, 0, 512, 512));
}

TEST(Efficient, ABooleanMaskIsMadeIntoABiasPaddedTo16) {
  Torch t;
  const Tensor x = heads(t, 2, 4, 100, 64, DType::bf16);
  const Tensor mask = input(t, {2, 1, 100, 100}, DType::boolean);
  const Watch watch(t);
  t.attention(x, x, x, mask, 0.0, false, false);
  // 2 × 100 × 100 × 2 = 40,000 bytes, and with rows of 112: 44,800.
  // Before it the two scalars that the bias is made of.
  EXPECT_THAT(watch.sizes(), ElementsAre(512, 512, 40'448, 45'056, q_bytes, 4096, 512, 512));
}

TEST(Efficient, AMaskOfAlignedRowsIsNotPadded) {
  Torch t;
  const Tensor x = heads(t, 2, 4, 128, 64, DType::bf16);
  const Tensor mask = input(t, {2, 1, 128, 128}, DType::boolean);
  const Watch watch(t);
  t.attention(x, x, x, mask, 0.0, false, false);
  EXPECT_EQ(watch.made()[2], "aten::where");
  EXPECT_EQ(watch.made().size(), 7U);
}

TEST(Efficient, ItsBackwardAccumulatesInFp32WhereTheInputsAreHalf) {
  const auto backward = [](DType dtype, bool masked) {
    Torch t;
    const Tensor q = heads(t, 2, 4, 100, 64, dtype);
    const Tensor k = heads(t, 2, 4, 100, 64, dtype);
    const Tensor v = heads(t, 2, 4, 100, 64, dtype);
    const Tensor mask = masked ? input(t, {2, 1, 100, 100}, DType::boolean) : Tensor();
    const Tensor out = t.attention(q, k, v, mask, 0.0, false, false);
    const Watch watch(t);
    t.backward(out);
    std::vector<std::int64_t> sizes = watch.sizes();
    sizes.erase(sizes.begin());
    return sizes;
  };
  EXPECT_THAT(backward(DType::fp32, false), ElementsAre(2 * q_bytes, 2 * q_bytes, 2 * q_bytes, 3584));
  EXPECT_THAT(backward(DType::bf16, true), ElementsAre(q_bytes, q_bytes, q_bytes, 3584, 2 * 4 * 128 * 64 * 4));
}

TEST(Math, KeepsScoresOfSquaredLengthInFp32) {
  Torch t;
  const Tensor q = heads(t, 2, 4, 128, 64, DType::fp32);
  const Tensor kv = heads(t, 2, 2, 128, 64, DType::fp32);
  const std::size_t before = t.recorder.storages.size();
  const Tensor out = t.attention(q, kv, kv, {}, 0.0, true, true);
  const std::int64_t square = 2 * 4 * 128 * 128 * 4;
  int kept = 0;
  for (std::size_t i = before; i < t.recorder.storages.size(); ++i) {
    const Storage& s = t.recorder.storages[i];
    if (s.bytes != square) continue;
    EXPECT_EQ(s.bucket, Bucket::attention_scores);
    kept += s.refs > 0;
  }
  EXPECT_EQ(kept, 1);  // The softmax's output.
  EXPECT_EQ(out->sizes, (Dims{2, 4, 128, 64}));
}

TEST(Math, RepeatsGroupedHeadsByACopy) {
  Torch t;
  const Tensor q = heads(t, 1, 4, 128, 64, DType::fp32);
  const Tensor k = heads(t, 1, 2, 128, 64, DType::fp32);
  const Tensor v = heads(t, 1, 2, 128, 64, DType::fp32);
  const Watch watch(t);
  t.attention(q, k, v, {}, 0.0, true, true);
  const std::vector<std::int64_t> sizes = watch.sizes();
  const std::vector<std::string> made = watch.made();
  std::int64_t repeated = 0;
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (made[i] == "aten::clone" && sizes[i] == 4 * 128 * 64 * 4) ++repeated;
  }
  EXPECT_GE(repeated, 2);
}

}  // namespace
}  // namespace oomplan::estimator
