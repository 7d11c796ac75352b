// The words by which texts, runs and programs are told apart are data, each list of which decides something.
#include "wording.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rules.hpp"
#include "support.hpp"

namespace oomplan::diagnose {
namespace {

const std::string killed = "Last State: Terminated\nReason: OOMKilled\nExit Code: 137\n";
const std::string kernel =
    "kernel: Memory cgroup out of memory: Killed process 77 (python) total-vm:9000kB, anon-rss:8000kB, file-rss:0kB, "
    "shmem-rss:0kB\n";
const std::string mismatch =
    "Traceback (most recent call last):\n  File \"t.py\", line 1, in <module>\n    f()\nRuntimeError: size mismatch\n";

std::string kill_of(const std::string& comm) {
  return "kernel: Out of memory: Killed process 900 (" + comm +
         ") total-vm:9000000kB, anon-rss:3000000kB, file-rss:0kB, shmem-rss:0kB\n";
}

/// The rules with other phrases in the place of a list's.
Rulebook with(std::string_view list, const std::string& phrases) {
  const std::string path = "wording/" + std::string(list) + ".yaml";
  return *Rulebook::load({{path, "meaning: \"of this test\"\n" + phrases, path}});
}

constexpr std::string_view none = "parts: [\"frobs the quux\"]\n";

Diagnosis without(std::string_view list, const std::string& log) {
  return diagnose_text(with(list, std::string(none)), log, "log");
}

bool finds(const Diagnosis& d, std::string_view id) {
  return std::ranges::any_of(d.also, [&](const Finding& f) { return f.id == id; });
}

TEST(Wording, EachListIsNamedAfterItsFile) {
  for (std::size_t i = 0; i < wordings; ++i) {
    const auto list = static_cast<Wording>(i);
    EXPECT_EQ(wording_named(name_of(list)), list) << name_of(list);
    const Phrases& phrases = list_of(book().rules().wordings, list);
    EXPECT_FALSE(phrases.parts.empty() && phrases.words.empty() && phrases.wholes.empty()) << name_of(list);
  }
  EXPECT_EQ(wording_named("frobs"), std::nullopt);
}

TEST(Wording, RefusesAListWithoutItsMeaning) {
  EXPECT_FALSE(Rulebook::load({{"wording/defines.yaml", "parts: [\"x\"]\n", "own"}}));
  EXPECT_FALSE(Rulebook::load({{"wording/own.yaml", "meaning: x\nparts: [\"x\"]\n", "own"}}));
}

TEST(Wording, SmallLettersStandForCapitals) {
  const Phrases phrases{.parts = {"this guide", "Look for", " our job"}, .words = {"sgd"}, .wholes = {"why * works"}};
  EXPECT_TRUE(phrases.are_in("In This Guide"));
  EXPECT_TRUE(phrases.are_in("Look for it"));
  EXPECT_FALSE(phrases.are_in("I look for it"));
  EXPECT_TRUE(phrases.are_in("Our job"));
  EXPECT_FALSE(phrases.are_in("an hour jobless"));
  EXPECT_TRUE(phrases.are_in("optim.SGD(lr)"));
  EXPECT_FALSE(phrases.are_in("sgdr"));
  EXPECT_TRUE(phrases.have("Why this works"));
  EXPECT_FALSE(phrases.have("why works"));
  EXPECT_FALSE(phrases.have("this guide"));
}

// What makes an article of a text: with three signs, one of each list.
TEST(Wording, OfArticlesIsData) {
  const std::string of_itself = "In this guide the status is told.\n";
  const std::string to_all = "Step 1: look at it.\n";
  const std::string defined = "The status signifies that a limit was met.\n";
  const std::string titled = "What OOMKilled means\n";
  const std::string when = "It occurs when a limit is met.\n";
  const auto decides = [](std::string_view list, const std::string& page) {
    EXPECT_EQ(diagnosed(page).verdict.cause, Cause::unknown) << list;
    EXPECT_EQ(without(list, page).verdict.cause, Cause::k8s_oomkilled) << list;
  };
  decides("speaks_of_itself", of_itself + when + killed);
  decides("speaks_to_all", to_all + defined + when + killed);
  decides("defines", to_all + defined + when + killed);
  decides("titles_that_explain", titled + to_all + when + killed);
  decides("explains", of_itself + when + killed);
}

TEST(Wording, OfOnesOwnRunIsData) {
  const std::string page = "In this guide the status is told.\nIt occurs when a limit is met.\n";
  for (const auto& [list, line] : {std::pair{"tells_of_own_run", "Today we run out of it.\n"},
                                   std::pair{"heads_a_report", "### Steps to reproduce\n"}}) {
    EXPECT_EQ(diagnosed(page + line + killed).verdict.cause, Cause::k8s_oomkilled) << list;
    EXPECT_EQ(without(list, page + line + killed).verdict.cause, Cause::unknown) << list;
  }
}

// A line that reports a kill, unless the list says that it is of any run, or an example.
TEST(Wording, OfExamplesIsData) {
  const std::string several = "The pod web-1\nof the space prod\nand its node\nand its zone\nReason: OOMKilled\n";
  const std::vector<std::pair<std::string_view, std::string>> texts{
      {"says_what_may_come", "If you see OOMKilled here, wait.\n"},
      {"supposes", "The following will be printed:\n\n" + several},
      {"shows_messages", "The following will be printed:\n\n" + several},
      {"leads_to_an_example", "It looks like that:\n\nReason: OOMKilled\n"},
      {"fails_with", "When a pod fails for its platform (OOMKilled), tell its owner.\n"},
      {"of_any_run", "When a pod fails for its platform (OOMKilled), tell its owner.\n"},
      {"in_that_case", "For OOMKilled: use more memory than that.\n"},
      {"titles_of_help", "Resolving OOMKilled\n"},
      {"names_how_it_looks", "It then appears as OOMKilled\n"},
      {"is_said_to_be", "The OOMKilled is displayed as the status\n"}};
  for (const auto& [list, text] : texts) {
    EXPECT_EQ(diagnosed(text).verdict.cause, Cause::unknown) << list;
    EXPECT_EQ(without(list, text).verdict.cause, Cause::k8s_oomkilled) << list;
  }
}

TEST(Wording, OfKindsOfFailuresIsData) {
  EXPECT_EQ(diagnosed("OOMKilled pods\n").verdict.confidence, Confidence::possible);
  EXPECT_EQ(without("kinds_of_failures", "OOMKilled pods\n").verdict.confidence, Confidence::likely);
}

TEST(Wording, OfChangesIsData) {
  const std::string told = "This PR prints the reason:\n" + kernel;
  EXPECT_EQ(diagnosed(told).verdict.confidence, Confidence::possible);
  EXPECT_EQ(without("tells_of_changes", told).verdict.confidence, Confidence::proved);
}

TEST(Wording, OfHelpIsData) {
  const std::string page = "## Known problems\n\nThe server says:\n" + killed + "\nIncrease the limit.\n";
  EXPECT_EQ(diagnosed(page).verdict.cause, Cause::unknown);
  EXPECT_EQ(without("headings_of_help", page).verdict.cause, Cause::k8s_oomkilled);
}

TEST(Wording, OfTablesThatExplainIsData) {
  const std::string table = "| Reason | Meaning |\n|---|---|\n| OOMKilled | the limit was met |\n| Error | any |\n";
  EXPECT_EQ(diagnosed(table).verdict.cause, Cause::unknown);
  EXPECT_EQ(without("columns_of_failures", table).verdict.cause, Cause::k8s_oomkilled);
  EXPECT_EQ(without("columns_that_explain", table).verdict.cause, Cause::k8s_oomkilled);
}

TEST(Wording, OfPostsIsData) {
  const std::string thread = "RuntimeError: size mismatch\n\nbob commented on Jan 5, 2025\n\n" + kernel;
  EXPECT_EQ(diagnosed(thread).verdict.cause, Cause::not_oom);
  EXPECT_EQ(without("begins_a_post", thread).verdict.cause, Cause::cgroup_oom);
}

TEST(Wording, OfProgramsIsData) {
  EXPECT_EQ(diagnosed(kill_of("firefox") + mismatch).verdict.cause, Cause::not_oom);
  EXPECT_EQ(without("trains_nothing", kill_of("firefox") + mismatch).verdict.cause, Cause::global_host_oom);
  const Rulebook own = with("trains_nothing", "wholes: [\"frobd\"]\n");
  EXPECT_EQ(diagnose_text(own, kill_of("frobd") + mismatch, "log").verdict.cause, Cause::not_oom);
}

TEST(Wording, OfErrorsOfPeersIsData) {
  const std::string lost =
      "Traceback (most recent call last):\n  File \"t.py\", line 1, in <module>\n    f()\n"
      "RuntimeError: a worker is gone\n";
  EXPECT_EQ(diagnosed(kill_of("firefox") + lost).verdict.cause, Cause::global_host_oom);
  EXPECT_EQ(without("talks_to_others", kill_of("firefox") + lost).verdict.cause, Cause::not_oom);
}

TEST(Wording, OfDaemonsIsData) {
  const std::string log =
      "earlyoom[612]: sending SIGTERM to process 900 uid 1000 \"firefox\": badness 800, VmRSS 9000 MiB\n" + mismatch;
  EXPECT_EQ(diagnosed(log).verdict.cause, Cause::not_oom);
  EXPECT_EQ(without("watches_a_host", log).verdict.cause, Cause::userspace_oom_daemon);
}

TEST(Wording, OfTheOptimizerIsData) {
  const std::string log =
      "  50%|#####     | 1/2 [00:10<00:10, 10.00s/it]\n"
      "Traceback (most recent call last):\n  File \"t.py\", line 9, in <module>\n    loss = model(batch)\n"
      "  File \"model.py\", line 3, in forward\n    return self.linear(x)\n" +
      oom(2, 80, 1, 78, 76, 1);
  EXPECT_TRUE(finds(diagnosed(log), "second_step"));
  EXPECT_FALSE(finds(diagnosed("optimizer: SGD\n" + log), "second_step"));
  EXPECT_TRUE(finds(without("has_no_optimizer_state", "optimizer: SGD\n" + log), "second_step"));
}

}  // namespace
}  // namespace oomplan::diagnose
