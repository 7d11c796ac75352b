#include "guarded.hpp"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

#include "codes.hpp"

namespace oomplan::cli {
namespace {

TEST(Guarded, AnExceptionIsOneConfigsAlone) {
  const GateItem item = guarded("a.yml", []() -> GateItem { throw std::out_of_range("vector::at"); });
  EXPECT_EQ(item.config, "a.yml");
  EXPECT_EQ(item.verdict, GateVerdict::invalid);
  EXPECT_EQ(verdict_of(item.diagnostics), Verdict::bug);
  EXPECT_NE(item.diagnostics.front().message.find("vector::at"), std::string::npos);
}

TEST(Guarded, WhatIsJudgedStaysAsItIs) {
  const GateItem item = guarded("a.yml", [] { return GateItem{.config = "a.yml", .verdict = GateVerdict::fits}; });
  EXPECT_EQ(item.verdict, GateVerdict::fits);
  EXPECT_TRUE(item.diagnostics.empty());
}

}  // namespace
}  // namespace oomplan::cli
