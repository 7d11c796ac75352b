#include "sampler.hpp"

#include <gtest/gtest.h>

namespace oomplan::watching {
namespace {

using namespace std::chrono_literals;

TEST(Pauses, DoubleWhileAJobIsYoung) {
  EXPECT_EQ(pause_after(0, 0ns, 0), 20ms);
  EXPECT_EQ(pause_after(1, 10ms, 0), 40ms);
  EXPECT_EQ(pause_after(6, 10ms, 20), 1280ms);
}

TEST(Pauses, AreASecondAndFourWhereNothingChanges) {
  EXPECT_EQ(pause_after(7, 0ns, 0), 1s);
  EXPECT_EQ(pause_after(7, 0ns, 9), 1s);
  EXPECT_EQ(pause_after(7, 0ns, 10), 4s);
}

// docs/manual.md promises 0.4 % of a core.
TEST(Pauses, KeepTheCostBelowItsShare) {
  EXPECT_EQ(pause_after(7, 4ms, 0), 1s);
  EXPECT_EQ(pause_after(7, 40ms, 0), 10s);
  EXPECT_EQ(pause_after(100, 40ms, 99), 10s);
}

}  // namespace
}  // namespace oomplan::watching
