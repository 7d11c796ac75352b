// Batch sizes that a program tries by itself are told, with how that ended; none of them is a step.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "support.hpp"

namespace oomplan::diagnose {
namespace {

std::string told(const Diagnosis& d) {
  for (const Finding& f : d.also)
    if (f.id.starts_with("batch_trials_")) return f.id.substr(13) + ": " + f.text.substr(f.text.find(": ") + 2);
  return {};
}

TEST(BatchTrials, ThatWentOn) {
  const Diagnosis d = diagnosed("OOM with batch size 16, retrying with batch 8\nloss 2.1\n");
  EXPECT_EQ(told(d), "went_on: 16, 8; it went on with 8: start from that");
  EXPECT_FALSE(d.moment.step.has_value());
  ASSERT_FALSE(d.to_do.empty());
  EXPECT_EQ(d.to_do.front().id, "micro-batch");
  EXPECT_EQ(told(diagnosed("Trying batch size: 128\nTrying batch size: 64\nepoch 0: 0.4\n")),
            "went_on: 128, 64; it went on with 64: start from that");
  EXPECT_EQ(told(diagnosed("Batch size 2 succeeded, trying batch size 4\nBatch size 4 failed, trying batch size 2\n"
                           "Finished batch size finder, will continue with full run using batch size 2\n")),
            "went_on: 2, 4, 2; it went on with 2: start from that");
  EXPECT_EQ(told(diagnosed("Instantaneous batch size per device = 32\nInstantaneous batch size per device = 16\n")),
            "went_on: 32, 16; it went on with 16: start from that");
}

TEST(BatchTrials, ThatFailed) {
  const std::string trials = "Decreasing batch size to: 64.\nDecreasing batch size to: 57.\n";
  const Diagnosis d = diagnosed(trials + "Traceback (most recent call last):\n" + oom(2, 80, 1, 78, 76, 1));
  EXPECT_EQ(told(d), "failed: 64, 57; 57 failed in the end too: start below it");
  EXPECT_EQ(d.to_do.front().id, "micro-batch");
  EXPECT_EQ(told(diagnosed(trials + "RuntimeError: No executable batch size found, reached zero.\n")),
            "exhausted: 64, 57; none was left");
}

TEST(BatchTrials, AreMoreThanOne) {
  EXPECT_EQ(told(diagnosed("Trying batch size: 64\nepoch 0: 0.4\n")), "");
  EXPECT_EQ(
      told(diagnosed("[rank0]: Trying batch size: 64\n[rank1]: Trying batch size: 32\n" + oom(2, 80, 1, 78, 76, 1))),
      "");
}

}  // namespace
}  // namespace oomplan::diagnose
