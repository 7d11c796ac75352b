// What people write about failures is told from what programs report.
#include "prose.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "support.hpp"

namespace oomplan::diagnose {
namespace {

// The words stand between two bars: "the pod was |OOMKilled| because …".
bool in_prose(std::string text, std::string_view before = {}, std::string_view after = {}) {
  std::vector<Line> lines;
  if (!before.empty()) add_lines(before, 0, 1, lines);
  const std::size_t begin = text.find('|');
  text.erase(begin, 1);
  const std::size_t end = text.find('|');
  text.erase(end, 1);
  const std::size_t index = lines.size();
  lines.push_back({.body = text, .number = 2});
  if (!after.empty()) add_lines(after, 0, 3, lines);
  return stands_in_prose(lines, index, begin, end);
}

TEST(Prose, IsWhatASentenceLeadsInto) {
  for (const char* text :
       {"Load hangs and the query node goes down because of |OOMKilled|", "[eval] answer: the pod was |OOMKilled|.",
        "If errors of type ``|java.lang.OutOfMemoryError: Java heap space|`` are thrown, the default may be raised",
        "I always get torch.cuda.OutOfMemoryError: |CUDA out of memory. Tried to allocate 2.00 GiB| on my card",
        "we see the error: |CUDA out of memory. Tried to allocate 2.00 GiB|",
        "|CUDA out of memory. Tried to allocate 2.00 GiB|. How do I fix this?",
        "User: |CUDA out of memory. Tried to allocate 2.00 GiB|", "- Why is my pod |OOMKilled|?",
        "* |CUDA error: out of memory| when loading the model: use a smaller batch", "- feat: retry on |OOMKilled|",
        "If the kernel logs \"|Out of memory: Killed process 77 (python)|\", the host ran out",
        "\"How can I solve 'RuntimeError: |CUDA error: out of memory|' in PyTorch?\"",
        "Q: what does \"|CUDA out of memory|\" mean when it comes from a loader"})
    EXPECT_TRUE(in_prose(text)) << text;
}

TEST(Prose, IsNotWhatAProgramReports) {
  for (const char* text :
       {"|CUDA out of memory. Tried to allocate 2.00 GiB|", "RuntimeError: |CUDA out of memory|. Try a smaller batch?",
        "torch.cuda.OutOfMemoryError: |CUDA out of memory|", "Error: the container main was |OOMKilled| in the node",
        "OSError: [WinError 1455] The |paging file is too small| for this operation to complete",
        "llama runner process has terminated: |CUDA error: out of memory|",
        "Last State: Terminated Reason: |OOMKilled|", "- reason: |OOMKilled|", "- |CUDA error: out of memory|",
        "train.py: error: the job of the user failed with the message: |CUDA out of memory|"})
    EXPECT_FALSE(in_prose(text)) << text;
}

TEST(Prose, IsToldByTheLinesBeside) {
  EXPECT_FALSE(in_prose("pod was |OOMKilled|"));
  EXPECT_TRUE(in_prose("pod was |OOMKilled|", "", "This is what you see when the limit of it is too low for the job."));
  EXPECT_TRUE(in_prose("|CUDA error: out of memory|", "User: my training stops"));
  EXPECT_FALSE(in_prose("|CUDA error: out of memory|", "2025-01-01 10:00:00 User: alice logged in"));
}

TEST(Prose, IsARowOfATable) {
  const auto confidence = [](const std::string& text) { return diagnosed(text).verdict.confidence; };
  EXPECT_EQ(confidence("| CUDA error: out of memory | the batch is too large |\n"), Confidence::possible);
  EXPECT_EQ(confidence("RuntimeError: CUDA error: out of memory |\n"), Confidence::likely);
}

TEST(Prose, OfAPersonMayHaveATime) {
  const auto confidence = [](const std::string& text) { return diagnosed(text).verdict.confidence; };
  EXPECT_EQ(confidence("2025-01-01 10:02:03 bob: my run always ends with CUDA error: out of memory\n"),
            Confidence::possible);
  EXPECT_EQ(confidence("2025-01-01 10:02:03 the run of the job ends with CUDA error: out of memory\n"),
            Confidence::likely);
}

TEST(Prose, OfADataSetIsInItsMembers) {
  const auto verdict = [](const std::string& text) { return diagnosed(text).verdict; };
  const Judgement asked = verdict(
      R"({"messages": [{"role": "user", "content": "My log:\nRuntimeError: CUDA error: out of memory\nWhat now?"}]})");
  EXPECT_EQ(asked.confidence, Confidence::possible);
  EXPECT_EQ(verdict(R"({"content": "RuntimeError: CUDA error: out of memory", "__time__": 1})").confidence,
            Confidence::likely)
      << "a shipper has that key too";
  EXPECT_EQ(
      verdict(R"({"level": "error", "role": "w", "output": "RuntimeError: CUDA error: out of memory"})").confidence,
      Confidence::likely);
  EXPECT_EQ(verdict(R"({"log": "RuntimeError: CUDA error: out of memory\n"})").confidence, Confidence::likely);
}

TEST(Prose, WeighsLessThanAnyReport) {
  const Diagnosis told =
      diagnosed("The pod was OOMKilled yesterday because its limit was too low.\nValueError: the dataset is empty\n");
  EXPECT_EQ(told.verdict.cause, Cause::not_oom);
  const Diagnosis alone = diagnosed("The pod was OOMKilled yesterday because its limit was too low.\n");
  EXPECT_EQ(alone.verdict.cause, Cause::k8s_oomkilled);
  EXPECT_EQ(alone.verdict.confidence, Confidence::possible);
  EXPECT_FALSE(alone.verdict.against.empty());
}

TEST(Prose, NamesKindsOfFailures) {
  const auto kind = [](std::string_view text) { return names_a_kind(text, std::string_view("out of memory").size()); };
  for (const char* text : {"out of memory errors are common", "out of memory (OOM) errors", "out of memory killer",
                           "out of memory error messages", "out of memory\" conditions"})
    EXPECT_TRUE(kind(text)) << text;
  for (const char* text :
       {"out of memory", "out of memory error", "out of memory: killed", "out of memory eventsource"})
    EXPECT_FALSE(kind(text)) << text;
  EXPECT_EQ(diagnosed("The guide: fatal out of memory errors and their reasons\n").verdict.cause, Cause::unknown);
}

}  // namespace
}  // namespace oomplan::diagnose
