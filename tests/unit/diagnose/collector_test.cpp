#include "collector.hpp"

#include <gtest/gtest.h>

namespace oomplan::diagnose {
namespace {

std::vector<Line> collected(const std::string& text, std::size_t block) {
  Prefilter loud(4);
  loud.add("out of memory", 0);
  loud.finish();
  Collector collector(loud);
  collector.begin(0);
  std::int64_t line = 1;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.rfind('\n', std::min(text.size(), at + block) - 1) + 1;
    const std::string_view piece = std::string_view(text).substr(at, end - at);
    collector.read({piece, line});
    line += count_newlines(piece);
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
  EXPECT_LT(lines.size(), 80'000U);
  EXPECT_EQ(lines.back().number, count_newlines(text));
}

}  // namespace
}  // namespace oomplan::diagnose
