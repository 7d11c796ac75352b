#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "oomplan/core/text.hpp"
#include "oomplan/survey/survey.hpp"

namespace oomplan {
namespace {

using Values = std::vector<std::string>;

Values values_of(const std::string& text) {
  const auto axes = parse_axes({text});
  return axes ? axes->front().values : Values{axes.errors().front().code};
}

TEST(Axes, AreRangesStepsAndWords) {
  EXPECT_EQ(values_of("a=1..4"), (Values{"1", "2", "3", "4"}));
  EXPECT_EQ(values_of("a=1024:4096:x2"), (Values{"1024", "2048", "4096"}));
  EXPECT_EQ(values_of("a=1000:4096:x2"), (Values{"1000", "2000", "4000"}));
  EXPECT_EQ(values_of("a=64:200:+64"), (Values{"64", "128", "192"}));
  EXPECT_EQ(values_of("a=64:200:64"), (Values{"64", "128", "192"}));
  EXPECT_EQ(values_of("a=bf16|fp16"), (Values{"bf16", "fp16"}));
  EXPECT_EQ(values_of("a=b=c"), (Values{"b=c"}));
  EXPECT_EQ(values_of("a=-2..1"), (Values{"-2", "-1", "0", "1"}));
}

TEST(Axes, ThatMakeNoSenseAreRefused) {
  for (const char* text : {"a", "=1", "a=", "a=4..1", "a=1:8:x1", "a=1:8:x0", "a=1:8:+0", "a=1:8:-1", "a=0:8:x2",
                           "a=1:8", "a=1|", "a=1,a=2", "", "a=1:2:3:4", "a=1..64:x2", "a=1..", "a=1:b:c"})
    EXPECT_FALSE(parse_axes({text})) << text;
}

TEST(Axes, NeverRunOutOfNumbers) {
  EXPECT_EQ(values_of("a=9223372036854775806:9223372036854775807:+1").size(), 2U);
  EXPECT_EQ(values_of("a=1:9223372036854775807:x2").size(), 64U);
  EXPECT_EQ(values_of("a=1..9223372036854775807"), (Values{"survey/too-many-points"}));
  EXPECT_FALSE(parse_axes({"a=1..1000000,b=1..1000000,c=1..1000000,d=1..1000000"}));
  EXPECT_TRUE(parse_axes({"a=1..1000", "b=1..1000"}));
}

/// Whether point `i` is as large as `than` in every number, and equal in all else.
bool is_as_large(const Sweep& sweep, std::size_t i, std::size_t than) {
  const auto here = values_at(sweep.axes, i);
  const auto there = values_at(sweep.axes, than);
  for (std::size_t a = 0; a < here.size(); ++a)
    if (sweep.axes[a].numbers ? parse_number(here[a]) < parse_number(there[a]) : here[a] != there[a]) return false;
  return true;
}

/// By the definition: it fits, and so does all that is as small in every number.
bool is_sound(const Sweep& sweep, std::size_t i) {
  for (std::size_t other = 0; other < sweep.points.size(); ++other) {
    const SweepPoint& point = sweep.points[other];
    if (is_as_large(sweep, i, other) && !point.fits && point.undecided.empty()) return false;
  }
  return sweep.points[i].fits;
}

/// By the definition: nothing that fits soundly is as large in every number, and larger in one.
bool on_frontier(const Sweep& sweep, std::size_t i) {
  for (std::size_t other = 0; other < sweep.points.size(); ++other)
    if (other != i && is_sound(sweep, other) && is_as_large(sweep, other, i)) return false;
  return is_sound(sweep, i);
}

TEST(Frontier, IsWhatItsDefinitionSays) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    Sweep sweep;
    std::size_t count = 1;
    for (const char* name : {"a", "b", "c"}) {
      Axis axis{.key = name, .numbers = random() % 3 != 0};
      for (std::uint32_t i = 0; i < 1 + random() % 4; ++i) axis.values.push_back(std::to_string(i + 1));
      count *= axis.values.size();
      sweep.axes.push_back(axis);
    }
    for (std::size_t i = 0; i < count; ++i) {
      const bool fits = random() % 4 != 0;
      sweep.points.push_back({.fits = fits, .undecided = !fits && random() % 3 == 0 ? "unknown" : ""});
    }
    find_frontier(sweep);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(std::ranges::count(sweep.frontier, i) == 1, on_frontier(sweep, i)) << round << " " << i;
      const bool lucky = sweep.points[i].fits && !is_sound(sweep, i);
      EXPECT_EQ(std::ranges::count(sweep.lucky, i) == 1, lucky) << round << " " << i;
    }
    EXPECT_EQ(sweep.largest.has_value(), !sweep.frontier.empty());
  }
}

TEST(Frontier, OfWhatLessensTheNeedHasNoLargest) {
  Sweep sweep;
  sweep.axes = {{.key = "rows", .values = {"1", "2"}, .numbers = true},
                {.key = "gpus", .values = {"1", "2", "4"}, .numbers = true}};
  for (const std::int64_t needed : {90, 50, 30, 140, 85, 45})
    sweep.points.push_back({.needed = Bytes(needed), .fits = needed <= 80});
  find_frontier(sweep);
  EXPECT_TRUE(sweep.axes[0].numbers);
  EXPECT_FALSE(sweep.axes[1].numbers);
  EXPECT_EQ(sweep.frontier, (std::vector<std::size_t>{1, 5}));
  EXPECT_TRUE(sweep.lucky.empty());
}

}  // namespace
}  // namespace oomplan
