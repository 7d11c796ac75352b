// In memory and through the disk, the same rows are duplicates.
#include "distinct.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "temporary.hpp"

namespace oomplan::measure {
namespace {

Room room_with_table(std::int64_t bytes) { return {.free = std::int64_t{64} << 20, .table = bytes}; }

void expect_exact(std::int64_t table, std::uint64_t kinds, bool spills) {
  const Temporary folder;
  std::mt19937_64 random(7);
  Distinct distinct(room_with_table(table), folder.path());
  std::set<std::uint64_t> reference;
  std::vector<bool> duplicate;
  for (int i = 0; i < 300'000; ++i) {
    const std::uint64_t kind = random() % kinds;
    duplicate.push_back(!reference.insert(kind).second);
    const Hash hash = hash_of({reinterpret_cast<const char*>(&kind), sizeof kind});
    ASSERT_TRUE(distinct.add({&hash, 1}).ok());
  }
  ASSERT_TRUE(distinct.finish().ok());
  for (std::size_t i = 0; i < duplicate.size(); ++i) {
    ASSERT_EQ(distinct.duplicates().contains(static_cast<std::int64_t>(i)), duplicate[i]) << i;
  }
  EXPECT_EQ(distinct.duplicates().size(), static_cast<std::int64_t>(300'000 - reference.size()));
  EXPECT_EQ(distinct.spilled_bytes() > 0, spills);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Distinct, InMemory) { expect_exact(std::int64_t{64} << 20, 200'000, false); }
TEST(Distinct, ThroughTheDisk) { expect_exact(std::int64_t{1} << 20, 200'000, true); }
TEST(Distinct, ThroughTheDiskAndSplitAgain) { expect_exact(20'000, 200'000, true); }
TEST(Distinct, ManyOfFewKinds) { expect_exact(1'000, 300, true); }

TEST(Distinct, SaysWhereItCannotWrite) {
  Distinct distinct(room_with_table(1'000), "/nowhere");
  Result<bool> added = true;
  for (std::uint64_t i = 0; i < 1'000'000 && added; ++i) {
    const Hash hash = hash_of({reinterpret_cast<const char*>(&i), sizeof i});
    added = distinct.add({&hash, 1});
  }
  ASSERT_FALSE(added.ok());
  EXPECT_EQ(added.errors()[0].code, "measure/cannot-write");
  EXPECT_EQ(added.errors()[0].where.file, "/nowhere");
}

}  // namespace
}  // namespace oomplan::measure
