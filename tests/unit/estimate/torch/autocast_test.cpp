// aten/src/ATen/autocast_mode.cpp: what is cast, what is kept and until when.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recording.hpp"

namespace oomplan::estimator {
namespace {

using ::testing::ElementsAre;

TEST(Autocast, CastsAProductsArgumentsFromTheLastToTheFirst) {
  Torch t;
  const Tensor x = input(t, {256, 64});
  const Tensor w = leaf(t, {128, 64});
  const Tensor b = leaf(t, {128});
  t.enter_autocast(DType::bf16);
  const Watch watch(t);
  EXPECT_EQ(t.linear(x, w, b)->dtype, DType::bf16);
  EXPECT_THAT(watch.made(), ElementsAre("aten::_to_copy", "aten::_to_copy", "aten::_to_copy", "aten::addmm"));
  EXPECT_THAT(watch.sizes(), ElementsAre(512, 128 * 64 * 2, 256 * 64 * 2, 256 * 128 * 2));  // Bias, weight, input.
  t.exit_autocast();
}

TEST(Autocast, AWeightIsCastOnceWithinTheOutermostScope) {
  Torch t;
  const Tensor x = input(t, {16, 64}, DType::bf16);
  const Tensor w = leaf(t, {128, 64});
  t.enter_autocast(DType::bf16);
  const Watch watch(t);
  t.linear(x, w, {});
  t.enter_autocast(DType::bf16);
  t.linear(x, w, {});
  t.exit_autocast();
  t.linear(x, w, {});
  EXPECT_THAT(watch.made(), ElementsAre("aten::_to_copy", "aten::mm", "aten::mm", "aten::mm"));
  EXPECT_EQ(watch.net(), 128 * 64 * 2);
  t.exit_autocast();
  EXPECT_EQ(watch.net(), 0);
}

TEST(Autocast, ACopyThatBackwardNeedsOutlivesTheScope) {
  Torch t;
  const Tensor x = leaf(t, {16, 64}, DType::bf16);
  const Tensor w = leaf(t, {128, 64});
  const Watch watch(t);
  t.enter_autocast(DType::bf16);
  Tensor y = t.linear(x, w, {});
  t.exit_autocast();
  EXPECT_EQ(watch.net(), 128 * 64 * 2 + 16 * 128 * 2);
  y.reset();
  EXPECT_EQ(watch.net(), 0);
}

TEST(Autocast, OnlyALeafThatIsTrainedIsCached) {
  Torch t;
  const Tensor x = input(t, {16, 64}, DType::bf16);
  const Tensor frozen = t.parameter({128, 64}, DType::fp32, false);
  const Tensor computed = t.mul_scalar(leaf(t, {128, 64}));
  t.enter_autocast(DType::bf16);
  const Watch watch(t);
  t.linear(x, frozen, {});
  t.linear(x, frozen, {});
  t.linear(x, computed, {});
  t.linear(x, computed, {});
  t.exit_autocast();
  const std::vector<std::string> made = watch.made();
  EXPECT_EQ(std::count(made.begin(), made.end(), "aten::_to_copy"), 4);
}

TEST(Autocast, ACopyOfAWeightIsABucketOfItsOwn) {
  Torch t;
  const Tensor x = input(t, {16, 64});
  const Tensor w = leaf(t, {128, 64});
  t.enter_autocast(DType::bf16);
  EXPECT_EQ(bucket_of(t, t.lowered(w)), Bucket::autocast_copies);
  EXPECT_EQ(bucket_of(t, t.lowered(x)), Bucket::temporaries);
  t.exit_autocast();
}

TEST(Autocast, LeavesIntegersAndItsOwnTypeAlone) {
  Torch t;
  const Tensor ids = input(t, {16}, DType::int64);
  const Tensor low = input(t, {16}, DType::bf16);
  t.enter_autocast(DType::bf16);
  EXPECT_EQ(t.lowered(ids).get(), ids.get());
  EXPECT_EQ(t.lowered(low).get(), low.get());
  EXPECT_EQ(t.raised(ids).get(), ids.get());
  EXPECT_EQ(t.raised(low)->dtype, DType::fp32);
  t.exit_autocast();
}

TEST(Autocast, OffItCastsNothing) {
  Torch t;
  const Tensor w = leaf(t, {16});
  EXPECT_EQ(t.lowered(w).get(), w.get());
  EXPECT_EQ(t.raised(w).get(), w.get());
  t.enter_autocast({});
  EXPECT_EQ(t.lowered(w).get(), w.get());
  t.exit_autocast();
}

TEST(Autocast, TheWeightsGradientIsCastBackToFp32) {
  Torch t;
  const Tensor x = input(t, {16, 64}, DType::bf16);
  const Tensor w = leaf(t, {128, 64});
  t.enter_autocast(DType::bf16);
  const Tensor y = t.linear(x, w, {});
  t.exit_autocast();
  const Watch watch(t);
  t.backward(y);
  EXPECT_THAT(watch.made(), ElementsAre("aten::ones_like", "aten::mm", "aten::_to_copy"));
  EXPECT_THAT(watch.sizes(), ElementsAre(16 * 128 * 2, 128 * 64 * 2, 128 * 64 * 4));
  EXPECT_EQ(w->grad->dtype, DType::fp32);
}

}  // namespace
}  // namespace oomplan::estimator
