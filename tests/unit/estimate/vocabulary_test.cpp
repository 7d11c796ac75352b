// Embeddings that are enlarged once they are loaded (PreTrainedModel.resize_token_embeddings).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plans.hpp"

namespace oomplan {
namespace {

constexpr std::int64_t words = 1024;

TrainingPlan enlarged(WeightsDType dtype = WeightsDType::bf16) {
  TrainingPlan p = example::plan(1, 64);
  p.precision.weights_dtype.value = dtype;
  p.model.vocabulary.value = words;
  p.model.mean_resizing.value = true;
  return p;
}

std::int64_t load_peak(const TrainingPlan& p, const Architecture& model) {
  return example::peak_of(example::played(p, model), Phase::load, 0).tensors().count();
}

/// What loading holds beyond the model that is loaded.
double more(const TrainingPlan& p, const example::Keys& changes = {}) {
  const Architecture model = example::architecture(example::llama(changes));
  TrainingPlan as_loaded = p;
  as_loaded.model.vocabulary.value = 0;
  return static_cast<double>(load_peak(p, model) - load_peak(as_loaded, model));
}

// By the oracle, from 1,000 rows: transformers 5.23.0 on its device without data, a scalar less than 4 KiB.
TEST(Vocabulary, LoadingHoldsWhatNewRowsAreDrawnFrom) {
  constexpr double scalars = 4096;
  EXPECT_NEAR(more(enlarged()), 4'158'467, scalars);
  EXPECT_NEAR(more(enlarged(), {{"tie_word_embeddings", "true"}}), 4'146'179, scalars);
  EXPECT_NEAR(more(enlarged(WeightsDType::fp32)), 3'671'043, scalars);
  TrainingPlan plain = enlarged();
  plain.model.mean_resizing.value = false;
  EXPECT_NEAR(more(plain), 536'576, scalars);
}

TEST(Vocabulary, StepsHaveTheNewRows) {
  const Footprint footprint = example::played(enlarged(), example::architecture(example::llama()));
  const Footprint made = [] {
    TrainingPlan p = enlarged();
    p.model.vocabulary.value = 0;
    return example::played(p, example::architecture(example::llama({{"vocab_size", "1024"}})));
  }();
  EXPECT_EQ(footprint.parameters, made.parameters);
  for (const Phase phase : {Phase::forward, Phase::backward, Phase::optimizer_step})
    EXPECT_EQ(example::peak_of(footprint, phase, 2).tensors(), example::peak_of(made, phase, 2).tensors());
}

std::string refusal(const TrainingPlan& p, const example::Keys& model) {
  const auto out = estimate(p, example::architecture(model));
  return out.ok() ? "" : out.errors().front().message;
}

TEST(Vocabulary, WhatNoRunShowedIsUndecided) {
  EXPECT_EQ(refusal(enlarged(), example::llama()), "");
  EXPECT_EQ(refusal(enlarged(), example::bert()), "an enlarged vocabulary of a model of type bert is not modelled yet");
  EXPECT_EQ(refusal(enlarged(), example::llama({{"vocab_size", "2048"}})),
            "a vocabulary of fewer rows than the checkpoint has is not modelled yet");
  TrainingPlan sharded = enlarged();
  sharded.mesh = example::mesh(Sharding::fsdp2, 2);
  EXPECT_EQ(refusal(sharded, example::llama()), "an enlarged vocabulary of a sharded model is not modelled yet");
}

TEST(Vocabulary, TokensThatMayBeThereAreARange) {
  const Architecture model = example::architecture(example::llama());
  TrainingPlan p = enlarged();
  p.model.vocabulary.origin.kind = Origin::Kind::assumed;
  const auto open = unknown_of(p, model, example::played(p, model));
  ASSERT_EQ(open.size(), 1U);
  EXPECT_EQ(open.front().name, "new tokens");
  p.model.vocabulary.origin.kind = Origin::Kind::config;
  EXPECT_THAT(unknown_of(p, model, example::played(p, model)), testing::IsEmpty());
}

}  // namespace
}  // namespace oomplan
