// Output strides and types as torch 2.13 gives them; what each formula of derivatives.yaml saves and makes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recording.hpp"

namespace oomplan::estimator {
namespace {

using ::testing::ElementsAre;

TEST(OutputStrides, OfContiguousOperandsAreContiguous) {
  Torch t;
  EXPECT_EQ(t.add(input(t, {2, 3, 4}), input(t, {2, 3, 4}))->strides, (Dims{12, 4, 1}));
}

TEST(OutputStrides, APermutationThatOperandsShareIsKept) {
  Torch t;
  const Tensor x = t.t(input(t, {3, 4}));
  EXPECT_EQ(t.add(x, x)->strides, (Dims{1, 4}));
  EXPECT_EQ(t.neg(x)->strides, (Dims{1, 4}));
}

TEST(OutputStrides, WhereOperandsDisagreeTheFirstDecides) {
  Torch t;
  const Tensor turned = t.t(input(t, {3, 4}));
  const Tensor plain = input(t, {4, 3});
  EXPECT_EQ(t.add(turned, plain)->strides, (Dims{1, 4}));
  EXPECT_EQ(t.add(plain, turned)->strides, (Dims{3, 1}));
}

TEST(OutputStrides, OfABroadcastFollowTheOperandThatHasTheDimension) {
  Torch t;
  EXPECT_EQ(t.add(input(t, {3, 1}), input(t, {1, 4}))->strides, (Dims{4, 1}));
  const Tensor turned = t.transpose(input(t, {2, 3, 4}), 1, 2);
  EXPECT_EQ(t.add(turned, input(t, {3}))->strides, (Dims{12, 1, 4}));
  EXPECT_EQ(t.add(input(t, {3}), turned)->strides, (Dims{12, 1, 4}));
  const Tensor heads = t.transpose(input(t, {2, 5, 3, 4}), 1, 2);
  EXPECT_EQ(t.mul(heads, input(t, {2, 1, 5, 4}))->strides, (Dims{60, 4, 12, 1}));
  EXPECT_EQ(t.mul(input(t, {1, 1, 5, 4}), heads)->strides, (Dims{60, 4, 12, 1}));
}

TEST(OutputStrides, AGapIsClosedAndTheOrderKept) {
  Torch t;
  EXPECT_EQ(t.neg(t.slice(input(t, {4, 10}), 1, 0, 3))->strides, (Dims{3, 1}));
  const Tensor heads = t.transpose(input(t, {2, 5, 3, 4}), 1, 2);
  EXPECT_EQ(t.neg(t.slice(heads, 3, 0, 2))->strides, (Dims{30, 2, 6, 1}));
  EXPECT_EQ(t.clone(t.slice(heads, 3, 0, 2))->strides, (Dims{30, 2, 6, 1}));
}

TEST(Promotion, TheWiderFloatingTypeWinsAndATensorOutranksAScalar) {
  Torch t;
  const auto sum = [&](const Tensor& a, const Tensor& b) { return t.add(a, b)->dtype; };
  const Tensor bf16 = input(t, {2}, DType::bf16);
  EXPECT_EQ(sum(bf16, input(t, {2})), DType::fp32);
  EXPECT_EQ(sum(bf16, input(t, {2}, DType::fp16)), DType::fp32);
  EXPECT_EQ(sum(bf16, input(t, {})), DType::bf16);
  EXPECT_EQ(sum(bf16, input(t, {2}, DType::int64)), DType::bf16);
  EXPECT_EQ(sum(input(t, {2}, DType::int64), input(t, {})), DType::fp32);
}

/// Whether x's storage and y's outlive the tensors themselves, where y = op(x) and x is not a leaf.
template <class Op>
std::pair<bool, bool> kept_by(Op op) {
  Torch t;
  Tensor x = t.mul_scalar(leaf(t, {128}));
  Tensor y = op(t, x);
  const Tensor z = t.mul_scalar(y);  // Holds the graph, itself saving nothing.
  const StorageId in = x->storage;
  const StorageId out = y->storage;
  x.reset();
  y.reset();
  return {alive(t, in), alive(t, out)};
}

using Kept = std::pair<bool, bool>;

TEST(Unary, SiluAndGeluKeepTheirInput) {
  EXPECT_EQ(kept_by([](Torch& t, const Tensor& x) { return t.silu(x); }), Kept(true, false));
  EXPECT_EQ(kept_by([](Torch& t, const Tensor& x) { return t.gelu(x); }), Kept(true, false));
  EXPECT_EQ(kept_by([](Torch& t, const Tensor& x) { return t.pow_scalar(x); }), Kept(true, false));
}

TEST(Unary, TanhSigmoidReluAndRsqrtKeepTheirOutput) {
  EXPECT_EQ(kept_by([](Torch& t, const Tensor& x) { return t.tanh(x); }), Kept(false, true));
  EXPECT_EQ(kept_by([](Torch& t, const Tensor& x) { return t.sigmoid(x); }), Kept(false, true));
  EXPECT_EQ(kept_by([](Torch& t, const Tensor& x) { return t.relu(x); }), Kept(false, true));
  EXPECT_EQ(kept_by([](Torch& t, const Tensor& x) { return t.rsqrt(x); }), Kept(false, true));
}

TEST(Unary, SumsAndScalingsKeepNothing) {
  EXPECT_EQ(kept_by([](Torch& t, const Tensor& x) { return t.add_scalar(x); }), Kept(false, false));
  EXPECT_EQ(kept_by([](Torch& t, const Tensor& x) { return t.mul_scalar(x); }), Kept(false, false));
  EXPECT_EQ(kept_by([](Torch& t, const Tensor& x) { return t.neg(x); }), Kept(false, false));
  EXPECT_EQ(kept_by([](Torch& t, const Tensor& x) { return t.to(x, DType::bf16); }), Kept(false, false));
}

TEST(Mul, KeepsOnlyWhatTheGradientsAskedForNeed) {
  Torch t;
  const Tensor w = leaf(t, {128});
  Tensor x = input(t, {128});
  Tensor y = input(t, {128});
  const Tensor product = t.mul(w, x);  // The gradient of w needs x.
  EXPECT_EQ(bucket_of(t, x), Bucket::activations);
  EXPECT_EQ(bucket_of(t, w), Bucket::weights);
  const Tensor sum = t.add(product, y);
  EXPECT_EQ(bucket_of(t, y), Bucket::temporaries);
  EXPECT_EQ(bucket_of(t, product), Bucket::temporaries);
}

TEST(Gradients, EachFormulaMakesItsIntermediates) {
  Torch t;
  const auto backward = [&](const Tensor& y) {
    const Watch watch(t);
    t.backward(y);
    std::vector<std::string> made = watch.made();
    made.erase(made.begin());  // ones_like.
    return made;
  };
  EXPECT_THAT(backward(t.silu(leaf(t, {128}))), ElementsAre("aten::silu_backward"));
  EXPECT_THAT(backward(t.tanh(leaf(t, {128}))), ElementsAre("aten::tanh_backward"));
  EXPECT_THAT(backward(t.relu(leaf(t, {128}))), ElementsAre("aten::threshold_backward"));
  EXPECT_THAT(backward(t.pow_scalar(leaf(t, {128}))), ElementsAre("aten::pow", "aten::mul", "aten::mul"));
  EXPECT_THAT(backward(t.rsqrt(leaf(t, {128}))), ElementsAre("aten::pow", "aten::mul", "aten::mul"));
  EXPECT_THAT(backward(t.mul(leaf(t, {128}), leaf(t, {128}))), ElementsAre("aten::mul", "aten::mul"));
  EXPECT_THAT(backward(t.sub(input(t, {128}), leaf(t, {128}))), ElementsAre("aten::neg"));
}

TEST(Gradients, OfABroadcastOperandAreSummedToItsShape) {
  Torch t;
  const Tensor bias = leaf(t, {256});
  const Tensor y = t.add(input(t, {4, 256}), bias);
  const Watch watch(t);
  t.backward(y);
  EXPECT_EQ(bias->grad->sizes, Dims{256});
  EXPECT_EQ(watch.made()[1], "aten::sum");
  EXPECT_EQ(watch.sizes()[1], 1024);
}

TEST(Dropout, IsNothingAtZero) {
  Torch t;
  const Tensor x = leaf(t, {128});
  const Watch watch(t);
  EXPECT_EQ(t.dropout(x, 0.0).get(), x.get());
  EXPECT_TRUE(watch.nothing());
}

TEST(Dropout, MakesItsOutputAndKeepsAMaskOfAByteAnElement) {
  Torch t;
  Tensor x = t.mul_scalar(leaf(t, {1024}, DType::bf16));
  const StorageId in = x->storage;
  const Watch watch(t);
  const Tensor y = t.dropout(x, 0.1);
  EXPECT_THAT(watch.sizes(), ElementsAre(2048, 1024));
  x.reset();
  EXPECT_FALSE(alive(t, in));
  EXPECT_EQ(watch.net(), 1024);  // x's 2048 went, the output and the mask stay.
}

TEST(Copies, ToTheSameTypeIsTheTensorItself) {
  Torch t;
  const Tensor x = input(t, {128}, DType::bf16);
  EXPECT_EQ(t.to(x, DType::bf16).get(), x.get());
  EXPECT_EQ(t.contiguous(x).get(), x.get());
  EXPECT_NE(t.clone(x).get(), x.get());
}

TEST(Copies, ToAnotherTypeKeepsTheOrderOfDimensions) {
  Torch t;
  const Tensor x = t.t(input(t, {3, 4}));
  EXPECT_EQ(t.to(x, DType::bf16)->strides, (Dims{1, 4}));
  EXPECT_EQ(t.contiguous(x)->strides, (Dims{3, 1}));
}

TEST(Copies, AGradientGoesBackToTheTypeItCameFrom) {
  Torch t;
  const Tensor w = leaf(t, {256}, DType::bf16);
  const Watch watch(t);
  t.backward(t.to(w, DType::fp32));
  EXPECT_EQ(w->grad->dtype, DType::bf16);
  EXPECT_THAT(watch.sizes(), ElementsAre(1024, 1024, 512));  // The fp32 copy, its gradient, the bf16 gradient.
}

TEST(Copies, CatMakesOneTensorAndItsGradientIsViewed) {
  Torch t;
  const Tensor a = t.mul_scalar(leaf(t, {2, 128}));
  const Tensor b = t.mul_scalar(leaf(t, {2, 256}));
  const Watch watch(t);
  const Tensor joined = t.cat({a, b}, 1);
  EXPECT_EQ(joined->sizes, (Dims{2, 384}));
  EXPECT_THAT(watch.sizes(), ElementsAre(2 * 384 * 4));
  t.backward(joined);
  EXPECT_THAT(watch.made(), ElementsAre("aten::cat", "aten::ones_like", "aten::mul", "aten::mul"));
}

}  // namespace
}  // namespace oomplan::estimator
