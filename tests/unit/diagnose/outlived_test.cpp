// An error that a run went on behind for long is not what ended it.
#include <gtest/gtest.h>

#include <string>

#include "support.hpp"

namespace oomplan::diagnose {
namespace {

Cause cause(const std::string& log) { return diagnosed(log).verdict.cause; }

const std::string error = "requests.exceptions.ConnectionError: Max retries exceeded\n";

std::string steps(int first, int last, const std::string& before = "") {
  std::string out;
  for (int step = first; step <= last; ++step) out += before + "step " + std::to_string(step) + " loss 2.1\n";
  return out;
}

std::string requests(int count) {
  std::string out;
  for (int i = 0; i < count; ++i)
    out += "INFO:     10.0.0.7:" + std::to_string(50000 + i) + " - \"POST /predict HTTP/1.1\" 200 OK\n";
  return out;
}

TEST(Outlived, NobodyKnowsWhatEndedALogThatGoesOnAndStops) {
  const Diagnosis d = diagnosed(steps(1, 3) + error + steps(4, 60));
  EXPECT_EQ(d.verdict.cause, Cause::unknown);
  EXPECT_EQ(d.verdict.reason, "the run went on behind the error of line 4, and no line names a later failure");
}

TEST(Outlived, FewStepsMayBeOfWhoeverHadNotHeard) {
  EXPECT_EQ(cause(steps(1, 3) + error + steps(4, 40)), Cause::not_oom);
}

TEST(Outlived, TheLaterErrorIsTheCause) {
  const Diagnosis d = diagnosed(error + steps(1, 60) + "ValueError: math domain error\n");
  EXPECT_EQ(d.verdict.cause, Cause::not_oom);
  ASSERT_TRUE(d.root);
  EXPECT_EQ(d.root->where.line, 62);
}

TEST(Outlived, ARunThatSaysThatItFinishedDid) {
  EXPECT_EQ(cause(error + steps(1, 60) + "training finished\n"), Cause::not_oom);
}

TEST(Outlived, AnExitCodeIsOfALaterEnd) {
  EXPECT_EQ(cause(error + steps(1, 60) + "srun: error: node1: task 0: Exited with exit code 1\n"), Cause::unknown);
  EXPECT_EQ(cause(error + steps(1, 60) + "run.sh: line 3: 812 Killed    python train.py\n"), Cause::sigkill_unknown);
}

TEST(Outlived, ARankThatTheLauncherNamesMayHaveFailedBesideTheOthersSteps) {
  EXPECT_EQ(
      cause(error + steps(1, 60) + "E failed (exitcode: 1) local_rank: 3 (pid: 4001) of binary: /usr/bin/python\n"),
      Cause::not_oom);
}

TEST(Outlived, AnOutOfMemoryIsNoCauseEither) {
  const std::string full = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n";
  const auto losses = [](int count) {
    std::string out;
    for (int i = 0; i < count; ++i) out += "{'loss': 2.4, 'grad_norm': 0.5, 'learning_rate': 1e-05, 'epoch': 0.1}\n";
    return out;
  };
  EXPECT_EQ(cause(full), Cause::vram_exhausted);
  EXPECT_EQ(cause(full + losses(60)), Cause::unknown);
  const Diagnosis d = diagnosed(full + losses(60) +
                                "Traceback (most recent call last):\n  File \"t.py\", line 9, in <module>\n    f()\n"
                                "TypeError: unsupported operand\n");
  EXPECT_EQ(d.verdict.cause, Cause::not_oom);
  EXPECT_EQ(cause("[rank0]: " + full + losses(60)), Cause::unknown);
  EXPECT_EQ(cause("[rank3]: " + full + losses(60)), Cause::vram_exhausted);
}

TEST(Outlived, AFullDiskThatWasFreedIsNoCause) {
  EXPECT_EQ(cause("OSError: [Errno 28] No space left on device: 'a.pt'\n" + steps(1, 60)), Cause::unknown);
}

TEST(Outlived, StepsOfOtherRanksAreNoneOfItsOwn) {
  EXPECT_EQ(cause("[rank3]: " + error + steps(1, 60, "[rank0]: ")), Cause::not_oom);
}

TEST(Outlived, OfAServerByTheRequestsThatItAnswers) {
  const std::string timeout = "[2024-05-01 09:00:01 +0000] [7] [CRITICAL] WORKER TIMEOUT (pid:123)\n";
  EXPECT_EQ(cause(timeout + requests(60)), Cause::unknown);
  EXPECT_EQ(cause(timeout + requests(5)), Cause::not_oom);
}

}  // namespace
}  // namespace oomplan::diagnose
