#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recording.hpp"

namespace oomplan::estimator {
namespace {

using ::testing::ElementsAre;

// Kernels that write a product by hand make a handle as torch's own do: one for forward, one for backward.
TEST(Product, WhoeverMakesItsResultMakesACublasHandle) {
  Torch t;
  t.empty({8, 8}, DType::bf16, "aten::mul");
  EXPECT_THAT(t.recorder.handles, ElementsAre());
  const Tensor first = t.empty({8, 8}, DType::bf16, "aten::mm");
  const Tensor second = t.empty({8, 8}, DType::bf16, "aten::addmm");
  EXPECT_THAT(t.recorder.handles, ElementsAre(3));  // After the first product is made.
  t.recorder.mark(Phase::backward);
  const Tensor third = t.empty({8, 8}, DType::bf16, "aten::bmm");
  EXPECT_THAT(t.recorder.handles, ElementsAre(3, 5));
}

TEST(Linear, FoldsTheBatchIntoOneProduct) {
  Torch t;
  const Tensor x = input(t, {2, 8, 64});
  const Tensor w = leaf(t, {128, 64});
  const Watch watch(t);
  const Tensor y = t.linear(x, w, {});
  EXPECT_EQ(y->sizes, (Dims{2, 8, 128}));
  EXPECT_THAT(watch.made(), ElementsAre("aten::mm"));
  EXPECT_THAT(watch.sizes(), ElementsAre(2 * 8 * 128 * 4));
}

TEST(Linear, ABiasIsAddedByTheProduct) {
  Torch t;
  const Tensor w = leaf(t, {128, 64});
  const Tensor b = leaf(t, {128});
  const Tensor x = input(t, {2, 8, 64});
  const Watch watch(t);
  t.linear(x, w, b);
  EXPECT_THAT(watch.made(), ElementsAre("aten::addmm"));
}

TEST(Linear, ABiasIsAddedInPlaceWhereTheInputIsNotContiguous) {
  Torch t;
  const Tensor w = leaf(t, {128, 64});
  const Tensor b = leaf(t, {128});
  const Tensor x = t.transpose(input(t, {8, 2, 64}), 0, 1);
  const Watch watch(t);
  t.linear(x, w, b);
  EXPECT_THAT(watch.made(), ElementsAre("aten::clone", "aten::mm"));
}

TEST(Linear, KeepsItsInputForTheWeightsGradientOnly) {
  const auto input_kept = [](bool trained) {
    Torch t;
    Tensor x = t.mul_scalar(leaf(t, {16, 64}));
    const StorageId in = x->storage;
    const Tensor y = t.linear(x, t.parameter({128, 64}, DType::fp32, trained), {});
    x.reset();
    return alive(t, in);
  };
  EXPECT_TRUE(input_kept(true));
  EXPECT_FALSE(input_kept(false));
}

TEST(Linear, TheWeightsGradientIsMadeInItsOwnLayoutAndTaken) {
  Torch t;
  const Tensor x = input(t, {16, 64});
  const Tensor w = leaf(t, {128, 64});
  const Tensor y = t.linear(x, w, {});
  const Watch watch(t);
  t.backward(y);
  EXPECT_THAT(watch.made(), ElementsAre("aten::ones_like", "aten::mm"));
  EXPECT_THAT(watch.sizes(), ElementsAre(16 * 128 * 4, 128 * 64 * 4));
  EXPECT_EQ(w->grad->strides, (Dims{64, 1}));
}

TEST(Linear, MakesTheWeightsGradientBeforeTheInputs) {
  Torch t;
  const Tensor x = leaf(t, {16, 64});
  const Tensor w = leaf(t, {128, 64});
  const Tensor y = t.linear(x, w, {});
  const Watch watch(t);
  t.backward(y);
  EXPECT_THAT(watch.sizes(), ElementsAre(16 * 128 * 4, 128 * 64 * 4, 16 * 64 * 4));
}

TEST(Linear, WithABiasMakesTheInputsGradientFirst) {
  Torch t;
  const Tensor x = leaf(t, {16, 64});
  const Tensor w = leaf(t, {128, 64});
  const Tensor b = leaf(t, {128});
  const Tensor y = t.linear(x, w, b);
  const Watch watch(t);
  t.backward(y);
  EXPECT_THAT(watch.made(), ElementsAre("aten::ones_like", "aten::mm", "aten::mm", "aten::sum"));
  EXPECT_THAT(watch.sizes(), ElementsAre(16 * 128 * 4, 16 * 64 * 4, 128 * 64 * 4, 512));
}

TEST(Matmul, HeadsAreCopiedTogetherUnlessTheBatchIsOne) {
  // batch × length × heads × width seen as batch × heads × length × width: the two leading sizes cannot be one.
  const auto made = [](std::int64_t batch) {
    Torch t;
    const Tensor q = t.transpose(input(t, {batch, 8, 4, 16}), 1, 2);
    const Tensor k = t.transpose(input(t, {batch, 8, 4, 16}), 1, 2);
    const Watch watch(t);
    const Tensor y = t.matmul(q, t.transpose(k, 2, 3));
    EXPECT_EQ(y->sizes, (Dims{batch, 4, 8, 8}));
    return watch.made();
  };
  EXPECT_THAT(made(1), ElementsAre("aten::bmm"));
  EXPECT_THAT(made(2), ElementsAre("aten::clone", "aten::clone", "aten::bmm"));
}

TEST(Matmul, TheGradientsOfABatchedProduct) {
  Torch t;
  const Tensor a = leaf(t, {4, 8, 16});
  const Tensor b = leaf(t, {4, 16, 32});
  const Tensor y = t.bmm(a, b);
  EXPECT_EQ(y->sizes, (Dims{4, 8, 32}));
  const Watch watch(t);
  t.backward(y);
  EXPECT_THAT(watch.sizes(), ElementsAre(4 * 8 * 32 * 4, 4 * 16 * 32 * 4, 4 * 8 * 16 * 4));
}

TEST(Reduction, AMeanKeepsItsDimensionAndItsGradientIsSpread) {
  Torch t;
  const Tensor x = leaf(t, {128, 64});
  const Tensor y = t.mean_last(x);
  EXPECT_EQ(y->sizes, (Dims{128, 1}));
  const Watch watch(t);
  t.backward(y);
  EXPECT_THAT(watch.made(), ElementsAre("aten::ones_like", "aten::div"));
  EXPECT_THAT(watch.sizes(), ElementsAre(512, 128 * 64 * 4));
}

TEST(Reduction, SoftmaxKeepsItsOutputAndNotItsInput) {
  Torch t;
  Tensor x = t.mul_scalar(leaf(t, {8, 128}));
  const StorageId in = x->storage;
  Tensor y = t.softmax_last(x);
  const StorageId out = y->storage;
  const Tensor z = t.mul_scalar(y);
  x.reset();
  y.reset();
  EXPECT_FALSE(alive(t, in));
  EXPECT_TRUE(alive(t, out));
}

TEST(Reduction, SoftmaxInAnotherTypeCastsFirst) {
  Torch t;
  const Tensor x = input(t, {8, 128}, DType::bf16);
  const Watch watch(t);
  EXPECT_EQ(t.softmax_last(x, DType::fp32)->dtype, DType::fp32);
  EXPECT_THAT(watch.made(), ElementsAre("aten::_to_copy", "aten::_softmax"));
  EXPECT_THAT(watch.sizes(), ElementsAre(4096, 4096));
}

}  // namespace
}  // namespace oomplan::estimator
