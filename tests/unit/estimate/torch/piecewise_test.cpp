// What functions that differ by element save and make, as derivatives.yaml of torch 2.13 has their formulas.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recording.hpp"

namespace oomplan::estimator {
namespace {

using ::testing::ElementsAre;

constexpr std::int64_t n = 1024;

/// Bytes that a function of a bf16 input keeps beside its result.
template <class F>
std::int64_t kept(Torch& t, F function) {
  const Tensor x = t.mul_scalar(leaf(t, {n}, DType::bf16));
  const Watch watch(t);
  const Tensor y = function(x);
  return watch.net() - y->numel() * bytes_of(y->dtype);
}

TEST(Where, KeepsItsConditionAlone) {
  Torch t;
  EXPECT_EQ(kept(t, [&](const Tensor& x) { return t.where(t.pointwise({&x}, DType::boolean, "aten::gt"), x, x); }), n);
}

TEST(Where, GivesEachSideAGradientOfItsOwn) {
  Torch t;
  const Tensor a = leaf(t, {n}, DType::bf16);
  const Tensor b = leaf(t, {n}, DType::bf16);
  const Tensor y = t.where(input(t, {n}, DType::boolean), a, b);
  const Watch watch(t);
  t.backward(y);
  EXPECT_THAT(watch.made(), ElementsAre("aten::ones_like", "aten::where", "aten::where"));
}

TEST(Where, TheWiderSideDecidesTheType) {
  Torch t;
  const Tensor condition = input(t, {n}, DType::boolean);
  EXPECT_EQ(t.where(condition, input(t, {n}, DType::bf16), input(t, {n}))->dtype, DType::fp32);
}

TEST(Minimum, KeepsBothSidesAndMakesFourTensorsInBackward) {
  Torch t;
  const Tensor x = leaf(t, {n}, DType::bf16);
  const Tensor y = t.minimum(x, input(t, {}, DType::bf16));
  const Watch watch(t);
  t.backward(y);
  EXPECT_THAT(watch.made(), ElementsAre("aten::ones_like", "aten::eq", "aten::div", "aten::where", "aten::gt"));
}

TEST(Maximum, DoesSoToo) {
  Torch t;
  const Tensor x = leaf(t, {n}, DType::bf16);
  const Tensor y = t.maximum(x, leaf(t, {n}, DType::bf16));
  const Watch watch(t);
  t.backward(y);
  EXPECT_THAT(watch.made(), ElementsAre("aten::ones_like", "aten::eq", "aten::div", "aten::where", "aten::gt",
                                        "aten::eq", "aten::div", "aten::where", "aten::gt"));
}

TEST(MaskedFill, KeepsTheMaskAndFillsTheGradientAnew) {
  Torch t;
  EXPECT_EQ(kept(t, [&](const Tensor& x) { return t.masked_fill(x, input(t, {n}, DType::boolean)); }), n);
  const Tensor x = leaf(t, {n}, DType::bf16);
  const Tensor y = t.masked_fill(x, input(t, {n}, DType::boolean));
  const Watch watch(t);
  t.backward(y);
  EXPECT_THAT(watch.made(), ElementsAre("aten::ones_like", "aten::masked_fill"));
}

TEST(Expm1, KeepsItsOutputAndSoftplusItsInput) {
  Torch t;
  EXPECT_EQ(kept(t, [&](const Tensor& x) { return t.expm1(x); }), 0);
  EXPECT_EQ(kept(t, [&](const Tensor& x) { return t.softplus(x); }), 0);
  const Tensor x = t.mul_scalar(leaf(t, {n}, DType::bf16));
  const StorageId of_x = x->storage;
  const Tensor y = t.softplus(x);
  EXPECT_EQ(bucket_of(t, x), Bucket::activations);
  EXPECT_TRUE(alive(t, of_x));
}

TEST(InPlace, ADivisionMakesNothing) {
  Torch t;
  const Tensor x = t.mul_scalar(leaf(t, {n}, DType::bf16));
  const Watch watch(t);
  const Tensor y = t.div_scalar_(x);
  EXPECT_TRUE(watch.nothing());
  EXPECT_EQ(y.get(), x.get());
}

TEST(IndexOne, CopiesOneOfADimensionAndItsGradientIsOfAll) {
  Torch t;
  const Tensor x = leaf(t, {2, 8, 64}, DType::bf16);
  const Tensor y = t.index_one(x, 1);
  EXPECT_EQ(y->sizes, (Dims{2, 1, 64}));
  const Watch watch(t);
  t.backward(y);
  EXPECT_THAT(watch.sizes(), ElementsAre(512, 2 * 8 * 64 * 2));
}

TEST(SplitSizes, AreViewsWhoseGradientsAreJoined) {
  Torch t;
  const Tensor x = leaf(t, {4, 320}, DType::bf16);
  const Watch forward(t);
  const std::vector<Tensor> parts = t.split_sizes(x, {256, 32, 32}, 1);
  EXPECT_TRUE(forward.nothing());
  EXPECT_EQ(parts[1]->sizes, (Dims{4, 32}));
  const Watch watch(t);
  t.backward(parts[0]);
  EXPECT_THAT(watch.made(), ElementsAre("aten::ones_like", "aten::zeros", "aten::zeros", "aten::cat"));
}

TEST(Baddbmm, KeepsItsFactorsAndScalesTheirGradients) {
  Torch t;
  const Tensor a = leaf(t, {2, 64, 32}, DType::bf16);
  const Tensor b = leaf(t, {2, 32, 64}, DType::bf16);
  const Tensor y = t.baddbmm(input(t, {2, 1, 64}, DType::bf16), a, b);
  EXPECT_EQ(y->sizes, (Dims{2, 64, 64}));
  const Watch watch(t);
  t.backward(y);
  EXPECT_THAT(watch.made(), ElementsAre("aten::ones_like", "aten::bmm", "aten::mul", "aten::bmm", "aten::mul"));
}

}  // namespace
}  // namespace oomplan::estimator
