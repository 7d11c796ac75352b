#include "collector.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace oomplan::diagnose {
namespace {

std::vector<Line> collected(const std::string& text, std::size_t block) {
  Prefilter loud(4);
  loud.add("out of memory", 0);
  loud.add("No space left on device", 1);
  loud.finish();
  Collector collector(loud);
  collector.begin(0);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.rfind('\n', std::min(text.size(), at + block) - 1) + 1;
    const std::string_view piece = std::string_view(text).substr(at, end - at);
    collector.read(piece);
    at = end;
  }
  collector.end();
  return collector.take();
}

// Each line says its own number.
std::string numbered(int lines, int loud) {
  std::string out;
  for (int i = 1; i <= lines; ++i) out += std::to_string(i) + (i == loud ? " out of memory\n" : " all is well here\n");
  return out;
}

TEST(Collector, KeepsHeadEndAndWhatStandsAroundAFailureWithRightNumbers) {
  for (const std::size_t block : {std::size_t{700}, std::size_t{5'000}, LogText::most}) {
    const std::vector<Line> lines = collected(numbered(30'000, 20'000), block);
    bool found = false;
    bool last = false;
    std::int64_t before = 0;
    for (const Line& line : lines) {
      EXPECT_EQ(std::to_string(line.number), line.body.substr(0, line.body.find(' '))) << block;
      EXPECT_GT(line.number, before);
      EXPECT_TRUE(line.number == before + 1 || line.header) << line.number;
      before = line.number;
      found = found || line.number == 20'000;
      last = last || line.number == 30'000;
    }
    EXPECT_TRUE(found && last);
    EXPECT_EQ(lines.front().number, 1);
    EXPECT_LT(lines.size(), 900U);
    EXPECT_GT(lines.size(), 500U);
  }
}

TEST(Collector, DoesNotGrowWithFailures) {
  std::string text;
  while (text.size() < std::size_t{12} << 20) text += "RuntimeError: CUDA error: out of memory\n";
  const std::vector<Line> lines = collected(text, LogText::most);
  EXPECT_LT(lines.size(), 25'000U);
  EXPECT_EQ(lines.back().number, count_newlines(text));
}

// Twenty thousand lines say one thing, the last of them far before the end, and one among them says another.
TEST(Collector, KeepsOfWhatIsRepeatedTheFirstAndTheLast) {
  std::string text;
  for (int i = 1; i <= 60'000; ++i) {
    const bool other = i == 13'000;
    const bool repeated = i > 2'000 && i <= 22'000 && (i < 15'000 || i % 50 == 0);
    text += std::to_string(i) + (other      ? " No space left on device\n"
                                 : repeated ? " out of memory" + std::string(120 + i * 37 % 90, '.') + "\n"
                                            : " all is well here\n");
  }
  for (const std::size_t block : {std::size_t{700}, std::size_t{5'000}, LogText::most}) {
    std::set<std::int64_t> kept;
    for (const Line& line : collected(text, block)) {
      EXPECT_EQ(std::to_string(line.number), line.body.substr(0, line.body.find(' '))) << block;
      EXPECT_TRUE(kept.insert(line.number).second) << "twice: " << line.number;
      EXPECT_EQ(line.header, !kept.contains(line.number - 1)) << line.number;
    }
    for (const std::int64_t number : {1, 2'001, 2'100, 13'000, 22'000, 22'005, 60'000})
      EXPECT_TRUE(kept.contains(number)) << number << " with blocks of " << block;
    EXPECT_TRUE(kept.contains(21'990) || block == 700);  // What stands before is taken from the same block.
    EXPECT_LT(kept.size(), 12'000U);
  }
}

// Blocks that are full of it show the last place of all, the others the last of each rank.
TEST(Collector, KeepsWhatEachRankRepeatedLast) {
  std::string text;
  for (int i = 0; i < 400'000; ++i)
    text +=
        "[rank" + std::to_string(i < 200'000 ? i % 4 : i % 2) + "]: " + (i % 10'000 < 4 ? "out of memory\n" : "fine\n");
  std::map<std::int64_t, std::int64_t> last;
  for (const Line& line : collected(text, LogText::most))
    if (line.body.find("memory") != std::string::npos) last[line.rank.value_or(-1)] = line.number;
  EXPECT_EQ(last, (std::map<std::int64_t, std::int64_t>{{0, 390'003}, {1, 390'004}, {2, 190'003}, {3, 190'004}}));
}

// What a launcher says of a thousand tasks it says of one in other words, though the sentence is the same.
TEST(Collector, StopsAtEachSentenceThatANumberTellsApart) {
  std::string text;
  for (int i = 0; i < 3'000; ++i)
    text += std::to_string(i) + " task ended with exit code " + (i == 2'900 ? "137" : "1") +
            std::string(3'900 + i * 37 % 90, '.') + "\n";
  Prefilter loud(4);
  loud.add("ended with exit code", 0);
  loud.finish();
  const auto has = [&](std::vector<bool> numbered) {
    Collector collector(loud, {true}, std::move(numbered));
    collector.begin(0);
    collector.read(text);
    collector.end();
    return std::ranges::any_of(collector.take(), [](const Line& line) { return line.body.starts_with("2900 "); });
  };
  EXPECT_TRUE(has({true}));
  EXPECT_FALSE(has({false}));
}

}  // namespace
}  // namespace oomplan::diagnose
