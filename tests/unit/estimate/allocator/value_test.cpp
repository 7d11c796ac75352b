// The allocator as a value: copies, another card, slots.
#include <gtest/gtest.h>

#include "sheet.hpp"

namespace oomplan {
namespace {

using example::mib;

TEST(AllocatorValue, ACopyGoesItsOwnWay) {
  Allocator first;
  ASSERT_TRUE(first.allocate(0, Bytes(30 * mib)));
  Allocator second = first;
  first.free(0);
  first.empty_cache();
  EXPECT_EQ(first.statistics().reserved, Bytes());
  EXPECT_EQ(second.statistics().allocated, Bytes(30 * mib));
  second.free(0);
  EXPECT_EQ(second.statistics().allocated, Bytes());
  EXPECT_EQ(second.statistics().reserved, Bytes(30 * mib));
  first = second;
  EXPECT_EQ(first.statistics(), second.statistics());
}

TEST(AllocatorValue, ResetIsAsNew) {
  for (const char* conf : {"", "expandable_segments:True"}) {
    Allocator used(example::settings(conf), {Bytes(50 * mib), {}, {}});
    for (std::uint32_t slot = 0; slot < 100; ++slot) used.allocate(slot, Bytes(mib * slot));
    used.reset({Bytes(60 * mib), Bytes(mib), {}});
    EXPECT_EQ(used.statistics(), AllocatorStatistics());
    EXPECT_FALSE(used.out_of_memory());
    Allocator fresh(example::settings(conf), {Bytes(60 * mib), Bytes(mib), {}});
    for (std::uint32_t slot = 0; slot < 40; ++slot) {
      const Bytes size(mib * (slot % 7));
      EXPECT_EQ(used.allocate(slot, size), fresh.allocate(slot, size)) << slot;
      if (slot % 3 == 0) {
        used.free(slot);
        fresh.free(slot);
      }
    }
    EXPECT_EQ(used.statistics(), fresh.statistics());
    EXPECT_EQ(used.out_of_memory(), fresh.out_of_memory());
  }
}

TEST(AllocatorValue, AFailedRequestHoldsNothing) {
  Allocator allocator({}, {Bytes(10 * mib), {}, {}});
  EXPECT_FALSE(allocator.allocate(7, Bytes(20 * mib)));
  allocator.free(7);
  allocator.free(70000);
  EXPECT_EQ(allocator.statistics().allocated, Bytes());
  EXPECT_TRUE(allocator.allocate(7, Bytes(10 * mib)));
}

TEST(AllocatorValue, PlaysEvents) {
  Allocator allocator;
  EXPECT_TRUE(allocator.play({Event::Kind::allocate, 3, 100}));
  EXPECT_EQ(allocator.statistics().allocated, Bytes(512));
  EXPECT_TRUE(allocator.play({Event::Kind::mark, 0, 17}));
  EXPECT_TRUE(allocator.play({Event::Kind::free, 3, 0}));
  EXPECT_EQ(allocator.statistics().allocated, Bytes());
  EXPECT_TRUE(allocator.play({Event::Kind::empty_cache, 0, 0}));
  EXPECT_EQ(allocator.statistics().reserved, Bytes());
}

TEST(AllocatorValue, AbsurdCardsAreTakenForUnlimited) {
  Allocator allocator(example::settings("expandable_segments:True"), {Bytes::max(), Bytes(-5), {}});
  EXPECT_TRUE(allocator.allocate(0, Bytes(mib)));
  EXPECT_FALSE(allocator.allocate(1, Card::unlimited));
  EXPECT_FALSE(Allocator({}, {Bytes(-1), {}, {}}).allocate(0, Bytes(1)));
}

}  // namespace
}  // namespace oomplan
