// Expandable segments: pages at the tail, growth, holes, and giving back whole pages.
#include <gtest/gtest.h>

#include "sheet.hpp"

namespace oomplan {
namespace {

using example::mib;
using example::Sheet;

constexpr const char* conf = "expandable_segments:True";

TEST(ExpandableSegments, MapPagesOf2And20MiB) {
  Sheet sheet(conf);
  EXPECT_EQ(sheet.reserves(100), 2 * mib);
  EXPECT_EQ(sheet.reserves(2 * mib), 20 * mib);
  EXPECT_EQ(sheet.reserves(25 * mib), 20 * mib);  // 18 MiB of the first page are free
  EXPECT_EQ(sheet.statistics().segments, 2);
  EXPECT_EQ(sheet.statistics().device_allocs, 3);
}

TEST(ExpandableSegments, ThePageOfLargeRequestsFollowsTheSetting) {
  EXPECT_EQ(Sheet(std::string(conf) + ",large_segment_size_mb:64").reserves(2 * mib), 64 * mib);
}

TEST(ExpandableSegments, SplitDownTo512InBothPools) {
  Sheet sheet(conf);
  sheet.take(20 * mib - 512);
  EXPECT_EQ(sheet.allocated(), 20 * mib - 512);
}

TEST(ExpandableSegments, TheTailGrowsByTheMissingPagesOnly) {
  Sheet sheet(conf);
  sheet.take(15 * mib);
  EXPECT_EQ(sheet.reserves(45 * mib), 40 * mib);
  EXPECT_EQ(sheet.reserved(), 60 * mib);
  EXPECT_EQ(sheet.fragmented(), 0);
}

TEST(ExpandableSegments, ATailCountsWithTheSizeThatItCouldReach) {
  Sheet sheet(conf);
  const auto hole = sheet.take(30 * mib);
  sheet.take(15 * mib);
  sheet.free(hole);                        // 30 MiB free, then 15 in use, then a tail of 15
  sheet.take(10 * mib);                    // out of the hole, though the tail is the better fit as it stands
  EXPECT_EQ(sheet.reserves(16 * mib), 0);  // so the hole has 20 MiB left
  EXPECT_EQ(sheet.reserves(15 * mib), 0);  // and the tail its 15
}

TEST(ExpandableSegments, AFailedMappingLeavesNothingBehind) {
  Sheet sheet(conf, {Bytes(100 * mib), {}, {}});
  sheet.take(30 * mib);
  EXPECT_FALSE(sheet.fits(90 * mib));
  EXPECT_EQ(sheet.reserved(), 40 * mib);
  EXPECT_EQ(sheet.statistics().retries, 1);
}

TEST(ExpandableSegments, GiveBackTheWholePagesOfAFreeBlock) {
  Sheet sheet(conf);
  sheet.take(10 * mib);
  const auto middle = sheet.take(60 * mib);
  sheet.take(10 * mib);
  sheet.free(middle);
  EXPECT_EQ(sheet.fragmented(), 10 * mib + 10 * mib);
  sheet.empty_cache();
  EXPECT_EQ(sheet.reserved(), 40 * mib);
  EXPECT_EQ(sheet.fragmented(), 20 * mib);
  EXPECT_EQ(sheet.reserves(60 * mib), 40 * mib);  // the hole is mapped again before the tail grows
  EXPECT_EQ(sheet.reserved(), sheet.allocated());
}

TEST(ExpandableSegments, GoWhereAllOfThemIsFree) {
  Sheet sheet(conf);
  sheet.free(sheet.take(90 * mib));
  sheet.free(sheet.take(100));
  sheet.empty_cache();
  EXPECT_EQ(sheet.reserved(), 0);
  EXPECT_EQ(sheet.statistics().segments, 0);
  EXPECT_EQ(sheet.reserves(mib), 2 * mib);
}

TEST(ExpandableSegments, HaveAddressesForNineEighthsOfTheCard) {
  // 160 MiB: 180 of addresses. 100 in use, 60 given back before them: 80 more do not fit at the tail, nor in the hole.
  Sheet sheet(conf, {Bytes(160 * mib), {}, {}});
  const auto first = sheet.take(60 * mib);
  sheet.take(80 * mib);
  sheet.free(first);
  EXPECT_TRUE(sheet.fits(70 * mib));
  EXPECT_EQ(sheet.reserved(), 160 * mib);
  EXPECT_EQ(sheet.statistics().segments, 2);
}

}  // namespace
}  // namespace oomplan
