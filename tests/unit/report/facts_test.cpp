#include "facts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oomplan::report {
namespace {

std::vector<std::string> names(const TrainingPlan& plan, bool of_host = false) {
  std::vector<std::string> out;
  for (const Fact& fact : facts_of(plan, of_host)) out.push_back(fact.name);
  return out;
}

TEST(Facts, OnlyThoseWithAnEffectAreListed) {
  TrainingPlan plan;
  EXPECT_THAT(names(plan), ::testing::Not(::testing::Contains("lora_rank")));
  plan.adapter.kind.value = Adapter::lora;
  EXPECT_THAT(names(plan), ::testing::Contains("lora_rank"));
}

TEST(Facts, ThoseOfTheHostAreListedApart) {
  TrainingPlan plan;
  EXPECT_THAT(names(plan), ::testing::Not(::testing::Contains("ranks")));
  EXPECT_THAT(names(plan, true), ::testing::Not(::testing::Contains("model")));
  EXPECT_THAT(names(plan, true), ::testing::Contains("ranks"));
  EXPECT_THAT(names(plan, true), ::testing::Not(::testing::Contains("loader_start")));
  plan.loader.workers.value = 2;
  EXPECT_THAT(names(plan, true), ::testing::Contains("loader_start"));
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
