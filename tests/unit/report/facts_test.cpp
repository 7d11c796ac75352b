#include "facts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oomplan::report {
namespace {

struct Anything {
  template <class T>
  operator T() const;  // NOLINT(google-explicit-constructor)
};

/// How many members an aggregate has, so that a field added to TrainingPlan cannot be forgotten here.
template <class T, class... Members>
consteval std::size_t arity() {
  if constexpr (requires { T{Members{}..., Anything{}}; }) {
    return arity<T, Members..., Anything>();
  } else {
    return sizeof...(Members);
  }
}

template <class... Groups>
constexpr std::size_t facts_in = (arity<Groups>() + ...);

// Beside them dialect, framework, unmodelled and warnings, which are no facts, and the loader, see below.
constexpr std::size_t facts_of_the_gpu =
    facts_in<RecipeFacts, ModelFacts, BatchFacts, PrecisionFacts, AdapterFacts, KernelFacts, QuantizationFacts,
             OptimizerFacts, CheckpointingFacts, EvaluationFacts, RuntimeFacts>;
static_assert(arity<TrainingPlan>() == 11 + 5, "a group of TrainingPlan is not counted");

std::vector<std::string> names(const TrainingPlan& plan) {
  std::vector<std::string> out;
  for (const Fact& fact : facts_of(plan)) out.push_back(fact.name);
  return out;
}

TEST(Facts, OnlyThoseWithAnEffectAreListed) {
  TrainingPlan plan;
  EXPECT_THAT(names(plan), ::testing::Not(::testing::Contains("lora_rank")));
  EXPECT_THAT(names(plan), ::testing::Not(::testing::Contains("double_quantization")));
  plan.adapter.kind.value = Adapter::lora;
  plan.quantization.kind.value = Quantization::nf4;
  plan.checkpointing.on.value = true;
  plan.batch.lengths.value = {512, 64, 2048};
  EXPECT_THAT(names(plan), ::testing::Not(::testing::Contains("evaluates")));
  plan.evaluation.evaluates.value = true;
  EXPECT_THAT(names(plan), ::testing::Not(::testing::Contains("evaluation_rows")));  // As training's.
  plan.evaluation.rows.value = 8;
  plan.evaluation.length.value = 64;
  EXPECT_EQ(names(plan).size(), facts_of_the_gpu);
}

TEST(Facts, OfTheLoaderAllAreListedWhereTheyHaveAnEffect) {
  LoaderPlan loader;
  std::vector<Fact> facts;
  add_loader_facts(loader, facts);
  EXPECT_LT(facts.size(), arity<LoaderPlan>());
  loader.workers.value = 2;
  loader.rows_as.value = RowsAs::stream;
  facts.clear();
  add_loader_facts(loader, facts);
  EXPECT_EQ(facts.size(), arity<LoaderPlan>());
}

TEST(Facts, ValuesReadAsInAConfig) {
  EXPECT_EQ(to_text(FactValue(true)), "true");
  EXPECT_EQ(to_text(FactValue(0.05)), "0.05");
  EXPECT_EQ(to_text(FactValue(std::vector<std::string>{"q_proj", "v_proj"})), "q_proj, v_proj");
}

TEST(Facts, OriginsReadAsPlaces) {
  EXPECT_EQ(to_text(Origin{Origin::Kind::config, "bf16", {"c.yml", 12, 3}}), "c.yml:12");
  EXPECT_EQ(to_text(Origin{Origin::Kind::framework_default, "peft 0.21.2: LoraConfig", {}}),
            "default of peft 0.21.2: LoraConfig");
  EXPECT_EQ(to_text(Origin{Origin::Kind::assumed, "the longest row", {}}), "assumed: the longest row");
}

}  // namespace
}  // namespace oomplan::report
