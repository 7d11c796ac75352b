// RecurrentGemma, RWKV and Zamba: layers that go through a row token by token, or share a transformer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

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

Keys zamba2(const std::string& layers, const Keys& changes = {}) {
  const auto count = 1 + std::count(layers.begin(), layers.end(), ',');
  return example::with({{"model_type", "\"zamba2\""},
                        {"hidden_size", "256"},
                        {"num_hidden_layers", std::to_string(count)},
                        {"layers_block_type", "[" + layers + "]"},
                        {"num_attention_heads", "4"},
                        {"vocab_size", "1000"}},
                       changes);
}

const std::string mamba = "\"mamba\"", hybrid = "\"hybrid\"";

std::int64_t count_of(const std::string& layers, const Keys& changes = {}) {
  return played(plan(), zamba2(layers, changes)).parameters;
}

TEST(Zamba, LayersShareTransformersOfSetsInTurn) {
  const std::int64_t of_mamba = count_of(mamba + ", " + mamba) - count_of(mamba);
  const std::int64_t one = count_of(mamba + ", " + hybrid);
  const std::int64_t two = count_of(mamba + ", " + hybrid + ", " + hybrid);
  // Of a hybrid layer's own: a Mamba layer, a projection, and an adapter of rank 128 to both halves of the MLP.
  const std::int64_t own = of_mamba + width * width + 128 * (width + 2 * 4 * width);
  EXPECT_EQ(two - one, own);
  const Keys of_two_sets = {{"num_mem_blocks", "2"}};
  const std::int64_t second = count_of(mamba + ", " + hybrid + ", " + hybrid, of_two_sets) - one;
  // Projections from and to twice the width, both norms, the MLP.
  const std::int64_t transformer = 3 * 2 * width * 2 * width + 2 * width * width + 3 * width + 3 * 4 * width * width;
  EXPECT_EQ(second - own, transformer);
  EXPECT_EQ(count_of(mamba + ", " + hybrid + ", " + hybrid + ", " + hybrid, of_two_sets) - one - second, own);
}

TEST(Zamba, WhatNoRunShowedOfSharedWeightsIsUndecided) {
  const Keys model = zamba2(mamba + ", " + hybrid);
  TrainingPlan p = plan();
  EXPECT_EQ(refusal(p, model), "");
  p.checkpointing.offload.value = Offload::streamed;
  EXPECT_NE(refusal(p, model), "");
  p = plan();
  p.adapter.kind.value = Adapter::lora;
  p.quantization.kind.value = Quantization::nf4;
  EXPECT_THAT(refusal(p, model), testing::HasSubstr("layers share"));
  p = plan();
  p.mesh = example::mesh(Sharding::fsdp1, 2);
  EXPECT_THAT(refusal(p, model), testing::HasSubstr("layers share"));
}

}  // namespace
}  // namespace oomplan
