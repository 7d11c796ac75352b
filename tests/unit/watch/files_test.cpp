#include "files.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "process_tree.hpp"

namespace oomplan::watching {
namespace {

TEST(Files, TheKeyIsAWholeWordAtTheBeginningOfALine) {
  const std::string text = "oom_kill_disable 0\nunder_oom 1\noom_kill 3\n";
  EXPECT_EQ(number_after(text, "oom_kill"), 3);
  EXPECT_EQ(number_after(text, "oom"), std::nullopt);
  EXPECT_EQ(number_after("MemTotal:       12 kB\n", "MemTotal:"), 12);
  EXPECT_EQ(number_after("Max address space         unlimited  unlimited  bytes", "Max address space"), std::nullopt);
}

TEST(Files, WhatCannotBeReadIsEmpty) {
  EXPECT_EQ(text_of("/proc/0/none"), "");
  EXPECT_EQ(number_in("/proc/0/none"), std::nullopt);
}

TEST(ProcessTree, KnowsThisProcessByItsParent) {
  const TreeUse use = tree_use(getppid());
  EXPECT_GE(use.processes, 1);
  EXPECT_GT(use.rss, 0);
  EXPECT_GT(use.largest, 0);
  EXPECT_EQ(tree_use(-1).processes, 0);
}

}  // namespace
}  // namespace oomplan::watching
