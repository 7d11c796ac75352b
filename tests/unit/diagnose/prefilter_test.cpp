#include "prefilter.hpp"

#include <gtest/gtest.h>

#include <set>

namespace oomplan::diagnose {
namespace {

// At every alignment, at both ends, and next to itself.
TEST(Prefilter, FindsALiteralWhereverItStands) {
  Prefilter filter(4);
  filter.add("out of memory", 1);
  filter.add("\nKilled", 2);
  filter.finish();
  std::vector<Prefilter::Hit> hits;
  for (std::size_t before = 0; before < 40; ++before) {
    const std::string text = std::string(before, 'x') + "out of memory" + std::string(before % 3, 'y');
    filter.find(text, 0, hits);
    ASSERT_EQ(hits.size(), 1U) << before;
    EXPECT_EQ(hits[0].at, before);
  }
  filter.find("a line\nKilled\n", 0, hits);
  ASSERT_EQ(hits.size(), 1U);
  EXPECT_EQ(hits[0].id, 2U);
}

TEST(Prefilter, GoesOnAfterAHit) {
  Prefilter filter(4);
  filter.add("MemoryError", 0);
  filter.finish();
  const std::string text = "MemoryErrorMemoryError and MemoryErro MemoryError";
  std::set<std::size_t> found;
  std::vector<Prefilter::Hit> hits;
  for (std::size_t at = 0; at < text.size();) {
    at = filter.find(text, at, hits);
    for (const Prefilter::Hit& hit : hits) found.insert(hit.at);
  }
  EXPECT_EQ(found, (std::set<std::size_t>{0, 11, 38}));
}

TEST(Prefilter, PassesOverWhatIsMuted) {
  Prefilter filter(4);
  filter.add("MemoryError", 7);
  filter.add("MemoryError", 8);
  filter.add("KeyError: '", 9);
  filter.finish();
  Prefilter::Muted muted(filter);
  const std::string text = "MemoryError MemoryError KeyError: 'a'";
  std::vector<Prefilter::Hit> hits;
  filter.find(text, 0, muted, hits);
  ASSERT_EQ(hits.size(), 2U);
  EXPECT_EQ(hits[0].id, 7U);
  EXPECT_EQ(hits[1].id, 8U);
  const std::uint32_t literal = hits[0].literal;
  muted.set(literal, true);
  filter.find(text, 0, muted, hits);
  ASSERT_EQ(hits.size(), 1U);
  EXPECT_EQ(hits[0].id, 9U);
  filter.find_last(text, 0, literal, hits);
  ASSERT_EQ(hits.size(), 2U);
  EXPECT_EQ(hits[0].at, 12U);
  filter.find_last(text, 13, literal, hits);
  EXPECT_TRUE(hits.empty());
  muted.set(literal, false);
  filter.find(text, 0, muted, hits);
  EXPECT_EQ(hits.size(), 2U);
}

}  // namespace
}  // namespace oomplan::diagnose
