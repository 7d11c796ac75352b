// A text that explains failures is told from a log, and from the report of somebody's run.
#include "article.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "rules.hpp"
#include "support.hpp"

namespace oomplan::diagnose {
namespace {

Writing writing(std::string_view text) {
  std::vector<Line> lines;
  std::int64_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    add_lines(text.substr(at, end - at), 0, ++number, lines);
    at = end + 1;
  }
  return Articles(book().rules().wordings, lines).of(0);
}

constexpr std::string_view kill = "Last State: Terminated\nReason: OOMKilled\nExit Code: 137\n";

TEST(Article, ExplainsToWhoeverComes) {
  const std::string shown(kill);
  EXPECT_EQ(writing("In this guide the status is taken apart, step by step.\nWhat OOMKilled means\n" + shown),
            Writing::article);
  EXPECT_EQ(
      writing("The status signifies that a limit was met; the code is 128 + 9.\nHere's how to find it:\n" + shown),
      Writing::article);
}

TEST(Article, ThatSaysSoMayShowMoreOfALog) {
  const std::string shown = "Oct  8 11:12:20 n7 kernel: Out of memory: Kill process 77 (python) score 933\n";
  const std::string told = "This tutorial finds the reason of a kill.\nYou will see similar lines:\n";
  EXPECT_EQ(writing(told + shown + "Then look into the table.\nWhat the score means\n" + shown), Writing::article);
}

TEST(Article, OfFewSignsIsTalk) {
  const std::string shown(kill);
  const std::string told =
      "It occurs when a limit is met, and typically at night, when the jobs of the day are done and the ones that wait "
      "for the machine all begin at the same time, with as much as they can have. If it is of the host, then the code "
      "is that of the signal; if it is of the card, then it is what the program has of its own.\n";
  EXPECT_EQ(writing(told + shown), Writing::talk);
  EXPECT_EQ(writing(told + "{'loss': 0.31, 'epoch': 1}\n" + shown), Writing::other);
  EXPECT_EQ(writing("This PR prints the reason:\n" + shown), Writing::talk);
}

TEST(Article, IsNoReportOfOnesOwn) {
  const std::string shown(kill);
  EXPECT_EQ(writing("I read of best practices, step by step, and my pod dies.\n" + shown), Writing::other);
  EXPECT_EQ(writing("We see this typically at night; it occurs when our job starts.\n" + shown), Writing::other);
  EXPECT_EQ(writing(shown), Writing::other);
  EXPECT_EQ(writing("### To Reproduce\nStep 1: run it. Here's how to: as best practices say.\nCommon causes\n" + shown),
            Writing::other);
  EXPECT_EQ(writing("RuntimeError: this error indicates that a parameter was not used.\n" + shown), Writing::other);
}

TEST(Article, IsNoLog) {
  std::string log = "2026-03-01 10:00:00 INFO this guide goes on step by step, with best practices\n";
  for (int i = 0; i < 9; ++i) log += "2026-03-01 10:00:0" + std::to_string(i) + " INFO loading\n";
  EXPECT_EQ(writing(log + std::string(kill)), Writing::other);
}

TEST(Article, ShowsWhatHappenedToNobody) {
  const std::string page =
      "In this guide the status is taken apart, step by step.\nWhat OOMKilled means\n" + std::string(kill);
  EXPECT_EQ(diagnosed(page).verdict.cause, Cause::unknown);
  EXPECT_FALSE(diagnosed(page).out_of_memory);
  EXPECT_EQ(diagnosed(std::string(kill)).verdict.cause, Cause::k8s_oomkilled);
}

const std::string kernel =
    "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/job,task_memcg=/job,"
    "task=python,pid=77,uid=0\nMemory cgroup out of memory: Killed process 77 (python) total-vm:9000kB, "
    "anon-rss:8000kB, file-rss:0kB, shmem-rss:0kB\n";

TEST(Article, IsNoBannerAndNoSitesMenu) {
  const Diagnosis d =
      diagnosed("Skip to content: best practices of this cluster\nStep 1: Look for your quota\n" + kernel);
  EXPECT_EQ(d.verdict.cause, Cause::cgroup_oom);
  EXPECT_EQ(d.verdict.confidence, Confidence::proved);
  const std::string frames = "Traceback (most recent call last):\n  File \"t.py\", line 1, in <module>\n    f()\n";
  EXPECT_EQ(diagnosed("Skip to content\nStep 1: train\nLook for the loss\n" + frames + oom(2, 80, 1, 78, 76, 1))
                .verdict.cause,
            Cause::vram_exhausted);
}

TEST(Article, MayShowTheReportOfTheRun) {
  const Diagnosis d =
      diagnosed("In this guide the status is taken apart, step by step.\nWhat OOMKilled means\n" + kernel);
  EXPECT_EQ(d.verdict.cause, Cause::cgroup_oom);
  EXPECT_EQ(d.verdict.confidence, Confidence::possible);
}

TEST(Article, IsNoLibrarysWarning) {
  const Diagnosis d = diagnosed(
      "The tokenizer has new tokens. This simply means that the embeddings are resized for you.\n"
      "Some weights were not initialized. You should probably TRAIN this model on a down-stream task; the head "
      "typically is new to your model.\n" +
      oom(2, 80, 1, 78, 76, 1));
  EXPECT_EQ(d.verdict.cause, Cause::vram_exhausted);
  EXPECT_EQ(d.verdict.confidence, Confidence::proved);
}

}  // namespace
}  // namespace oomplan::diagnose
