// Which masks a model makes, how long it holds them, and what they make of the choice of kernel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plans.hpp"

namespace oomplan {
namespace {

using example::Keys;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t batch = 4;
constexpr std::int64_t length = 256;
constexpr std::int64_t squares = batch * length * length;

TrainingPlan plan(Attention attention, bool padded) {
  TrainingPlan p = example::plan(batch, length);
  p.kernels.attention.value = attention;
  p.batch.padding_mask = {padded, {.kind = Origin::Kind::config}};
  return p;
}

TrainingPlan checkpointed(TrainingPlan p) {
  p.checkpointing.on.value = true;
  return p;
}

TrainingPlan fp32(TrainingPlan p) {
  p.precision.weights_dtype.value = WeightsDType::fp32;
  return p;
}

std::int64_t most_scores(const TrainingPlan& p, const Keys& model) {
  const auto bucket = static_cast<std::size_t>(Bucket::attention_scores);
  return example::played(p, example::architecture(model)).bucket_peaks[bucket].by_bucket[bucket].count();
}

std::int64_t scores_in_the_loss(const TrainingPlan& p, const Keys& model) {
  const Footprint f = example::played(p, example::architecture(model));
  return at(example::peak_of(f, Phase::loss, 1).by_bucket, Bucket::attention_scores).count();
}

std::vector<std::string> kernels(const TrainingPlan& p, const Keys& model) {
  return example::played(p, example::architecture(model)).attention_kernels;
}

TEST(Mask, NoneWhereTheKernelNeedsNone) {
  for (const Keys& model : {example::llama(), example::gpt2(), example::bert()}) {
    EXPECT_EQ(most_scores(plan(Attention::sdpa, false), model), 0);
    EXPECT_EQ(most_scores(plan(Attention::flash_attention_2, false), model), 0);
    EXPECT_EQ(most_scores(plan(Attention::flash_attention_2, true), model), 0);
  }
}

// Without a mask the heads stay grouped, and of those in fp32 only PyTorch's own attention takes any.
TEST(Mask, ThatMayNotBeThereIsTheWorseOfTheTwo) {
  const Keys grouped = example::qwen3();
  TrainingPlan said = fp32(plan(Attention::sdpa, true));
  TrainingPlan assumed = said;
  assumed.batch.padding_mask.origin.kind = Origin::Kind::assumed;
  EXPECT_THAT(kernels(said, grouped), ElementsAre("efficient"));
  EXPECT_THAT(kernels(assumed, grouped), ElementsAre("math"));
  EXPECT_THAT(kernels(assumed, example::gpt2()), ElementsAre("efficient")) << "its heads are not grouped";

  const Architecture a = example::architecture(grouped);
  const std::vector<Contribution> open = unknown_of(assumed, a, example::played(assumed, a));
  ASSERT_EQ(open.size(), 1U);
  EXPECT_EQ(open.front().name, "padding");
  EXPECT_TRUE(unknown_of(said, a, example::played(said, a)).empty());

  assumed.precision.autocast.value = Autocast::bf16;
  EXPECT_THAT(kernels(assumed, grouped), ElementsAre("efficient"));
}

TEST(Mask, OfPaddedRowsIsAByteAPair) {
  for (const Keys& model : {example::llama(), example::gpt2(), example::bert()}) {
    EXPECT_GE(most_scores(plan(Attention::sdpa, true), model), squares);
  }
}

TEST(Mask, IsHeldOnceByAllCheckpointedBlocks) {
  for (const char* layers : {"2", "7"}) {
    const Keys model = example::llama({{"num_hidden_layers", layers}});
    EXPECT_EQ(scores_in_the_loss(checkpointed(plan(Attention::sdpa, false)), model), 0);
    EXPECT_EQ(scores_in_the_loss(checkpointed(plan(Attention::sdpa, true)), model), squares);
    EXPECT_EQ(scores_in_the_loss(checkpointed(plan(Attention::eager, false)), model), 2 * squares);
    EXPECT_EQ(scores_in_the_loss(checkpointed(fp32(plan(Attention::eager, false))), model), 4 * squares);
  }
}

TEST(Mask, OfAWindowIsMadeOnlyWhereRowsReachIt) {
  const auto peak = [](const char* window) {
    const Architecture model = example::architecture(example::mistral({{"sliding_window", window}}));
    const Footprint f = example::played(plan(Attention::sdpa, false), model);
    return std::pair(f.peak.total, f.attention_kernels);
  };
  EXPECT_EQ(peak("257"), peak("null"));
  EXPECT_GT(peak("256").first, peak("null").first);
  EXPECT_THAT(peak("256").second, ElementsAre("efficient"));
}

TEST(Mask, OfAnEncoderIsNoneWithoutPadding) {
  EXPECT_EQ(scores_in_the_loss(checkpointed(plan(Attention::eager, false)), example::bert()), 0);
  EXPECT_EQ(scores_in_the_loss(checkpointed(plan(Attention::eager, true)), example::bert()), 2 * squares);
}

TEST(Kernels, AreThoseThatTheModelsCallsGet) {
  EXPECT_THAT(kernels(plan(Attention::sdpa, false), example::llama()), ElementsAre("flash"));
  EXPECT_THAT(kernels(plan(Attention::sdpa, true), example::llama()), ElementsAre("efficient"));
  EXPECT_THAT(kernels(fp32(plan(Attention::sdpa, false)), example::llama()), ElementsAre("math"));
  EXPECT_THAT(kernels(fp32(plan(Attention::sdpa, true)), example::llama()), ElementsAre("efficient"));
  EXPECT_THAT(kernels(fp32(plan(Attention::sdpa, false)), example::gpt2()), ElementsAre("efficient"));
  EXPECT_THAT(kernels(plan(Attention::sdpa, false), example::bert()), ElementsAre("flash"));
  EXPECT_THAT(kernels(plan(Attention::sdpa, true), example::bert()), ElementsAre("efficient"));
  EXPECT_THAT(kernels(plan(Attention::eager, true), example::llama()), IsEmpty());
}

}  // namespace
}  // namespace oomplan
