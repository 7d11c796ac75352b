// Mixtures of experts: how their experts run, and what LoRA makes of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plans.hpp"

namespace oomplan {
namespace {

using example::architecture;
using example::played;
using example::qwen3_moe;
using ::testing::HasSubstr;

constexpr std::int64_t width = 256, inner = 32, experts = 8, layers = 2, rank = 16;
constexpr std::int64_t of_attention = rank * ((256 + 256) + (256 + 128) * 2 + (256 + 256));
constexpr std::int64_t of_router = rank * (width + experts);
/// The fused projection has twice the rank.
constexpr std::int64_t of_experts = experts * rank * (2 * (width + 2 * inner) + (inner + width));

TrainingPlan lora(const std::vector<std::string>& targets) {
  TrainingPlan p = example::plan(1, 64);
  p.adapter.kind.value = Adapter::lora;
  p.adapter.rank.value = rank;
  p.adapter.targets.value = targets;
  return p;
}

std::int64_t trained(const std::vector<std::string>& targets) {
  return played(lora(targets), architecture(qwen3_moe())).trainable_parameters;
}

std::string refused(const TrainingPlan& plan, const example::Keys& model = qwen3_moe()) {
  const auto footprint = estimate(plan, architecture(model));
  return footprint ? "" : footprint.errors().front().message;
}

TEST(Experts, NamesOfTheirMatricesReachTheFusedParameters) {
  EXPECT_EQ(trained({"q_proj", "k_proj", "v_proj", "o_proj"}), layers * of_attention);
  EXPECT_EQ(trained({"gate_proj", "up_proj", "down_proj"}), layers * of_experts);
  EXPECT_EQ(trained({"mlp.experts.gate_proj", "mlp.experts.up_proj"}),
            layers * experts * rank * 2 * (width + 2 * inner));
  EXPECT_EQ(trained({"gate"}), layers * of_router);
  EXPECT_EQ(trained({"all-linear"}), layers * (of_attention + of_router + of_experts));
}

TEST(Experts, DenseLayersOfThoseNamesCarryNoAdapter) {
  const auto model = architecture(qwen3_moe({{"mlp_only_layers", "[0]"}}));
  EXPECT_EQ(played(lora({"gate_proj", "up_proj", "down_proj"}), model).trainable_parameters, of_experts);
}

TEST(Experts, BeforePeft021AllLinearReachesThemOnlyWhereALinearLayerHasTheirName) {
  TrainingPlan plan = lora({"all-linear"});
  plan.adapter.update.value = ParameterUpdate::summed;
  EXPECT_EQ(played(plan, architecture(qwen3_moe())).trainable_parameters, layers * of_attention);
  const auto mixed = architecture(qwen3_moe({{"mlp_only_layers", "[0]"}}));
  EXPECT_EQ(played(plan, mixed).trainable_parameters, layers * of_attention + of_experts);
}

TEST(Experts, AnUpdateMadeApartTakesMoreThanOneProduct) {
  const auto model = architecture(qwen3_moe({{"moe_intermediate_size", "512"}}));
  TrainingPlan plan = lora({"gate_proj", "up_proj", "down_proj"});
  plan.adapter.rank.value = 2;
  const Footprint folded = played(plan, model);
  plan.adapter.update.value = ParameterUpdate::summed;
  EXPECT_GT(played(plan, model).peak.tensors(), folded.peak.tensors());
}

TEST(Experts, ParametersAreTargetsByThemselves) {
  TrainingPlan plan = lora({"q_proj"});
  plan.adapter.target_parameters.value = {"experts.down_proj"};
  EXPECT_EQ(played(plan, architecture(qwen3_moe())).trainable_parameters,
            layers * (rank * (256 + 256) + experts * rank * (inner + width)));
}

TEST(Experts, WhatPeftRefusesIsNoFigure) {
  TrainingPlan plan = lora({"gate_proj", "down_proj"});
  EXPECT_THAT(refused(plan), HasSubstr("one of gate_proj and up_proj"));
  plan = lora({"all-linear"});
  plan.adapter.dropout.value = 0.05;
  EXPECT_THAT(refused(plan), HasSubstr("dropout"));
  EXPECT_EQ(refused(plan, example::qwen3()), "");
  plan = lora({"gate_proj", "up_proj"});
  plan.adapter.update.value = ParameterUpdate::unknown;
  EXPECT_THAT(refused(plan), HasSubstr("this version of peft"));
}

Bytes peak(ExpertsImplementation implementation, Routing routing) {
  TrainingPlan plan = example::plan(2, 64);
  plan.kernels.experts.value = implementation;
  plan.kernels.routing.value = routing;
  return played(plan, architecture(qwen3_moe())).peak.tensors();
}

TEST(Experts, OnlyALoopOverThemDependsOnTheRouting) {
  using enum ExpertsImplementation;
  EXPECT_EQ(peak(grouped_mm, Routing::any), peak(grouped_mm, Routing::balanced));
  EXPECT_EQ(peak(batched_mm, Routing::any), peak(batched_mm, Routing::balanced));
  EXPECT_GT(peak(eager, Routing::any), peak(eager, Routing::balanced));
}

TEST(Experts, BatchedOnesGatherTheWeightsOfEachRow) {
  using enum ExpertsImplementation;
  const std::int64_t rows = 2 * 64 * 2;  // Two experts for each token.
  const std::int64_t gathered = layers * rows * 3 * width * inner * 2;
  EXPECT_GT(peak(batched_mm, Routing::any), peak(grouped_mm, Routing::any) + Bytes(gathered / 2));
}

// ParallelLinear makes a gradient of weights that are frozen; ScatterMoELoRA makes none.
TEST(Experts, ScatterMoeMakesGradientsOfFrozenWeightsUnlessTheyCarryLora) {
  const auto model = architecture(qwen3_moe({{"moe_intermediate_size", "512"}}));
  TrainingPlan plan = lora({"q_proj"});
  plan.kernels.experts.value = ExpertsImplementation::grouped_mm;
  const Bytes grouped = played(plan, model).peak.tensors();
  plan.kernels.experts.value = ExpertsImplementation::scattermoe;
  const Bytes scattered = played(plan, model).peak.tensors();
  EXPECT_GT(scattered, grouped);
  plan.adapter.target_parameters.value = {"experts.gate_up_proj", "experts.down_proj"};
  EXPECT_LT(played(plan, model).peak.tensors(), scattered);
}

std::vector<Contribution> unknown(ExpertsImplementation implementation, const example::Keys& model) {
  TrainingPlan plan = example::plan(2, 64);
  plan.kernels.experts.value = implementation;
  const Architecture a = architecture(model);
  return unknown_of(plan, a, played(plan, a));
}

TEST(Experts, TheRoutingOfALoopIsARangeUnlessThePlanSaysIt) {
  using enum ExpertsImplementation;
  const auto open = unknown(eager, qwen3_moe());
  ASSERT_EQ(open.size(), 1U);
  EXPECT_EQ(open.front().name, "expert routing");
  EXPECT_TRUE(unknown(grouped_mm, qwen3_moe()).empty());
  EXPECT_TRUE(unknown(eager, example::qwen3()).empty());
}

}  // namespace
}  // namespace oomplan
