#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recording.hpp"

namespace oomplan::estimator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// What summing rows up to one takes beside its result.
std::vector<std::int64_t> scratch_of_sum(const Dims& sizes, const Dims& to, DType dtype = DType::bf16) {
  Torch t;
  const Tensor x = input(t, sizes, dtype);
  const Watch watch(t);
  t.sum_to(x, to);
  return watch.scratch();
}

// Sizes that an H100 took: the gradients of biases of GPT-NeoX, Pegasus and ViT-L, that of a scale of DINOv2.
TEST(Sum, OfManyRowsHoldsItsBlocksResults) {
  EXPECT_THAT(scratch_of_sum({4096, 8192}, {8192}), ElementsAre(138412032));
  EXPECT_THAT(scratch_of_sum({4096, 4096}, {4096}), ElementsAre(134217728));
  EXPECT_THAT(scratch_of_sum({3152, 4096}, {4096}), ElementsAre(104857600));
  EXPECT_THAT(scratch_of_sum({16448, 768}, {768}, DType::fp32), ElementsAre(101056512));
}

TEST(Sum, OfABatchesRowsIsOneOfAllItsRows) {
  EXPECT_THAT(scratch_of_sum({4, 1024, 8192}, {8192}), ElementsAre(138412032));
}

TEST(Sum, OfFewRowsIsOneBlocks) {
  EXPECT_THAT(scratch_of_sum({512, 8192}, {8192}), IsEmpty());
  EXPECT_THAT(scratch_of_sum({2, 4096}, {4096}), IsEmpty());
}

TEST(Sum, OverALaterDimensionIsLeftOut) { EXPECT_THAT(scratch_of_sum({64, 4096, 64}, {64, 1, 64}), IsEmpty()); }

TEST(Sum, ToTheSameSizesIsNone) {
  Torch t;
  const Tensor x = input(t, {4096, 8192});
  const Watch watch(t);
  t.sum_to(x, {4096, 8192});
  EXPECT_TRUE(watch.nothing());
}

TEST(Sum, OfNothingTakesNothing) { EXPECT_THAT(scratch_of_sum({0, 4096}, {4096}), IsEmpty()); }

// aten/src/ATen/native/cuda/SoftMax.cu: softmax_backward_cuda_out.
TEST(Softmax, MultipliesGradientAndResultInBackward) {
  Torch t;
  Tensor y = t.softmax_last(leaf(t, {8, 128, 128}));
  const Watch watch(t);
  t.backward(y);
  EXPECT_THAT(watch.scratch(), ElementsAre(8 * 128 * 128 * 4));
}

TEST(Softmax, ALogarithmTakesNothing) {
  Torch t;
  Tensor y = t.log_softmax_last(leaf(t, {8, 128, 128}));
  const Watch watch(t);
  t.backward(y);
  EXPECT_THAT(watch.scratch(), IsEmpty());
}

}  // namespace
}  // namespace oomplan::estimator
