#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

#include "oomplan/survey.hpp"

namespace oomplan {
namespace {

TEST(Judged, IsTheConfigsOwnRowWhateverHappens) {
  const GateItem fine = judged("a.yml", [] { return GateItem{.config = "a.yml", .verdict = GateVerdict::fits}; });
  EXPECT_EQ(fine.verdict, GateVerdict::fits);
  const GateItem broken = judged("b.yml", []() -> GateItem { throw std::out_of_range("index 7"); });
  EXPECT_EQ(broken.config, "b.yml");
  EXPECT_EQ(broken.verdict, GateVerdict::invalid);
  ASSERT_EQ(broken.diagnostics.size(), 1U);
  EXPECT_EQ(broken.diagnostics.front().code, "cli/bug");
  EXPECT_NE(broken.diagnostics.front().message.find("index 7"), std::string::npos);
  EXPECT_EQ(judged("c.yml", []() -> GateItem { throw std::bad_alloc(); }).verdict, GateVerdict::invalid);
}

}  // namespace
}  // namespace oomplan
