#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recording.hpp"

namespace oomplan::estimator {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

TEST(Embedding, ItsGradientIsAsLargeAsTheTable) {
  Torch t;
  const Tensor table = leaf(t, {1000, 64}, DType::bf16);
  const Tensor ids = input(t, {2, 16}, DType::int64);
  const Tensor y = t.embedding(table, ids);
  EXPECT_EQ(y->sizes, (Dims{2, 16, 64}));
  EXPECT_EQ(y->dtype, DType::bf16);
  const Watch watch(t);
  t.backward(y);
  EXPECT_THAT(watch.sizes(), ElementsAre(2 * 16 * 64 * 2, 1000 * 64 * 2));
}

TEST(Embedding, ManyIndicesAreSortedByScratchThatGoesAtOnce) {
  const auto scratch = [](std::int64_t tokens) {
    Torch t;
    const Tensor table = leaf(t, {10, 64});
    const Tensor ids = input(t, {tokens}, DType::int64);
    const Tensor y = t.embedding(table, ids);
    const Watch watch(t);
    t.backward(y);
    EXPECT_EQ(watch.net(), 10 * 64 * 4);
    std::vector<std::int64_t> sizes = watch.sizes();
    sizes.erase(sizes.begin(), sizes.begin() + 2);
    return sizes;
  };
  EXPECT_TRUE(scratch(3072).empty());
  EXPECT_EQ(scratch(3073).size(), 5U);
  EXPECT_THAT(scratch(3073), Each(25'088));  // 3073 × 8, rounded.
}

TEST(LayerNorm, KeepsAMeanAndADeviationARow) {
  Torch t;
  const Tensor x = leaf(t, {256, 64}, DType::bf16);
  const Tensor w = leaf(t, {64}, DType::bf16);
  const Tensor b = leaf(t, {64}, DType::bf16);
  const Watch watch(t);
  Tensor y = t.layer_norm(x, w, b);
  EXPECT_THAT(watch.sizes(), ElementsAre(256 * 64 * 2, 1024, 1024));
  EXPECT_EQ(bucket_of(t, x), Bucket::weights);
  const Watch second(t);
  t.backward(y);
  EXPECT_THAT(second.sizes(), ElementsAre(256 * 64 * 2, 256 * 64 * 2, 512, 512));
}

TEST(LayerNorm, RunsInFp32UnderAutocast) {
  Torch t;
  t.enter_autocast(DType::bf16);
  const Tensor x = input(t, {256, 64}, DType::bf16);
  EXPECT_EQ(t.layer_norm(x, leaf(t, {64}), leaf(t, {64}))->dtype, DType::fp32);
  t.exit_autocast();
}

constexpr std::int64_t tokens = 32;
constexpr std::int64_t vocabulary = 1000;
constexpr std::int64_t fp32_logits = tokens * vocabulary * 4;

TEST(CrossEntropy, KeepsTheLogProbabilities) {
  Torch t;
  const Tensor logits = leaf(t, {tokens, vocabulary});
  const Tensor labels = input(t, {tokens}, DType::int64);
  const Watch watch(t);
  const Tensor loss = t.cross_entropy(logits, labels);
  EXPECT_THAT(watch.made(), ElementsAre("aten::_log_softmax", "aten::nll_loss_forward", "aten::nll_loss_forward"));
  EXPECT_THAT(watch.sizes(), ElementsAre(fp32_logits, 512, 512));
  EXPECT_EQ(watch.net(), fp32_logits + 1024);
}

TEST(CrossEntropy, ItsBackwardNeedsTwiceTheLogitsMore) {
  Torch t;
  const Tensor logits = leaf(t, {tokens, vocabulary});
  const Tensor labels = input(t, {tokens}, DType::int64);
  const Tensor loss = t.cross_entropy(logits, labels);
  const Watch watch(t);
  t.backward(loss);
  EXPECT_THAT(watch.made(),
              ElementsAre("aten::ones_like", "aten::nll_loss_backward", "aten::_log_softmax_backward_data"));
  EXPECT_EQ(watch.peak(), 512 + 2 * fp32_logits - 512);  // The total weight went when its node had run.
}

TEST(CrossEntropy, AutocastRaisesTheLogProbabilitiesAndNotTheLogits) {
  Torch t;
  t.enter_autocast(DType::bf16);
  const Tensor logits = leaf(t, {tokens, vocabulary}, DType::bf16);
  const Watch watch(t);
  const Tensor loss = t.cross_entropy(logits, input(t, {tokens}, DType::int64));
  EXPECT_THAT(watch.made(), ElementsAre("input", "aten::_log_softmax", "aten::_to_copy", "aten::nll_loss_forward",
                                        "aten::nll_loss_forward"));
  EXPECT_EQ(watch.sizes()[1], fp32_logits / 2);
  EXPECT_EQ(watch.sizes()[2], fp32_logits);
  t.exit_autocast();
}

}  // namespace
}  // namespace oomplan::estimator
