// Strides as torch 2.13 gives them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recording.hpp"

namespace oomplan::estimator {
namespace {

using ::testing::ElementsAre;

TEST(View, InfersOneSize) {
  Torch t;
  const Tensor v = t.view(input(t, {2, 3, 4}), {-1, 4});
  EXPECT_EQ(v->sizes, (Dims{6, 4}));
  EXPECT_EQ(v->strides, (Dims{4, 1}));
}

TEST(View, SplitsADimensionOfATransposedTensor) {
  Torch t;
  const Tensor x = t.transpose(input(t, {2, 3, 4}), 0, 1);
  EXPECT_EQ(x->strides, (Dims{4, 12, 1}));
  EXPECT_EQ(t.view(x, {3, 2, 2, 2})->strides, (Dims{4, 12, 2, 1}));
}

TEST(View, NoneAllocates) {
  Torch t;
  const Tensor x = input(t, {2, 6, 4});
  const Watch watch(t);
  t.view(x, {12, 4});
  t.transpose(x, 0, 2);
  t.permute(x, {2, 0, 1});
  t.unsqueeze(x, 1);
  t.slice(x, 2, 0, 2);
  t.select(x, 1);
  t.split(x, 2, 1);
  t.expand(t.unsqueeze(x, 2), {2, 6, 8, 4});
  EXPECT_TRUE(watch.nothing());
}

TEST(View, PermutedUnsqueezedSlicedSelected) {
  Torch t;
  EXPECT_EQ(t.permute(input(t, {2, 3, 4}), {2, 0, 1})->strides, (Dims{1, 12, 4}));
  EXPECT_EQ(t.permute(input(t, {2, 3, 4}), {2, 0, 1})->sizes, (Dims{4, 2, 3}));
  EXPECT_EQ(t.unsqueeze(input(t, {2, 3}), 1)->strides, (Dims{3, 3, 1}));
  EXPECT_EQ(t.unsqueeze(input(t, {2, 3}), 2)->strides, (Dims{3, 1, 1}));
  EXPECT_EQ(t.unsqueeze(t.t(input(t, {2, 3})), 0)->strides, (Dims{3, 1, 3}));
  EXPECT_EQ(t.squeeze(t.unsqueeze(input(t, {2, 3}), 1), 1)->strides, (Dims{3, 1}));
  const Tensor narrow = t.slice(input(t, {4, 10}), 1, 0, 3);
  EXPECT_EQ(narrow->sizes, (Dims{4, 3}));
  EXPECT_EQ(narrow->strides, (Dims{10, 1}));
  EXPECT_EQ(t.select(input(t, {2, 3, 4}), 1)->strides, (Dims{12, 1}));
}

TEST(View, ExpandedDimensionsHaveNoStride) {
  Torch t;
  EXPECT_EQ(t.expand(input(t, {1, 4}), {3, 4})->strides, (Dims{0, 1}));
  EXPECT_EQ(t.expand(input(t, {4}), {3, 4})->strides, (Dims{0, 1}));
  EXPECT_EQ(t.expand(input(t, {4, 1}), {2, 4, 5})->strides, (Dims{0, 1, 0}));
  EXPECT_EQ(t.expand(input(t, {5}), {1, 5})->strides, (Dims{5, 1}));
}

TEST(View, ASplitOfNothingIsOneEmptyPart) {
  Torch t;
  EXPECT_EQ(t.split(input(t, {2, 0}), 4, 1).size(), 1U);
}

TEST(View, ASplitsLastPartIsWhatIsLeft) {
  Torch t;
  const std::vector<Tensor> parts = t.split(input(t, {2, 10}), 4, 1);
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[0]->sizes, (Dims{2, 4}));
  EXPECT_EQ(parts[2]->sizes, (Dims{2, 2}));
  EXPECT_EQ(parts[2]->strides, (Dims{10, 1}));
}

TEST(Reshape, IsAViewWhereTheStridesAllowIt) {
  Torch t;
  const Tensor x = t.transpose(input(t, {1, 3, 4}), 0, 1);
  const Watch watch(t);
  EXPECT_EQ(t.reshape(x, {3, 4})->strides, (Dims{4, 1}));
  EXPECT_TRUE(watch.nothing());
}

TEST(Reshape, CopiesATransposedTensor) {
  Torch t;
  const Tensor x = t.transpose(input(t, {2, 96, 4}), 0, 1);
  const Watch watch(t);
  const Tensor y = t.reshape(x, {192, 4});
  EXPECT_THAT(watch.made(), ElementsAre("aten::clone"));
  EXPECT_THAT(watch.sizes(), ElementsAre(2 * 96 * 4 * 4));
  EXPECT_TRUE(contiguous(*y));
  EXPECT_FALSE(y->base);  // _unsafe_view: the copy itself is not held twice.
}

TEST(Reshape, CopiesWhatWasExpandedInFull) {
  Torch t;
  const Tensor x = t.expand(input(t, {1, 128}), {3, 128});
  const Watch watch(t);
  t.reshape(x, {384});
  EXPECT_THAT(watch.sizes(), ElementsAre(3 * 512));
}

TEST(Reshape, HeadsOfABatchOfOneNeedNoCopy) {
  // batch × heads × length × width back to batch × length × (heads · width): a copy unless there is but one head.
  Torch t;
  const auto merge = [&](std::int64_t heads) {
    const Tensor x = t.transpose(input(t, {2, heads, 8, 16}), 1, 2);
    const Watch watch(t);
    t.reshape(x, {2, 8, heads * 16});
    return watch.made().size();
  };
  EXPECT_EQ(merge(1), 0U);
  EXPECT_EQ(merge(4), 1U);
}

TEST(ViewGradient, ExpandSumsAndSliceFillsWithZeros) {
  Torch t;
  const Tensor x = leaf(t, {128, 1});
  const Tensor wide = t.expand(x, {128, 4});
  const Watch watch(t);
  t.backward(wide);
  EXPECT_THAT(watch.made(), ElementsAre("aten::ones_like", "aten::sum"));
  EXPECT_THAT(watch.sizes(), ElementsAre(128 * 4 * 4, 512));

  const Tensor y = leaf(t, {4, 256});
  const Tensor part = t.slice(y, 1, 0, 2);
  const Watch second(t);
  t.backward(part);
  EXPECT_THAT(second.sizes(), ElementsAre(512, 4 * 256 * 4));
}

TEST(ViewGradient, SplitFillsWhatHasNoGradientAndConcatenates) {
  Torch t;
  const Tensor x = leaf(t, {4, 384});
  const Tensor first = t.mul_scalar(t.split(x, 128, 1)[0]);
  const Watch watch(t);
  t.backward(first);
  EXPECT_THAT(watch.made(), ElementsAre("aten::ones_like", "aten::mul", "aten::zeros", "aten::zeros", "aten::cat"));
  EXPECT_THAT(watch.sizes(), ElementsAre(2048, 2048, 2048, 2048, 3 * 2048));
  EXPECT_EQ(x->grad->sizes, (Dims{4, 384}));
}

TEST(ViewGradient, ATransposeIsTransposedBack) {
  Torch t;
  const Tensor x = leaf(t, {2, 3, 4});
  const Tensor y = t.mul_scalar(t.permute(x, {2, 0, 1}));
  t.backward(y);
  EXPECT_EQ(x->grad->sizes, (Dims{2, 3, 4}));
  EXPECT_EQ(x->grad->strides, (Dims{12, 4, 1}));
}

}  // namespace
}  // namespace oomplan::estimator
