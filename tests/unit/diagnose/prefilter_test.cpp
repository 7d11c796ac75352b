#include "prefilter.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

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

// What a log is full of changes which bytes of a literal are looked for, never whether it is found.
TEST(Prefilter, FindsTheSameAfterItLearnedNoise) {
  Prefilter filter(4);
  const std::vector<std::string> literals{"CUDA error: device-side assert triggered", "CUDA error: out of memory",
                                          "RuntimeError: CUDA error: an illegal", "side assert"};
  for (std::uint32_t id = 0; id < literals.size(); ++id) filter.add(literals[id], id);
  filter.finish();
  Prefilter::Muted muted(filter);
  std::vector<Prefilter::Hit> hits;
  const std::string noise = "[rank3]: RuntimeError: CUDA error: device-side assert triggered";
  filter.find(noise, 0, muted, hits);
  ASSERT_FALSE(hits.empty());
  for (std::uint32_t literal : {0U, 3U}) muted.set(literal, true);
  for (const std::string& line : {noise, std::string("CUDA error: out of mem"), std::string()}) muted.learn(line);
  for (std::size_t before = 0; before < 12; ++before) {
    filter.find(std::string(before, ' ') + noise, 0, muted, hits);
    EXPECT_TRUE(hits.empty()) << before;
    for (std::uint32_t id : {1U, 2U}) {
      filter.find(std::string(before, 'x') + literals[id], 0, muted, hits);
      ASSERT_EQ(hits.size(), 1U) << before << literals[id];
      EXPECT_EQ(hits[0].id, id);
      EXPECT_EQ(hits[0].at, before);
    }
  }
  muted.set(0, false);
  filter.find(noise, 0, muted, hits);
  ASSERT_EQ(hits.size(), 1U);
  EXPECT_EQ(hits[0].at, noise.find(literals[0]));
}

}  // namespace
}  // namespace oomplan::diagnose
