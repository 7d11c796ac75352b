// models/optimizers: every file is read, and what is wrong with one is said.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oomplan/catalog/catalog.hpp"
#include "oomplan/catalog/optimizer.hpp"
#include "optimizer_file.hpp"

namespace oomplan {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

TEST(Optimizers, EveryFileIsReadAndNamesItsSource) {
  const std::vector<std::string> names = known_optimizers();
  EXPECT_THAT(names, Contains("adamw_fused"));
  for (const std::string& name : names) {
    const OptimizerFile* file = find_optimizer(name);
    ASSERT_NE(file, nullptr) << name;
    EXPECT_EQ(file->name, name);
    EXPECT_THAT(file->source, HasSubstr(".py")) << name;
  }
  EXPECT_EQ(find_optimizer("adamw"), nullptr);
}

Result<OptimizerFile> read(const std::string& groups) {
  const std::string text = "title: T\nsource: a.py\ngroups:\n" + groups;
  return catalog::read_optimizer({"test", "optimizers/test.yaml", text, {}, {}});
}

std::string error_of(const std::string& groups) {
  const auto file = read(groups);
  return file ? "" : file.errors().front().message;
}

TEST(Optimizers, AStateHasSizesADtypeAndAPlace) {
  const auto file = read(
      "  - parts: [router]\n    rules:\n      - below: 7\n        states:\n"
      "          - {op: a, sizes: {blocks: 64}, dtype: fp32, paged_from: 5}\n");
  ASSERT_TRUE(file.ok());
  const OptimizerGroup& group = file->groups.at(0);
  EXPECT_EQ(group.parts, std::vector<Part>{Part::router});
  const OptimizerState& state = group.rules.at(0).states.at(0);
  EXPECT_EQ(group.rules[0].below, 7);
  EXPECT_EQ(state.sizes, OptimizerState::Sizes::blocks);
  EXPECT_EQ(state.count, 64);
  EXPECT_EQ(state.dtype, DType::fp32);
  EXPECT_EQ(state.paged_from, 5);
}

TEST(Optimizers, WhatIsWrongIsSaid) {
  EXPECT_THAT(error_of("  - parts: [neck]\n"), HasSubstr("no part of a model"));
  EXPECT_THAT(error_of("  - rules:\n      - states: [{op: a, dtype: fp7}]\n"), HasSubstr("no dtype"));
  EXPECT_THAT(error_of("  - rules:\n      - states: [{op: a, sizes: many}]\n"), HasSubstr("sizes must be"));
  EXPECT_THAT(error_of("  - rule: []\n"), HasSubstr("unknown key"));
  EXPECT_THAT(error_of("  rules\n"), HasSubstr("must be a list"));
}

}  // namespace
}  // namespace oomplan
