// RecurrentGemma and RWKV, whose layers go through a row token by token.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plans.hpp"

namespace oomplan {
namespace {

using example::Keys;

constexpr std::int64_t batch = 2;
constexpr std::int64_t length = 16;
constexpr std::int64_t width = 256;

Keys recurrent_gemma(const Keys& changes = {}) {
  return example::with({{"model_type", "\"recurrent_gemma\""},
                        {"hidden_size", "256"},
                        {"intermediate_size", "512"},
                        {"num_hidden_layers", "3"},
                        {"num_attention_heads", "4"},
                        {"vocab_size", "1000"}},
                       changes);
}

Keys rwkv(const Keys& changes = {}) {
  return example::with(
      {{"model_type", "\"rwkv\""}, {"hidden_size", "256"}, {"num_hidden_layers", "2"}, {"vocab_size", "1000"}},
      changes);
}

TrainingPlan plan(std::int64_t rows = length) {
  TrainingPlan p = example::plan(batch, rows);
  p.kernels.attention.value = Attention::eager;
  return p;
}

Footprint played(const TrainingPlan& p, const Keys& model) { return example::played(p, example::architecture(model)); }

std::string refusal(const TrainingPlan& p, const Keys& model) {
  const auto out = estimate(p, example::architecture(model));
  return out.ok() ? "" : out.errors().front().code + ": " + out.errors().front().message;
}

std::int64_t left_in_the_step(const Keys& model) {
  const PhasePeak peak = example::peak_of(played(plan(), model), Phase::optimizer_step, 2);
  return at(peak.by_bucket, Bucket::activations).count() + at(peak.by_bucket, Bucket::temporaries).count();
}

TEST(RecurrentGemma, ARecurrentLayerKeepsItsLastStateFromStepToStep) {
  const std::int64_t of_two = left_in_the_step(recurrent_gemma());
  const std::int64_t of_four = left_in_the_step(recurrent_gemma({{"num_hidden_layers", "6"}}));
  EXPECT_EQ(of_four - of_two, 2 * batch * width * 4);
}

TEST(RecurrentGemma, ListsItsBlocksInTurn) {
  const auto count = [](const char* types) {
    return played(plan(), recurrent_gemma({{"block_types", types}})).parameters;
  };
  EXPECT_EQ(count(R"(["recurrent", "recurrent", "attention"])"), played(plan(), recurrent_gemma()).parameters);
  EXPECT_EQ(count(R"(["attention", "recurrent"])"), count(R"(["attention", "recurrent", "attention"])"));
  EXPECT_LT(count(R"(["recurrent"])"), count(R"(["attention"])"));
}

TEST(RecurrentGemma, RowsOfOneTokenAndVeryLongOnesAreUndecided) {
  EXPECT_THAT(refusal(plan(1), recurrent_gemma()), testing::HasSubstr("one token"));
  EXPECT_THAT(refusal(plan(4097), recurrent_gemma()), testing::HasSubstr("loop over their tokens"));
}

TEST(RecurrentGemma, HasNoLoraOnItsConvolution) {
  TrainingPlan p = plan();
  p.adapter.kind.value = Adapter::lora;
  p.adapter.targets.value = {"conv_1d"};
  EXPECT_THAT(refusal(p, recurrent_gemma()), testing::HasSubstr("convolution"));
}

TEST(Rwkv, OnlyTheFirstLayerHasANormMore) {
  const auto count = [](const char* layers) {
    return played(plan(), rwkv({{"num_hidden_layers", layers}})).parameters;
  };
  EXPECT_EQ(count("3") - count("2"), count("4") - count("3"));
  // Two of the embedding's size, the norm before all and the one after.
  EXPECT_EQ(count("2") - 2 * (count("3") - count("2")), 2 * 1000 * width + 4 * width);
}

TEST(Rwkv, ByItsKernelItIsUndecided) {
  TrainingPlan p = plan();
  p.kernels.scan_packages.value = true;
  EXPECT_THAT(refusal(p, rwkv()), testing::HasSubstr("kernel"));
  EXPECT_THAT(refusal(plan(4097), rwkv()), testing::HasSubstr("loop over their tokens"));
}

TEST(Rwkv, FourBitWeightsAreRescaledToEvaluate) {
  TrainingPlan p = plan();
  p.adapter.kind.value = Adapter::lora;
  p.quantization.kind.value = Quantization::nf4;
  p.adapter.targets.value = {"key"};
  EXPECT_EQ(refusal(p, rwkv()), "");
  p.evaluation.evaluates.value = true;
  EXPECT_THAT(refusal(p, rwkv()), testing::HasSubstr("evaluate"));
}

}  // namespace
}  // namespace oomplan
