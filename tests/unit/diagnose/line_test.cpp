#include "line.hpp"

#include <gtest/gtest.h>

namespace oomplan::diagnose {
namespace {

Line stripped(std::string text) {
  Line line{.body = std::move(text)};
  strip_prefixes(line);
  return line;
}

TEST(Prefixes, AreTakenOffAndKept) {
  const Line line = stripped("2024-07-02T10:11:12.0001234Z node1: [rank5]: boom");
  EXPECT_EQ(line.body, "boom");
  EXPECT_EQ(line.rank, 5);
  EXPECT_EQ(line.source, "node1");
  EXPECT_EQ(line.time, "2024-07-02T10:11:12.0001234Z");
  EXPECT_EQ(stripped("[1,3]<stderr>:boom").rank, 3);
  EXPECT_EQ(stripped("[default2]:boom").rank, 2);
  EXPECT_EQ(stripped("4: boom").rank, 4);
  EXPECT_EQ(stripped("(train pid=77, ip=10.0.0.1) boom").source, "train pid=77, ip=10.0.0.1");
  EXPECT_EQ(stripped("(raylet) boom").source, "raylet");
  EXPECT_EQ(stripped("(autoscaler +5s) boom").body, "boom");
  EXPECT_EQ(stripped("boom                train_util.py:779").body, "boom");
  EXPECT_EQ(stripped("trainer-1  | boom").body, "boom");
  EXPECT_EQ(stripped("# [rank0]: boom").rank, 0);
  EXPECT_EQ(stripped("    2016-03-17T02:47:32.199-0400 boom").time, "2016-03-17T02:47:32.199-0400");
  EXPECT_EQ(stripped("    2016-03-17T02:47:32.199-0400 boom").body, "boom");
}

TEST(Prefixes, OfKernelAndJournalAreTakenOff) {
  for (const char* text :
       {"[ 7063.247407] boom", "[Sun Mar 30 08:24:00 2025] boom", "Nov 29 01:00:04 host kernel: [  1.2] boom",
        "kern:     err: [2026-07-25T14:23:17.5Z]: boom", "Oct 07 19:16:10 host earlyoom[26328]: boom",
        "2024-04-29T14:55:41,678+02:00 boom", "2024-01-01T00:00:00.1Z stderr F boom"})
    EXPECT_EQ(stripped(text).body, "boom") << text;
}

TEST(Prefixes, LeaveMessagesAlone) {
  for (const char* text :
       {"RuntimeError: CUDA error: out of memory", "[enforce fail at alloc_cpu.cpp:75] err == 0.",
        "srun: error: n05: task 3: Out Of Memory", "| Allocated memory | 1 MB |", "memory: usage 1kB",
        "(rayleigh) 7 km", "assertion in train.py:33", "see    train.py:33 for it"})
    EXPECT_EQ(stripped(text).body, text);
}

TEST(Cleaned, DropsColoursAndNulButNotADeviceNumber) {
  EXPECT_EQ(cleaned("\x1b[31;1mred\x1b[0m \x1b]0;title\aend"), "red end");
  EXPECT_EQ(cleaned(std::string("(shm).\0", 7)), "(shm).");
  EXPECT_EQ(cleaned(std::string("GPU \0 has", 9)), std::string("GPU \0 has", 9));
}

TEST(AddLines, SplitsProgressBarsAndOpensJson) {
  std::vector<Line> lines;
  add_lines("  1%|#\r  2%|##\rMemoryError", 0, 7, lines);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines.back().body, "MemoryError");
  EXPECT_EQ(lines.back().number, 7);
  lines.clear();
  add_lines(R"({"log":"File \"a.py\" is \u003e b\n","stream":"stderr","time":"2024-01-26T08:12:33Z"})", 0, 1, lines);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].body, "File \"a.py\" is > b");
}

}  // namespace
}  // namespace oomplan::diagnose
