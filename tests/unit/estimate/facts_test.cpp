#include "facts.hpp"

#include <gtest/gtest.h>

#include "plans.hpp"

namespace oomplan::estimator {
namespace {

Facts resolved(const TrainingPlan& plan, const Architecture& model) {
  const auto facts = resolve(plan, model);
  if (facts) return *facts;
  ADD_FAILURE() << to_text(facts.errors().front());
  return {};
}

/// "code: message" of each error.
std::vector<std::string> errors(const TrainingPlan& plan, const example::Keys& model = example::llama()) {
  const auto facts = resolve(plan, example::architecture(model));
  std::vector<std::string> out;
  if (facts) return out;
  for (const Diagnostic& d : facts.errors()) out.push_back(d.code + ": " + d.message);
  return out;
}

using Messages = std::vector<std::string>;

TEST(Facts, WeightsAreOfTheTypeAskedForOrTheCheckpoints) {
  TrainingPlan p = example::plan(2, 16);
  const Architecture model = example::architecture(example::llama({{"torch_dtype", "\"float16\""}}));
  EXPECT_EQ(resolved(p, model).weights, DType::bf16);
  p.precision.weights_dtype.value = WeightsDType::checkpoint;
  EXPECT_EQ(resolved(p, model).weights, DType::fp16);
  EXPECT_EQ(resolved(p, example::architecture(example::llama())).weights, DType::fp32);
}

TEST(Facts, AnAdapterFollowsTheBaseOnlyWhereAsked) {
  TrainingPlan p = example::plan(2, 16);
  p.adapter.kind.value = Adapter::lora;
  const Architecture model = example::architecture(example::llama());
  EXPECT_EQ(resolved(p, model).adapter, DType::fp32);
  p.adapter.dtype.value = AdapterDType::as_base;
  EXPECT_EQ(resolved(p, model).adapter, DType::bf16);
  p.precision.weights_dtype.value = WeightsDType::fp32;
  EXPECT_EQ(resolved(p, model).adapter, DType::fp32);
  p.adapter.dtype.value = AdapterDType::bf16;
  EXPECT_EQ(resolved(p, model).adapter, DType::bf16);
}

TEST(Facts, AnAdapterOfAFourBitLayerFollowsItsComputeType) {
  TrainingPlan p = example::plan(2, 16);
  p.adapter.kind.value = Adapter::lora;
  p.quantization.kind.value = Quantization::nf4;
  p.precision.weights_dtype.value = WeightsDType::fp32;
  p.quantization.compute_dtype.value = DType::bf16;
  const Architecture model = example::architecture(example::llama());
  EXPECT_EQ(resolved(p, model).quantized_adapter, DType::fp32);
  p.adapter.dtype.value = AdapterDType::as_base;
  EXPECT_EQ(resolved(p, model).quantized_adapter, DType::bf16);
  EXPECT_EQ(resolved(p, model).adapter, DType::fp32);
  p.quantization.linear.value = QuantizedLinear::torch_linear;
  EXPECT_EQ(resolved(p, model).quantized_adapter, DType::fp32);
}

TEST(Facts, TheKbitUpcastIsForQuantizedModelsOnly) {
  TrainingPlan p = example::plan(2, 16);
  const Architecture model = example::architecture(example::llama());
  p.quantization.kbit_upcast.value = true;
  p.adapter.kind.value = Adapter::lora;
  EXPECT_FALSE(resolved(p, model).kbit_upcast);
  p.quantization.kind.value = Quantization::nf4;
  EXPECT_TRUE(resolved(p, model).kbit_upcast);
  p.quantization.kbit_upcast.value = false;
  EXPECT_FALSE(resolved(p, model).kbit_upcast);
}

TEST(Facts, AutocastHasItsType) {
  TrainingPlan p = example::plan(2, 16);
  const Architecture model = example::architecture(example::llama());
  EXPECT_EQ(resolved(p, model).autocast, std::nullopt);
  p.precision.autocast.value = Autocast::bf16;
  EXPECT_EQ(resolved(p, model).autocast, DType::bf16);
  p.precision.autocast.value = Autocast::fp16;
  EXPECT_EQ(resolved(p, model).autocast, DType::fp16);
}

TEST(FactsErrors, EveryUnmodelledFeatureIsNamedWithItsPlace) {
  TrainingPlan p = example::plan(2, 16);
  p.unmodelled = {{"DeepSpeed ZeRO", "deepspeed", {"config.yml", 3, 1}}, {"FSDP", "fsdp", {"config.yml", 9, 1}}};
  const auto facts = resolve(p, example::architecture(example::llama()));
  ASSERT_FALSE(facts.ok());
  ASSERT_EQ(facts.errors().size(), 2U);
  EXPECT_EQ(facts.errors()[0].code, "estimate/unmodelled");
  EXPECT_EQ(facts.errors()[0].message, "deepspeed: DeepSpeed ZeRO affects memory and is not modelled yet");
  EXPECT_EQ(facts.errors()[0].where.line, 3);
  EXPECT_EQ(facts.errors()[1].message, "fsdp: FSDP affects memory and is not modelled yet");
  EXPECT_EQ(facts.errors()[1].where.line, 9);
}

TEST(FactsErrors, AnOptimizerThatNobodyPlays) {
  TrainingPlan p = example::plan(2, 16);
  p.optimizer.name = {"dion", {Origin::Kind::config, "optim", {"config.yml", 5, 8}}};
  const auto facts = resolve(p, example::architecture(example::llama()));
  ASSERT_FALSE(facts.ok());
  EXPECT_EQ(facts.errors()[0].message, "optimizer \"dion\" is not modelled yet");
  EXPECT_EQ(facts.errors()[0].where.line, 5);
}

TEST(FactsErrors, FourBitWeightsWithoutAnAdapter) {
  TrainingPlan p = example::plan(2, 16);
  p.quantization.kind.value = Quantization::nf4;
  EXPECT_EQ(errors(p), Messages{"estimate/unmodelled: training quantized weights without an adapter is not possible"});
  p.adapter.kind.value = Adapter::lora;
  EXPECT_EQ(errors(p), Messages{});
}

TEST(FactsErrors, AChunkedLossOfAMaskedModel) {
  TrainingPlan p = example::plan(2, 16);
  p.recipe.loss.value = Loss::chunked_logprob;
  EXPECT_EQ(errors(p), Messages{});
  EXPECT_EQ(errors(p, example::bert()),
            Messages{"estimate/unmodelled: the loss chunked_logprob is not modelled for masked_lm models"});
}

TEST(FactsErrors, ACacheThatIsReallyFilled) {
  TrainingPlan p = example::plan(2, 16);
  p.recipe.use_cache.value = true;
  EXPECT_EQ(errors(p), Messages{"estimate/unmodelled: a key-value cache in training is not modelled yet"});
  p.checkpointing.on.value = true;  // transformers turns the cache off.
  EXPECT_EQ(errors(p), Messages{});
}

TEST(FactsErrors, ASequenceLongerThanTheModelCanAddress) {
  const example::Keys model = example::gpt2({{"n_positions", "64"}});
  EXPECT_EQ(errors(example::plan(2, 64), model), Messages{});
  EXPECT_EQ(errors(example::plan(2, 65), model),
            Messages{"estimate/too-long: a sequence of 65 tokens is longer than the 64 positions of config.json"});
  EXPECT_EQ(errors(example::plan(2, 1 << 20)), Messages{});  // Rotary positions have no end.
}

TEST(FactsErrors, WhatTheCheckpointSwitchesOnAndNoOpPlays) {
  Architecture model = example::architecture(example::llama());
  model.not_played = {"cross-attention"};
  TrainingPlan p = example::plan(2, 16);
  p.model.name.origin.where = {"config.yml", 1, 8};
  const auto facts = resolve(p, model);
  ASSERT_FALSE(facts.ok());
  EXPECT_EQ(facts.errors()[0].code, "estimate/unmodelled");
  EXPECT_EQ(facts.errors()[0].message, "config.json: cross-attention is not modelled yet");
  EXPECT_EQ(facts.errors()[0].where.line, 1);
}

TEST(RunErrors, SizesThatNoSumCanHold) {
  TrainingPlan p = example::plan(std::int64_t{1} << 40, 4096);
  p.batch.sequence_length.origin.where = {"config.yml", 7, 1};
  const auto footprint = estimate(p, example::architecture(example::llama()));
  ASSERT_FALSE(footprint.ok());
  EXPECT_EQ(footprint.errors()[0].code, "estimate/too-large");
  EXPECT_EQ(footprint.errors()[0].message, "1099511627776 rows of 4096 tokens make tensors larger than any memory");
  EXPECT_EQ(footprint.errors()[0].where.line, 7);
}

TEST(FactsErrors, AllAreReportedAtOnce) {
  TrainingPlan p = example::plan(2, 65);
  p.optimizer.name.value = "dion";
  p.quantization.kind.value = Quantization::nf4;
  EXPECT_EQ(errors(p, example::gpt2({{"n_positions", "64"}})).size(), 3U);
}

TEST(FactsErrors, EstimateReturnsThem) {
  TrainingPlan p = example::plan(2, 16);
  p.optimizer.name.value = "dion";
  const auto footprint = estimate(p, example::architecture(example::llama()));
  ASSERT_FALSE(footprint.ok());
  EXPECT_EQ(footprint.errors()[0].message, "optimizer \"dion\" is not modelled yet");
}

TEST(ModelErrors, AnActivationThatNobodyPlays) {
  const auto footprint =
      estimate(example::plan(2, 16), example::architecture(example::llama({{"hidden_act", "\"mish\""}})));
  ASSERT_FALSE(footprint.ok());
  EXPECT_EQ(footprint.errors()[0].code, "estimate/unmodelled");
  EXPECT_EQ(footprint.errors()[0].message, "activation function \"mish\" is not modelled");
}

TEST(ModelErrors, AnOpThatDoesNotExistAndAnAttributeThatIsMissing) {
  Architecture model = example::architecture(example::llama());
  model.body.front().kinds.front().front().op = "teleport";
  auto footprint = estimate(example::plan(2, 16), model);
  ASSERT_FALSE(footprint.ok());
  EXPECT_EQ(footprint.errors()[0].code, "estimate/bad-architecture");
  EXPECT_EQ(footprint.errors()[0].message, "llama: there is no op \"teleport\"");
  EXPECT_EQ(footprint.errors()[0].hint, "");

  model.body.front().kinds.front().front().op = "keep_residul";
  footprint = estimate(example::plan(2, 16), model);
  EXPECT_EQ(footprint.errors().size(), 1U);  // Not one a layer.
  EXPECT_EQ(footprint.errors()[0].hint, "did you mean \"keep_residual\"?");

  model = example::architecture(example::llama());
  model.body.front().stem.front().attributes.clear();
  footprint = estimate(example::plan(2, 16), model);
  ASSERT_FALSE(footprint.ok());
  EXPECT_EQ(footprint.errors()[0].message, "llama: op embedding: attribute rows: expected a positive integer");
}

TEST(Facts, AnOptimizerThatTheConfigsReaderNamedIsNamedOnce) {
  TrainingPlan p = example::plan(2, 16);
  p.optimizer.name.value = "dion";
  EXPECT_EQ(errors(p), Messages{"estimate/unmodelled: optimizer \"dion\" is not modelled yet"});
  p.unmodelled = {{"optimizer dion", "optimizer", {}}};
  EXPECT_EQ(errors(p),
            Messages{"estimate/unmodelled: optimizer: optimizer dion affects memory and is not modelled yet"});
}

}  // namespace
}  // namespace oomplan::estimator
