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

TEST(Aftermath, NobodyKnowsWhatEndedALogThatGoesOnAndStops) {
  const Diagnosis d = diagnosed(steps(1, 3) + error + steps(4, 700));
  EXPECT_EQ(d.verdict.cause, Cause::unknown);
  EXPECT_EQ(d.verdict.reason, "the run went on behind the error of line 4, and no line names a later failure");
}

// A stream that goes to a file is written by 8 KiB: what was printed before may stand behind.
TEST(Aftermath, WhatABufferHoldsMayHaveBeenPrintedBefore) {
  EXPECT_EQ(cause(steps(1, 3) + error + steps(4, 200)), Cause::not_oom);
  EXPECT_EQ(cause(error + steps(1, 700)), Cause::not_oom);
  EXPECT_EQ(cause(steps(1, 30) + error + steps(1, 700)), Cause::not_oom);  // started anew
}

TEST(Aftermath, TimesTellThatStepsCameLater) {
  std::string log;
  for (int i = 0; i < 59; ++i) {
    const std::string time = "2024-05-01 10:00:" + std::string(i < 10 ? "0" : "") + std::to_string(i) + " ";
    log += time + "step " + std::to_string(i) + " loss 2.1\n";
    if (i == 3) log += time + error;
  }
  EXPECT_EQ(cause(log), Cause::unknown);
}

TEST(Aftermath, TheLaterErrorIsTheCause) {
  const Diagnosis d = diagnosed(steps(1, 3) + error + steps(4, 700) + "ValueError: math domain error\n");
  EXPECT_EQ(d.verdict.cause, Cause::not_oom);
  ASSERT_TRUE(d.root);
  EXPECT_EQ(d.root->where.line, 702);
}

TEST(Aftermath, ARunThatSaysThatItFinishedDid) {
  EXPECT_EQ(cause(steps(1, 3) + error + steps(4, 700) + "training finished\n"), Cause::not_oom);
}

TEST(Aftermath, AMessageWasCaught) {
  const std::string full = "WARNING step 3: CUDA out of memory. Tried to allocate 2.00 GiB\n";
  EXPECT_EQ(cause(steps(1, 3) + full + steps(4, 30)), Cause::not_oom);  // and the run went on
  const std::string refused = "ERROR data: MemoryError: Unable to allocate 7.45 GiB for an array with shape (1000,)\n";
  EXPECT_EQ(cause(refused + steps(1, 60) + "run.sh: line 3: 812 Killed    python train.py\n"), Cause::sigkill_unknown);
  EXPECT_EQ(cause(refused + steps(1, 60) + "training finished\n"), Cause::not_oom);
}

TEST(Aftermath, AnExitCodeIsOfALaterEnd) {
  const std::string log = steps(1, 3) + error + steps(4, 700);
  EXPECT_EQ(cause(log + "srun: error: node1: task 0: Exited with exit code 1\n"), Cause::unknown);
  EXPECT_EQ(cause(log + "run.sh: line 3: 812 Killed    python train.py\n"), Cause::sigkill_unknown);
}

TEST(Aftermath, ARankThatTheLauncherNamesMayHaveFailedBesideTheOthersSteps) {
  EXPECT_EQ(cause(steps(1, 3) + error + steps(4, 700) +
                  "E failed (exitcode: 1) local_rank: 3 (pid: 4001) of binary: /usr/bin/python\n"),
            Cause::not_oom);
}

TEST(Aftermath, StepsOfOtherRanksAreNoneOfItsOwn) {
  EXPECT_EQ(cause(steps(1, 3, "[rank0]: ") + "[rank3]: " + error + steps(4, 700, "[rank0]: ")), Cause::not_oom);
}

TEST(Aftermath, AnOutOfMemoryIsNoCauseBesideALaterOne) {
  const std::string full = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n";
  const auto losses = [](int count) {
    std::string out;
    for (int i = 0; i < count; ++i) out += "{'loss': 2.4, 'grad_norm': 0.5, 'learning_rate': 1e-05, 'epoch': 0.1}\n";
    return out;
  };
  EXPECT_EQ(diagnosed(losses(9) + full + losses(50)).verdict.confidence, diagnosed(full).verdict.confidence);
  const Diagnosis silent = diagnosed(losses(9) + full + losses(200));
  EXPECT_EQ(silent.verdict.cause, Cause::vram_exhausted);
  EXPECT_EQ(silent.verdict.confidence, Confidence::possible);
  const std::string later =
      "Traceback (most recent call last):\n  File \"t.py\", line 9, in <module>\n    f()\nTypeError: unsupported "
      "operand\n";
  EXPECT_EQ(cause(losses(9) + full + losses(200) + later), Cause::not_oom);
  EXPECT_EQ(cause(losses(9) + "[rank0]: " + full + losses(200) + later), Cause::not_oom);
  EXPECT_EQ(cause(losses(9) + "[rank3]: " + full + losses(200) + later), Cause::vram_exhausted);
}

TEST(Aftermath, AFullDiskThatWasFreedIsNoCauseBesideALaterOne) {
  const std::string full = "OSError: [Errno 28] No space left on device: 'a.pt'\n";
  const Diagnosis silent = diagnosed(steps(1, 3) + full + steps(4, 700));
  EXPECT_EQ(silent.verdict.cause, Cause::disk_full);
  EXPECT_EQ(silent.verdict.confidence, Confidence::possible);
  EXPECT_EQ(cause(steps(1, 3) + full + steps(4, 700) + "run.sh: line 3: 812 Killed    python train.py\n"),
            Cause::sigkill_unknown);
}

TEST(Aftermath, OfAServerByTheRequestsThatItAnswers) {
  const std::string timeout = "[2024-05-01 09:00:01 +0000] [7] [CRITICAL] WORKER TIMEOUT (pid:123)\n";
  EXPECT_EQ(cause(timeout + requests(60)), Cause::unknown);
  EXPECT_EQ(cause(timeout + requests(5)), Cause::not_oom);
}

}  // namespace
}  // namespace oomplan::diagnose
