// A card that is too small: release, retry, fraction, max_split_size, garbage collection, and the message.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sheet.hpp"

namespace oomplan {
namespace {

using example::gib;
using example::mib;
using example::Sheet;
using testing::HasSubstr;

Card card(std::int64_t total, std::int64_t context = 0) { return {Bytes(total), Bytes(context), {}}; }

TEST(AllocatorLimits, EmptyCacheReturnsWhatIsWhollyFree) {
  Sheet sheet;
  const auto whole = sheet.take(30 * mib);
  const auto part = sheet.take(6 * mib);
  sheet.take(6 * mib);
  const auto small = sheet.take(100);
  for (const auto slot : {whole, part, small}) sheet.free(slot);
  sheet.empty_cache();
  EXPECT_EQ(sheet.reserved(), 20 * mib);
  EXPECT_EQ(sheet.statistics().device_frees, 2);
  EXPECT_EQ(sheet.statistics().retries, 0);
}

TEST(AllocatorLimits, AFullCardIsClearedAndTriedAgain) {
  Sheet sheet("", card(100 * mib));
  const auto first = sheet.take(60 * mib);
  sheet.free(first);
  EXPECT_TRUE(sheet.fits(80 * mib));
  EXPECT_EQ(sheet.reserved(), 80 * mib);
  EXPECT_EQ(sheet.statistics().retries, 1);
  EXPECT_EQ(sheet.statistics().device_allocs, 2);
  EXPECT_EQ(sheet.statistics().device_frees, 1);
}

TEST(AllocatorLimits, TheContextIsNotTheAllocators) {
  EXPECT_TRUE(Sheet("", card(100 * mib)).fits(100 * mib));
  EXPECT_FALSE(Sheet("", card(100 * mib, mib)).fits(100 * mib));
  EXPECT_TRUE(Sheet("", card(100 * mib, 2 * mib)).fits(98 * mib));
}

TEST(AllocatorLimits, AFailureReleasesFirstAndThenSays) {
  Sheet sheet("", card(100 * mib, 20 * mib));
  sheet.free(sheet.take(30 * mib));
  sheet.take(2 * mib);  // of the 30 MiB
  sheet.free(sheet.take(40 * mib));
  EXPECT_FALSE(sheet.fits(60 * mib));
  EXPECT_EQ(sheet.failure().asked, Bytes(60 * mib));
  EXPECT_EQ(sheet.failure().allocated, Bytes(2 * mib));
  EXPECT_EQ(sheet.failure().reserved, Bytes(30 * mib));
  EXPECT_EQ(sheet.statistics().device_frees, 1);
}

TEST(AllocatorLimits, TheMessageIsPyTorchsOwn) {
  Sheet sheet("", card(gib, 512 * mib));
  sheet.take(100);
  sheet.take(400 * mib);
  EXPECT_FALSE(sheet.fits(200 * mib + 1));
  EXPECT_EQ(sheet.failure().message,
            "CUDA out of memory. Tried to allocate 202.00 MiB. GPU 0 has a total capacity of 1024.00 MiB of which "
            "110.00 MiB is free. Including non-PyTorch memory, this process has 914.00 MiB memory in use. Of the "
            "allocated memory 400.00 MiB is allocated by PyTorch, and 2.00 MiB is reserved by PyTorch but "
            "unallocated. If reserved but unallocated memory is large try setting "
            "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation for Memory "
            "Management  (https://docs.pytorch.org/docs/stable/notes/cuda.html#optimizing-memory-usage-with-pytorch-"
            "cuda-alloc-conf)");
}

TEST(AllocatorLimits, TheMessageNamesTheSegmentAndNotTheTensor) {
  Sheet sheet("", card(mib));
  EXPECT_FALSE(sheet.fits(100));
  EXPECT_THAT(sheet.failure().message, HasSubstr("Tried to allocate 2.00 MiB."));
  EXPECT_THAT(sheet.failure().message, HasSubstr("Of the allocated memory 0 bytes is allocated"));
  EXPECT_FALSE(sheet.fits(3 * mib));
  EXPECT_THAT(sheet.failure().message, HasSubstr("Tried to allocate 20.00 MiB."));
}

TEST(AllocatorLimits, AFractionLimitsWhatIsReserved) {
  Card half = card(100 * mib);
  half.fraction = 0.5;
  Sheet sheet("", half);
  EXPECT_TRUE(sheet.fits(50 * mib));
  EXPECT_FALSE(sheet.fits(mib));
  EXPECT_THAT(sheet.failure().message, HasSubstr("memory in use. 50.00 MiB allowed; Of the allocated"));
  half.fraction = 1.0;
  EXPECT_TRUE(Sheet("", half).fits(100 * mib));
}

TEST(AllocatorLimits, TheSettingsHaveAFractionToo) {
  Card whole = card(100 * mib);
  EXPECT_FALSE(Sheet("per_process_memory_fraction:0.5", whole).fits(60 * mib));
  whole.fraction = 0.8;
  EXPECT_TRUE(Sheet("per_process_memory_fraction:0.5", whole).fits(60 * mib));
}

TEST(AllocatorLimits, MaxSplitKeepsOversizeBlocksForOversizeRequests) {
  Sheet sheet("max_split_size_mb:32");
  sheet.free(sheet.take(32 * mib));
  EXPECT_EQ(sheet.reserves(10 * mib), 10 * mib);
  EXPECT_EQ(sheet.reserves(32 * mib), 0);
}

TEST(AllocatorLimits, AnOversizeRequestTakesNoBlockThatIs20MiBTooLarge) {
  Sheet far("max_split_size_mb:32");
  far.free(far.take(60 * mib));
  EXPECT_EQ(far.reserves(40 * mib), 40 * mib);
  Sheet near("max_split_size_mb:32");
  near.free(near.take(60 * mib));
  EXPECT_EQ(near.reserves(40 * mib + 512), 0);
  EXPECT_EQ(near.allocated(), 60 * mib);  // never split
  Sheet wider("max_split_size_mb:32,max_non_split_rounding_mb:40");
  wider.free(wider.take(60 * mib));
  EXPECT_EQ(wider.reserves(40 * mib), 0);
}

TEST(AllocatorLimits, MaxSplitGivesBackOneOversizeBlockBeforeAll) {
  Sheet sheet("max_split_size_mb:32", card(200 * mib));
  const auto first = sheet.take(100 * mib);
  const auto second = sheet.take(60 * mib);
  sheet.free(first);
  sheet.free(second);
  EXPECT_TRUE(sheet.fits(70 * mib));  // of the two, the smallest that is at least so large goes
  EXPECT_EQ(sheet.reserved(), 60 * mib + 70 * mib);
  EXPECT_EQ(sheet.statistics().retries, 0);
}

TEST(AllocatorLimits, MaxSplitGivesBackFromTheLargestDownWhereNoneIsEnough) {
  Sheet sheet("max_split_size_mb:32", card(200 * mib));
  std::uint32_t slots[] = {sheet.take(40 * mib), sheet.take(50 * mib), sheet.take(60 * mib), sheet.take(32 * mib)};
  for (const auto slot : slots) sheet.free(slot);
  EXPECT_TRUE(sheet.fits(110 * mib));  // 60 and 50 suffice
  EXPECT_EQ(sheet.reserved(), 40 * mib + 32 * mib + 110 * mib);
  EXPECT_EQ(sheet.statistics().retries, 0);
  EXPECT_EQ(sheet.statistics().device_frees, 2);
}

/// Frees 60 MiB, later 62, then asks for 70 on a card of which 99 MiB are the threshold.
Sheet collected(bool limited) {
  Card total = card(200 * mib);
  if (limited) total.fraction = 0.99;
  Sheet sheet("garbage_collection_threshold:0.5", total);
  sheet.free(sheet.take(60 * mib));
  sheet.free(sheet.take(62 * mib));
  sheet.take(70 * mib);
  return sheet;
}

TEST(AllocatorLimits, GarbageCollectionReturnsWhatIsOlderThanTheMean) {
  const Sheet sheet = collected(true);
  EXPECT_EQ(sheet.reserved(), 62 * mib + 70 * mib);
  EXPECT_EQ(sheet.statistics().device_frees, 1);
  EXPECT_EQ(sheet.statistics().retries, 0);
}

TEST(AllocatorLimits, GarbageCollectionNeedsAFraction) {
  const Sheet sheet = collected(false);
  EXPECT_EQ(sheet.reserved(), 60 * mib + 62 * mib + 70 * mib);
  EXPECT_EQ(sheet.statistics().device_frees, 0);
}

}  // namespace
}  // namespace oomplan
