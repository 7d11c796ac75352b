// What the engine makes, keeps and lets go of: torch/csrc/autograd of torch 2.13.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recording.hpp"

namespace oomplan::estimator {
namespace {

using ::testing::ElementsAre;

TEST(Graph, NothingIsKeptWhereNoGradientIsAskedFor) {
  Torch t;
  Tensor x = t.mul_scalar(input(t, {128}));
  const StorageId in = x->storage;
  const Tensor y = t.silu(x);
  x.reset();
  EXPECT_FALSE(y->grad_fn);
  EXPECT_FALSE(alive(t, in));
}

TEST(Graph, NothingIsKeptUnderNoGrad) {
  Torch t;
  const Tensor w = leaf(t, {128});
  Restore no_grad(t.grad_enabled, false);
  EXPECT_FALSE(t.silu(w)->grad_fn);
}

TEST(Graph, AGraphOfAnyDepthIsFreed) {
  Torch t;
  Watch watch(t);
  Tensor x = leaf(t, {128});
  for (int i = 0; i < 100'000; ++i) x = t.silu(x);
  EXPECT_EQ(watch.net(), 100'001 * 512);
  x.reset();
  EXPECT_EQ(watch.net(), 0);
}

TEST(Backward, WhatWasSavedGoesWhenItsNodeHasRun) {
  Torch t;
  const Tensor x = leaf(t, {128});
  Tensor y = t.silu(x);
  const Tensor z = t.silu(y);
  y.reset();
  const Watch watch(t);
  t.backward(z);
  EXPECT_THAT(watch.made(), ElementsAre("aten::ones_like", "aten::silu_backward", "aten::silu_backward"));
  EXPECT_EQ(watch.net(), 0);         // x's gradient came, y went.
  EXPECT_EQ(watch.peak(), 2 * 512);  // Were y kept to the end, it would be three.
}

TEST(Backward, LaterNodesRunFirst) {
  Torch t;
  const Tensor x = leaf(t, {128});
  const Tensor scaled = t.mul_scalar(x);
  const Tensor bent = t.tanh(x);
  const Tensor sum = t.add(scaled, bent);
  const Watch watch(t);
  t.backward(sum);
  EXPECT_THAT(watch.made(), ElementsAre("aten::ones_like", "aten::tanh_backward", "aten::mul"));
}

TEST(Backward, MakesInTheForwardOpsBlockAndInThePhaseAtHand) {
  Torch t;
  const Tensor x = leaf(t, {128});
  t.recorder.scope.layer = 5;
  t.recorder.scope.phase = Phase::forward;
  const Tensor y = t.silu(x);
  t.recorder.scope.layer = -1;
  t.recorder.scope.phase = Phase::backward;
  t.backward(y);
  EXPECT_EQ(t.recorder.at(x->grad->storage).layer, 5);
  EXPECT_EQ(t.recorder.at(x->grad->storage).born, Phase::backward);
}

TEST(Buffer, AGradientThatNobodyElseHoldsIsAddedToInPlace) {
  Torch t;
  const Tensor w = leaf(t, {128});
  const Tensor sum = t.add(t.add(t.mul_scalar(w), t.mul_scalar(w)), t.mul_scalar(w));
  const Watch watch(t);
  t.backward(sum);
  EXPECT_THAT(watch.made(), ElementsAre("aten::ones_like", "aten::mul", "aten::mul", "aten::mul"));
}

TEST(Buffer, AGradientThatIsSharedIsAddedToACopy) {
  Torch t;
  const Tensor w = leaf(t, {128});
  const Tensor sum = t.add(w, w);
  const Watch watch(t);
  t.backward(sum);
  EXPECT_THAT(watch.made(), ElementsAre("aten::ones_like", "aten::add"));
}

TEST(Accumulation, TakesAGradientThatNobodyElseHolds) {
  Torch t;
  const Tensor w = leaf(t, {128});
  const Tensor y = t.silu(w);
  const Watch watch(t);
  t.backward(y);
  EXPECT_EQ(watch.made().back(), "aten::silu_backward");
  EXPECT_EQ(bucket_of(t, w->grad), Bucket::gradients);
  EXPECT_EQ(watch.net(), 512);
}

TEST(Accumulation, CopiesAGradientThatIsStillHeld) {
  Torch t;
  const Tensor a = leaf(t, {128});
  const Tensor b = leaf(t, {128});
  const Tensor sum = t.add(a, b);
  const Watch watch(t);
  t.backward(sum);
  EXPECT_THAT(watch.made(), ElementsAre("aten::ones_like", "aten::clone", "aten::clone"));
  EXPECT_EQ(watch.net(), 2 * 512);
}

TEST(Accumulation, CopiesAGradientThatIsLaidOutUnlikeItsLeaf) {
  Torch t;
  const Tensor w = leaf(t, {4, 128});
  const Tensor y = t.mul_scalar(t.t(w));
  const Watch watch(t);
  t.backward(y);
  EXPECT_THAT(watch.made(), ElementsAre("aten::ones_like", "aten::mul", "aten::clone"));
  EXPECT_EQ(w->grad->strides, (Dims{128, 1}));
}

TEST(Accumulation, AddsToAGradientThatIsThereInPlace) {
  Torch t;
  const Tensor w = leaf(t, {128});
  t.backward(t.silu(w));
  const StorageId first = w->grad->storage;
  const Tensor again = t.silu(w);
  const Watch watch(t);
  t.backward(again);
  EXPECT_EQ(w->grad->storage, first);
  EXPECT_EQ(watch.net(), 0);
}

TEST(Accumulation, AReductionToTheLeafsShapeIsTaken) {
  Torch t;
  const Tensor a = leaf(t, {4, 128});
  const Tensor b = leaf(t, {128});
  const Tensor sum = t.add(a, b);
  const Watch watch(t);
  t.backward(sum);
  EXPECT_THAT(watch.made(), ElementsAre("aten::ones_like", "aten::sum", "aten::clone"));  // The clone is a's.
  EXPECT_THAT(watch.sizes(), ElementsAre(2048, 512, 2048));
}

TEST(Accumulation, AGradientHasTheTypeOfWhatItIsFor) {
  Torch t;
  const Tensor low = leaf(t, {256}, DType::bf16);
  const Tensor high = leaf(t, {256});
  const Tensor sum = t.add(low, high);
  t.backward(sum);
  EXPECT_EQ(low->grad->dtype, DType::bf16);
  EXPECT_EQ(high->grad->dtype, DType::fp32);
}

TEST(Accumulation, AFrozenLeafGetsNone) {
  Torch t;
  const Tensor frozen = t.parameter({128}, DType::fp32, false);
  const Tensor w = leaf(t, {128});
  t.backward(t.mul(w, frozen));
  EXPECT_TRUE(w->grad);
  EXPECT_FALSE(frozen->grad);
}

}  // namespace
}  // namespace oomplan::estimator
