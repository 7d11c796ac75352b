// Ranks that share the matrices of a model's blocks: what each holds, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "plans.hpp"

namespace oomplan {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

Architecture model(const example::Keys& changes = {}) {
  example::Keys keys{{"num_attention_heads", "8"}, {"num_key_value_heads", "4"}, {"vocab_size", "4096"}};
  for (const auto& [key, value] : changes) keys[key] = value;
  return example::architecture(example::llama(keys));
}

TrainingPlan shared(std::int64_t ranks) {
  TrainingPlan p = example::plan(2, 512);
  p.optimizer.name.value = "adamw_fused";
  p.mesh = example::mesh(Sharding::none, ranks);
  p.mesh.tensor_parallel.value = ranks;
  return p;
}

std::vector<std::string> errors(const TrainingPlan& p, const Architecture& architecture = model()) {
  std::vector<std::string> out;
  const auto footprint = estimate(p, architecture);
  if (footprint) return out;
  for (const Diagnostic& d : footprint.errors()) out.push_back(d.code + ": " + d.message);
  return out;
}

Bytes weights(const Footprint& footprint) {
  return at(example::peak_of(footprint, Phase::forward, 1).by_bucket, Bucket::weights);
}

TEST(TensorParallel, EachRankHoldsItsPartOfEveryMatrixAndAllNorms) {
  const Architecture architecture = model();
  const Footprint whole = example::played(shared(1), architecture);
  const Footprint half = example::played(shared(2), architecture);
  const Footprint quarter = example::played(shared(4), architecture);
  const Bytes norms = weights(half) + weights(half) - weights(whole);
  EXPECT_GT(norms, Bytes(0));
  EXPECT_LT(norms, Bytes::kib(64));
  EXPECT_EQ(weights(half) - norms, weights(quarter) - norms + (weights(quarter) - norms));
  EXPECT_EQ(half.parameters, whole.parameters);
  EXPECT_EQ(half.trainable_parameters, whole.trainable_parameters);
}

TEST(TensorParallel, AWorldOfOneIsOneGpu) {
  const Architecture architecture = model();
  TrainingPlan alone = shared(1);
  alone.mesh = {};
  EXPECT_EQ(example::played(shared(1), architecture).events, example::played(alone, architecture).events);
}

TEST(TensorParallel, PartsOfRowsAndOfLogitsTakeLess) {
  const Architecture architecture = model();
  TrainingPlan p = shared(4);
  const Bytes plain = example::played(p, architecture).peak.total;
  p.mesh.sequence_parallel.value = true;
  const Bytes of_rows = example::played(p, architecture).peak.total;
  EXPECT_LT(of_rows, plain);
  p.mesh.loss_parallel.value = true;
  EXPECT_LT(example::played(p, architecture).peak.total, of_rows);
}

// The gradient of an embedding is that of all its rows, on each rank.
TEST(TensorParallel, TheGradientOfTheEmbeddingIsWhole) {
  const Architecture architecture = model({{"tie_word_embeddings", "false"}});
  const auto gradients = [&](std::int64_t ranks) {
    return at(example::peak_of(example::played(shared(ranks), architecture), Phase::optimizer_step, 2).by_bucket,
              Bucket::gradients);
  };
  const Bytes embedding(4096 * 256 * 2);
  EXPECT_GT(gradients(4), embedding);
  EXPECT_LT(gradients(4), gradients(1));
}

TEST(TensorParallel, AVocabularyThatRanksDoNotShareEquallyIsCountedOnce) {
  const Architecture architecture = model({{"vocab_size", "4098"}});
  EXPECT_EQ(example::played(shared(4), architecture).parameters, example::played(shared(1), architecture).parameters);
}

TEST(TensorParallel, NumbersOfRanksGoTogether) {
  TrainingPlan p = shared(2);
  p.mesh.world_size.value = 3;
  EXPECT_THAT(errors(p), Contains(HasSubstr("estimate/bad-mesh: tensor_parallel: 3 ranks make no group of 2")));
  EXPECT_THAT(errors(shared(8)),
              Contains(HasSubstr("estimate/bad-mesh: tensor_parallel: 8 ranks cannot share 4 key-value heads")));
  EXPECT_THAT(errors(shared(4), model({{"intermediate_size", "514"}})),
              Contains(HasSubstr("4 ranks that do not share model.layers.*.mlp.gate_proj equally (514)")));
  p = shared(4);
  p.mesh.sequence_parallel.value = true;
  p.batch.sequence_length.value = 514;
  EXPECT_THAT(errors(p), Contains(HasSubstr("a row of 514 tokens, which 4 ranks do not share equally")));
}

TEST(TensorParallel, MoreRanksThanAnyModelHasHeadsAreRefused) {
  for (const std::int64_t ranks : {std::int64_t{100'000}, std::numeric_limits<std::int64_t>::max()})
    EXPECT_THAT(errors(shared(ranks)), Contains(HasSubstr("GPUs share a matrix"))) << ranks;
  EXPECT_THAT(errors(shared(65'536)), Contains(HasSubstr("65536 ranks cannot share 4 key-value heads")));
}

TEST(TensorParallel, WhatWasNotMeasuredIsUndecided) {
  EXPECT_THAT(errors(shared(2), example::architecture(example::gpt2())),
              Contains(HasSubstr("gpt2 under tensor parallelism is not modelled yet")));
  TrainingPlan p = shared(2);
  p.adapter.kind.value = Adapter::lora;
  EXPECT_THAT(errors(p), Contains(HasSubstr("an adapter under tensor parallelism is not modelled yet")));
  p = shared(2);
  p.mesh.world_size.value = 4;
  p.mesh.sharding.value = Sharding::ddp;
  EXPECT_THAT(errors(p), Contains(HasSubstr("ddp under tensor parallelism is not modelled yet")));
  p = shared(2);
  p.optimizer.name.value = "sgd";
  EXPECT_THAT(errors(p), Contains(HasSubstr("the optimizer sgd under tensor parallelism is not modelled yet")));
  p = shared(1);
  p.mesh.loss_parallel.value = true;
  EXPECT_THAT(errors(p), Contains(HasSubstr("estimate/bad-mesh: loss_parallel needs tensor_parallel above 1")));
}

TEST(TensorParallel, ClippingStopsAtGradientsOfTwoKinds) {
  TrainingPlan p = shared(2);
  p.optimizer.clip_gradients.value = true;
  EXPECT_THAT(errors(p), Contains(HasSubstr("estimate/bad-mesh: torch's clip_grad_norm_ stops")));
  p.mesh.sequence_parallel.value = true;
  EXPECT_TRUE(errors(p).empty());
}

}  // namespace
}  // namespace oomplan
