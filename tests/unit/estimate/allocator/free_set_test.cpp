// The set of free blocks against std::set, over random sizes with many ties.
#include "allocator/free_set.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace oomplan::allocator {
namespace {

bool same(const Free& a, const Free& b) { return !(a < b) && !(b < a); }

class Random {
 public:
  std::int64_t size() {
    const int power = static_cast<int>(engine_() % 40);
    return engine_() % 3 == 0 ? 512 : 512 * static_cast<std::int64_t>(1 + engine_() % (std::uint64_t{1} << power));
  }
  std::uint64_t address() { return 512 * (engine_() % 100000); }
  bool one_in(unsigned n) { return engine_() % n == 0; }

 private:
  std::mt19937_64 engine_{7};
};

void expect_same(const FreeSet& set, const std::set<Free>& model, std::int64_t size) {
  auto wanted = model.lower_bound({size, 0, none});
  FreeSet::Cursor at = set.at_least(size);
  for (int i = 0; i < 3 && wanted != model.end(); ++i, ++wanted, at = set.after(at)) {
    ASSERT_TRUE(at);
    ASSERT_TRUE(same(set[at], *wanted));
  }
  if (wanted == model.end()) {
    ASSERT_FALSE(at);
  }
}

TEST(FreeSet, IsInOrderOfSizeAndAddress) {
  Random random;
  FreeSet set;
  std::set<Free> model;
  for (int i = 0; i < 20000; ++i) {
    const Free entry{random.size(), random.address(), static_cast<Index>(i)};
    if (model.insert(entry).second) set.insert(entry);
    const auto victim = model.lower_bound({random.size(), random.address(), none});
    if (victim != model.end() && random.one_in(2)) {
      set.erase(*victim);
      model.erase(victim);
    }
    ASSERT_NO_FATAL_FAILURE(expect_same(set, model, random.size()));
  }
  const std::vector<Free> all = set.list();
  ASSERT_EQ(all.size(), model.size());
  EXPECT_TRUE(std::equal(all.begin(), all.end(), model.begin(), same));
  set.clear();
  EXPECT_FALSE(set.at_least(0));
}

TEST(FreeSet, ErasesAtACursor) {
  FreeSet set;
  for (Index i = 0; i < 1000; ++i) set.insert({4096, 512 * std::uint64_t{i}, i});
  for (Index i = 0; i < 1000; ++i) {
    const FreeSet::Cursor lowest = set.at_least(513);
    ASSERT_EQ(set[lowest].block, i);
    set.erase(lowest);
  }
  EXPECT_FALSE(set.at_least(0));
}

}  // namespace
}  // namespace oomplan::allocator
