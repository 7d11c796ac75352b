#include "usage.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace oomplan::cli {
namespace {

using ::testing::HasSubstr;

std::array<char, 8> program{"oomplan"};
std::array<char, 8> json{"--json"};

TEST(Crashed, AsksForAReport) {
  const std::array<char*, 1> words{program.data()};
  const Outcome outcome = crashed("vector::_M_range_check", words);
  EXPECT_EQ(outcome.code, ExitCode::bug);
  EXPECT_THAT(outcome.err, HasSubstr("a bug in oomplan, not in your config: vector::_M_range_check [cli/bug]"));
  EXPECT_THAT(outcome.err, HasSubstr("hint: please report it"));
}

TEST(Crashed, IsOneObjectWithJson) {
  const std::array<char*, 2> words{program.data(), json.data()};
  const Outcome outcome = crashed("x", words);
  EXPECT_THAT(outcome.out, HasSubstr("\"verdict\": \"bug\""));
  EXPECT_EQ(outcome.err, "");
}

}  // namespace
}  // namespace oomplan::cli
