#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oomplan/report/sweep_view.hpp"

namespace oomplan {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Batches 1 to 4 on a card of 8 GiB, that need so many MiB.
Sweep batches(const std::vector<std::int64_t>& needed) {
  Sweep out{.config = "config.yml", .gpu = {.title = "a card", .total = Bytes::gib(8)}};
  out.axes = {{.key = "batch", .values = {"1", "2", "3", "4"}, .numbers = true}};
  for (const std::int64_t mib : needed) out.points.push_back({.needed = Bytes::mib(mib), .fits = mib <= 8192});
  return out;
}

TEST(SweepText, SaysWhereMoreNeedsLessAndWhatFitsByThat) {
  Sweep sweep = batches({4000, 8200, 8100, 9000});
  sweep.lucky = {2};
  sweep.frontier = {0};
  sweep.largest = 0;
  const std::string text = sweep_text(sweep, {});
  EXPECT_THAT(text, HasSubstr("the largest that fits on a card with 0 % left free: batch 1"));
  EXPECT_THAT(text, HasSubstr("1 of 4 need less than the next smaller one"));
  EXPECT_THAT(text, HasSubstr("batch 3"));
}

TEST(SweepText, SaysNothingOfRoundingWhereNothingFalls) {
  Sweep sweep = batches({4000, 5000, 6000, 9000});
  sweep.largest = 2;
  EXPECT_THAT(sweep_text(sweep, {}), Not(HasSubstr("smaller one")));
  EXPECT_THAT(sweep_text(batches({9000, 9000, 9000, 9000}), {}), HasSubstr("nothing fits on"));
  Sweep lucky = batches({9000, 8000, 9000, 9000});
  lucky.lucky = {1};
  EXPECT_THAT(sweep_text(lucky, {}), HasSubstr("nothing fits but by rounding on"));
}

}  // namespace
}  // namespace oomplan
