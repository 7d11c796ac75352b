#include "hash_set.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace oomplan::measure {
namespace {

Hash some(std::mt19937_64& random) { return {std::max<std::uint64_t>(random(), 1), random()}; }

TEST(HashSet, AgreesWithASet) {
  std::mt19937_64 random(7);
  HashSet set(0);
  std::set<std::pair<std::uint64_t, std::uint64_t>> reference;
  std::vector<Hash> all;
  for (int i = 0; i < 200'000; ++i) {
    const Hash hash = !all.empty() && random() % 3 == 0 ? all[random() % all.size()] : some(random);
    all.push_back(hash);
    ASSERT_EQ(set.insert(hash), reference.insert({hash.high, hash.low}).second);
  }
  EXPECT_EQ(set.size(), reference.size());
  std::size_t seen = 0;
  set.each([&](Hash hash) { seen += reference.count({hash.high, hash.low}); });
  EXPECT_EQ(seen, reference.size());
}

TEST(HashSet, HoldsHashesThatCrowdInOnePlace) {
  HashSet set(0);
  for (std::uint64_t i = 5'000; i > 0; --i) EXPECT_TRUE(set.insert({~std::uint64_t{0}, i}));
  for (std::uint64_t i = 1; i <= 5'000; ++i) EXPECT_FALSE(set.insert({~std::uint64_t{0}, i}));
}

TEST(HashSet, ManyTakeAtMostTwentyBytesAHashTogether) {
  std::mt19937_64 random(7);
  std::vector<HashSet> sets;
  for (int i = 0; i < 256; ++i) sets.emplace_back(8, i / 256.0);
  for (int i = 1; i <= 2'000'000; ++i) {
    const Hash hash = some(random);
    sets[hash.high >> 56].insert(hash);
    if (i < 1'000'000 || i % 10'000 != 0) continue;
    std::int64_t bytes = 0;
    for (const HashSet& set : sets) bytes += set.bytes();
    ASSERT_LE(bytes, std::int64_t{20} * i) << i;
  }
}

}  // namespace
}  // namespace oomplan::measure
