#include <gtest/gtest.h>

#include "recording.hpp"

namespace oomplan::estimator {
namespace {

TEST(Tensor, ItsStorageGoesWithTheLastReference) {
  Torch t;
  Watch watch(t);
  Tensor a = input(t, {128});
  Tensor copy = a;
  EXPECT_EQ(a->refs, 2);
  a.reset();
  EXPECT_EQ(watch.net(), 512);
  copy.reset();
  EXPECT_EQ(watch.net(), 0);
}

TEST(Tensor, AssigningLetsGoOfWhatWasHeld) {
  Torch t;
  Watch watch(t);
  Tensor a = input(t, {128});
  a = input(t, {256});
  EXPECT_EQ(watch.net(), 1024);
  EXPECT_EQ(watch.peak(), 512 + 1024);
}

TEST(Tensor, AnAliasSharesTheStorageAndKeepsNoBase) {
  Torch t;
  Tensor a = input(t, {128});
  const Tensor other = t.alias(a, {64, 2}, {2, 1});
  EXPECT_EQ(t.recorder.at(a->storage).refs, 2);
  EXPECT_FALSE(other->base);
  EXPECT_EQ(a->refs, 1);
}

TEST(Tensor, AViewKeepsItsBaseAlive) {
  Torch t;
  Watch watch(t);
  Tensor a = input(t, {4, 32});
  Tensor v = t.view(a, {128});
  EXPECT_EQ(a->refs, 2);
  a.reset();
  EXPECT_EQ(watch.net(), 512);
  v.reset();
  EXPECT_EQ(watch.net(), 0);
}

TEST(Tensor, AViewOfAViewHasTheFirstTensorAsItsBase) {
  Torch t;
  const Tensor a = input(t, {4, 32});
  const Tensor v = t.view(a, {128});
  const Tensor w = t.view(v, {2, 64});
  EXPECT_EQ(w->base.get(), a.get());
  EXPECT_EQ(v->refs, 1);
}

TEST(Tensor, DetachedItAsksForNoGradient) {
  Torch t;
  const Tensor w = leaf(t, {128});
  const Tensor d = t.detach(w);
  EXPECT_EQ(d->storage, w->storage);
  EXPECT_FALSE(d->requires_grad);
  EXPECT_FALSE(d->base);
}

TEST(Tensor, AReusedImplRemembersNothing) {
  Torch t;
  Tensor w = leaf(t, {128});
  w->grad = input(t, {128});
  w.reset();
  const Tensor fresh = input(t, {3});
  EXPECT_FALSE(fresh->requires_grad);
  EXPECT_FALSE(fresh->parameter);
  EXPECT_FALSE(fresh->grad);
  EXPECT_TRUE(fresh->leaf());
}

TEST(Tensor, AParameterIsAWeightOfTheBlockAtWork) {
  Torch t;
  t.recorder.scope.layer = 4;
  const Tensor trained = t.parameter({128}, DType::bf16, true);
  const Tensor frozen = t.parameter({128}, DType::bf16, false);
  EXPECT_TRUE(trained->requires_grad);
  EXPECT_FALSE(frozen->requires_grad);
  EXPECT_EQ(trained->layer, 4);
  EXPECT_EQ(bucket_of(t, trained), Bucket::weights);
  EXPECT_EQ(bucket_of(t, frozen), Bucket::weights);
}

TEST(Tensor, ContiguousLooksPastDimensionsOfOne) {
  Torch t;
  const auto strided = [&](const Dims& sizes, const Dims& strides) {
    return contiguous(*t.empty_strided(sizes, strides, DType::fp32, "x"));
  };
  EXPECT_TRUE(strided({2, 3}, {3, 1}));
  EXPECT_FALSE(strided({2, 3}, {1, 2}));
  EXPECT_TRUE(strided({2, 1, 3}, {3, 77, 1}));
  EXPECT_FALSE(strided({2, 3}, {6, 1}));
  EXPECT_TRUE(strided({}, {}));
}

TEST(Tensor, DenseIsAnyOrderWithoutGapsOrOverlaps) {
  Torch t;
  const auto strided = [&](const Dims& sizes, const Dims& strides) {
    return dense(*t.empty_strided(sizes, strides, DType::fp32, "x"));
  };
  EXPECT_TRUE(strided({2, 3}, {3, 1}));
  EXPECT_TRUE(strided({2, 3}, {1, 2}));
  EXPECT_TRUE(strided({2, 3, 4}, {3, 1, 6}));
  EXPECT_FALSE(strided({2, 3}, {4, 1}));  // A gap.
  EXPECT_FALSE(strided({2, 3}, {0, 1}));  // Expanded.
}

TEST(Tensor, ContiguousStrides) {
  EXPECT_EQ(contiguous_strides({2, 3, 4}), (Dims{12, 4, 1}));
  EXPECT_EQ(contiguous_strides({2, 0, 4}), (Dims{4, 4, 1}));
  EXPECT_EQ(contiguous_strides({}), Dims{});
}

}  // namespace
}  // namespace oomplan::estimator
