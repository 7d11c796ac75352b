#include "oomplan/core/bytes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <random>

namespace oomplan {
namespace {

constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();

// A 96-bit integer as sum of parts: what the true result is, without __int128.
struct Wide {
  std::int64_t high = 0;  // in units of 2^32
  std::int64_t low = 0;   // 0 .. 2^32 - 1
};

constexpr std::int64_t unit = std::int64_t{1} << 32;

Wide wide(std::int64_t value) {
  const std::int64_t low = value & (unit - 1);
  return {(value - low) / unit, low};
}

// Held at the ends, by comparing the high part.
std::int64_t held(Wide sum) {
  const std::int64_t carry = sum.low >= 0 ? sum.low / unit : -((unit - 1 - sum.low) / unit);
  sum = {sum.high + carry, sum.low - carry * unit};
  if (sum.high >= unit / 2) return highest;
  if (sum.high < -unit / 2) return lowest;
  return sum.high * unit + sum.low;
}

std::int64_t sum_of(std::int64_t a, std::int64_t b) {
  return held({wide(a).high + wide(b).high, wide(a).low + wide(b).low});
}
std::int64_t difference_of(std::int64_t a, std::int64_t b) {
  return held({wide(a).high - wide(b).high, wide(a).low - wide(b).low});
}

// Doubles are exact about being far out of range, and integers about the rest.
std::int64_t product_of(std::int64_t a, std::int64_t b) {
  const double about = static_cast<double>(a) * static_cast<double>(b);
  if (about > 9.3e18) return highest;
  if (about < -9.3e18) return lowest;
  if (about > 9.1e18 || about < -9.1e18) return 0;  // too close to tell
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

std::int64_t any_size(std::mt19937_64& random) {
  constexpr std::array ends{lowest,          lowest + 1,      highest,         highest - 1,
                            std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}};
  if (random() % 4 == 0) return ends[random() % ends.size()];
  return static_cast<std::int64_t>(random()) >> (random() % 64);
}

TEST(Saturating, AgreesWithWiderArithmetic) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200'000; ++round) {
    const std::int64_t a = any_size(random);
    const std::int64_t b = any_size(random);
    ASSERT_EQ(saturating_add(a, b), sum_of(a, b)) << a << " + " << b;
    ASSERT_EQ(saturating_sub(a, b), difference_of(a, b)) << a << " - " << b;
    const std::int64_t product = product_of(a, b);
    if (product == 0) continue;
    ASSERT_EQ(saturating_mul(a, b), product) << a << " * " << b;
  }
}

TEST(Saturating, HoldsAtTheEnds) {
  EXPECT_EQ(saturating_add(highest, 1), highest);
  EXPECT_EQ(saturating_add(lowest, -1), lowest);
  EXPECT_EQ(saturating_sub(lowest, 1), lowest);
  EXPECT_EQ(saturating_sub(0, lowest), highest);
  EXPECT_EQ(saturating_mul(lowest, -1), highest);
  EXPECT_EQ(saturating_mul(highest, -2), lowest);
  EXPECT_EQ(saturating_mul(std::int64_t{1} << 32, std::int64_t{1} << 31), highest);
}

TEST(BytesTest, CountsInBinaryUnits) {
  EXPECT_EQ(Bytes::kib(3).count(), 3072);
  EXPECT_EQ(Bytes::mib(2).count(), 2'097'152);
  EXPECT_EQ(Bytes::gib(80).count(), 85'899'345'920);
  EXPECT_EQ(Bytes::gib(highest), Bytes::max());
}

TEST(BytesTest, SaysWhenItIsOnlyABound) {
  EXPECT_TRUE((Bytes::max() + Bytes(1)).saturated());
  EXPECT_TRUE((Bytes::gib(1) * highest).saturated());
  EXPECT_TRUE((Bytes(lowest) - Bytes(1)).saturated());
  EXPECT_FALSE(Bytes::gib(80).saturated());
}

TEST(BytesTest, ComparesAndAccumulates) {
  Bytes sum = Bytes(5);
  sum += Bytes(7);
  sum -= Bytes(20);
  EXPECT_EQ(sum, Bytes(-8));
  EXPECT_LT(sum, Bytes());
  EXPECT_EQ(3 * Bytes(4), Bytes(4) * 3);
}

TEST(BytesTest, RoundsUpToAStep) {
  EXPECT_EQ(Bytes(0).rounded_up(512), Bytes(0));
  EXPECT_EQ(Bytes(1).rounded_up(512), Bytes(512));
  EXPECT_EQ(Bytes(512).rounded_up(512), Bytes(512));
  EXPECT_EQ(Bytes(513).rounded_up(512), Bytes(1024));
  EXPECT_EQ(Bytes::max().rounded_up(512), Bytes::max());
}

TEST(BytesTest, RoundsANegativeSizeUpToo) {
  EXPECT_EQ(Bytes(-513).rounded_up(512), Bytes(-512));
  EXPECT_EQ(Bytes(-1).rounded_up(512), Bytes(0));
}

}  // namespace
}  // namespace oomplan
