// Where a block comes from: rounding, pools, segments, best fit, splitting and merging. Figures as docs/allocator.md
// has the rules, counted by hand.
#include <gtest/gtest.h>

#include "sheet.hpp"

namespace oomplan {
namespace {

using example::gib;
using example::kib;
using example::mib;
using example::Sheet;

std::int64_t block_of(std::int64_t bytes, const std::string& conf = "") {
  Sheet sheet(conf);
  sheet.take(bytes);
  return sheet.allocated();
}

std::int64_t segment_of(std::int64_t bytes, const std::string& conf = "") { return Sheet(conf).reserves(bytes); }

TEST(AllocatorBlocks, AreMultiplesOf512) {
  EXPECT_EQ(block_of(1), 512);
  EXPECT_EQ(block_of(512), 512);
  EXPECT_EQ(block_of(513), 1024);
  EXPECT_EQ(block_of(mib - 1), mib);
}

TEST(AllocatorBlocks, NothingTakesNothing) {
  Sheet sheet;
  sheet.free(sheet.take(0));
  EXPECT_EQ(sheet.reserved(), 0);
  EXPECT_EQ(sheet.statistics().device_allocs, 0);
}

TEST(AllocatorBlocks, SegmentsHaveTheirSizes) {
  EXPECT_EQ(segment_of(1), 2 * mib);
  EXPECT_EQ(segment_of(mib), 2 * mib);
  EXPECT_EQ(segment_of(mib + 1), 20 * mib);
  EXPECT_EQ(segment_of(10 * mib - 512), 20 * mib);
  EXPECT_EQ(segment_of(10 * mib), 10 * mib);
  EXPECT_EQ(segment_of(10 * mib + 1), 12 * mib);
}

TEST(AllocatorBlocks, SmallAndLargeNeverShareASegment) {
  Sheet sheet;
  sheet.free(sheet.take(2 * mib));
  EXPECT_EQ(sheet.reserves(mib), 2 * mib);
  EXPECT_EQ(sheet.reserves(mib + 512), 0);
}

TEST(AllocatorBlocks, TheSmallestFreeBlockThatFitsIsTaken) {
  Sheet sheet;
  const auto large = sheet.take(40 * mib);
  const auto middle = sheet.take(30 * mib);
  sheet.free(large);
  sheet.free(middle);
  EXPECT_EQ(sheet.reserves(28 * mib), 0);  // out of the 30
  EXPECT_EQ(sheet.reserves(39 * mib), 0);  // the 40 is still whole
  EXPECT_EQ(sheet.allocated(), 30 * mib - 2 * mib + 40 * mib - mib + mib);
}

/// Two segments of 20 MiB with a free block of 8 MiB each, of which one is taken. What stays reserved when the second
/// segment has lost the rest of its blocks, and the cache is emptied.
std::int64_t reserved_after_choice(SegmentOrder order, bool first_is_freed_first) {
  Sheet sheet("", {.order = order});
  const auto in_first = sheet.take(8 * mib);
  sheet.take(8 * mib);  // stays in the first segment
  const auto in_second = sheet.take(8 * mib);
  const auto beside = sheet.take(8 * mib);
  sheet.free(first_is_freed_first ? in_first : in_second);
  sheet.free(first_is_freed_first ? in_second : in_first);
  EXPECT_EQ(sheet.reserves(8 * mib), 0);
  sheet.free(beside);
  sheet.empty_cache();
  return sheet.reserved();
}

TEST(AllocatorBlocks, OfEqualBlocksTheLowestAddressIsTaken) {
  for (const bool first : {true, false}) {
    EXPECT_EQ(reserved_after_choice(SegmentOrder::ascending, first), 20 * mib);   // out of the first segment
    EXPECT_EQ(reserved_after_choice(SegmentOrder::descending, first), 40 * mib);  // out of the second, which lies below
  }
}

TEST(AllocatorBlocks, ALargeBlockIsSplitWhereMoreThanOneMiBIsLeft) {
  Sheet whole;
  whole.free(whole.take(34 * mib));
  whole.take(33 * mib);
  EXPECT_EQ(whole.allocated(), 34 * mib);
  Sheet split;
  split.free(split.take(34 * mib));
  split.take(33 * mib - 512);
  EXPECT_EQ(split.allocated(), 33 * mib - 512);
  EXPECT_EQ(split.fragmented(), mib + 512);
}

TEST(AllocatorBlocks, ASmallBlockIsSplitDownTo512) {
  Sheet sheet;
  sheet.take(mib);
  sheet.take(mib - 512);
  EXPECT_EQ(sheet.fragmented(), 512);
  EXPECT_EQ(sheet.reserves(100), 0);
  EXPECT_EQ(sheet.allocated(), 2 * mib);
}

TEST(AllocatorBlocks, FreedNeighboursMergeAtOnce) {
  Sheet sheet;
  const auto first = sheet.take(6 * mib);
  const auto second = sheet.take(6 * mib);
  const auto third = sheet.take(6 * mib);
  sheet.free(first);
  sheet.free(third);
  EXPECT_EQ(sheet.fragmented(), 6 * mib + 8 * mib);
  sheet.free(second);
  EXPECT_EQ(sheet.fragmented(), 0);
  EXPECT_EQ(sheet.reserves(20 * mib), 0);
  EXPECT_EQ(sheet.reserved(), 20 * mib);
}

TEST(AllocatorBlocks, RoundupTakesAPartOfThePowerOfTwoBelow) {
  EXPECT_EQ(block_of(1200 * kib, "roundup_power2_divisions:4"), 1280 * kib);
  EXPECT_EQ(block_of(1280 * kib, "roundup_power2_divisions:4"), 1280 * kib);
  EXPECT_EQ(block_of(1025, "roundup_power2_divisions:4"), 1536);  // up to 512 × 4 it has no effect
  EXPECT_EQ(block_of(2049, "roundup_power2_divisions:4"), 2560);
  EXPECT_EQ(block_of(1200 * kib, "roundup_power2_divisions:1"), 1200 * kib);
}

TEST(AllocatorBlocks, ARoundupListHoldsForTheIntervalsThatItNames) {
  const std::string conf = "roundup_power2_divisions:[64:8,256:4,>:2]";
  EXPECT_EQ(block_of(33 * mib, conf), 36 * mib);    // below the first entry: as the first
  EXPECT_EQ(block_of(65 * mib, conf), 72 * mib);    // from 64: eighths
  EXPECT_EQ(block_of(130 * mib, conf), 130 * mib);  // between entries: nothing
  EXPECT_EQ(block_of(257 * mib, conf), 320 * mib);  // from 256: quarters
  EXPECT_EQ(block_of(513 * mib, conf), 768 * mib);  // from there on: halves
  EXPECT_EQ(block_of(300 * gib, conf), (256 + 128) * gib);
}

TEST(AllocatorBlocks, LargeSegmentReplacesThe20MiB) {
  EXPECT_EQ(segment_of(2 * mib, "large_segment_size_mb:64"), 64 * mib);
  EXPECT_EQ(segment_of(10 * mib, "large_segment_size_mb:64"), 10 * mib);
}

TEST(AllocatorBlocks, NothingLargerThanACardIsTried) {
  Sheet sheet;
  EXPECT_FALSE(sheet.fits(std::int64_t{1} << 60));
  EXPECT_EQ(sheet.failure().message, "CUDA out of memory. Tried to allocate more than 1EB memory.");
  EXPECT_FALSE(sheet.fits((std::int64_t{1} << 60) - 1));
  EXPECT_EQ(sheet.reserved(), 0);
}

}  // namespace
}  // namespace oomplan
