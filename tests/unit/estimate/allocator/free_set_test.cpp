// The set of free blocks against std::set, over random sizes with many ties.
#include "allocator/free_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace oomplan::allocator {
namespace {

struct Key {
  std::int64_t size = 0;
  std::uint64_t address = 0;
  friend auto operator<=>(const Key&, const Key&) = default;
};

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

/// The set, and what it should hold.
class Checked {
 public:
  void insert(const Key& key) {
    if (!model_.insert(key).second) return;
    set_.insert(blocks_, blocks_.add({.address = key.address, .size = key.size}));
  }
  void erase_from(const Key& key) {
    const auto victim = model_.lower_bound(key);
    if (victim == model_.end()) return;
    const Index block = set_.at(blocks_, victim->size, victim->address);
    ASSERT_NE(block, none);
    set_.erase(blocks_, block);
    blocks_.remove(block);
    model_.erase(victim);
  }
  void expect_same_from(std::int64_t size) const {
    auto wanted = model_.lower_bound({size, 0});
    Index at = set_.at_least(blocks_, size);
    for (int i = 0; i < 3 && wanted != model_.end(); ++i, ++wanted, at = set_.after(blocks_, at)) {
      ASSERT_NE(at, none);
      ASSERT_EQ(key(at), *wanted);
    }
    if (wanted == model_.end()) {
      ASSERT_EQ(at, none);
    }
  }
  void expect_same() const {
    const std::vector<Index> all = set_.list(blocks_);
    ASSERT_EQ(all.size(), model_.size());
    EXPECT_TRUE(std::ranges::equal(all, model_, {}, [&](Index i) { return key(i); }));
  }
  std::size_t size() const { return model_.size(); }
  FreeSet& set() { return set_; }
  const Blocks& blocks() const { return blocks_; }

 private:
  Key key(Index i) const { return {blocks_[i].size, blocks_[i].address}; }

  Blocks blocks_{};
  FreeSet set_{};
  std::set<Key> model_{};
};

TEST(FreeSet, IsInOrderOfSizeAndAddress) {
  Random random;
  Checked checked;
  for (int i = 0; i < 20000; ++i) {
    checked.insert({random.size(), random.address()});
    if (random.one_in(2)) checked.erase_from({random.size(), random.address()});
    ASSERT_NO_FATAL_FAILURE(checked.expect_same_from(random.size()));
  }
  checked.expect_same();
  checked.set().clear();
  EXPECT_EQ(checked.set().at_least(checked.blocks(), 0), none);
}

TEST(FreeSet, FindsOnlyWhatIsThere) {
  Checked checked;
  checked.insert({4096, 512});
  EXPECT_NE(checked.set().at(checked.blocks(), 4096, 512), none);
  EXPECT_EQ(checked.set().at(checked.blocks(), 4096, 1024), none);
  EXPECT_EQ(checked.set().at(checked.blocks(), 4608, 512), none);
  EXPECT_EQ(checked.set().at(checked.blocks(), -512, 512), none);
}

// Thousands of one size, coming and going in every order, pass the length from which a bin has an index both ways.
TEST(FreeSet, HoldsThousandsOfOneSize) {
  Random random;
  Checked checked;
  for (const bool grows : {true, false, true, false}) {
    while (grows ? checked.size() < 5000 : checked.size() > 100) {
      const bool inserts = random.one_in(4) != grows;
      inserts ? checked.insert({4096, random.address()}) : checked.erase_from({4096, random.address() / 2});
      ASSERT_NO_FATAL_FAILURE(checked.expect_same_from(4096));
    }
    checked.expect_same();
  }
}

}  // namespace
}  // namespace oomplan::allocator
