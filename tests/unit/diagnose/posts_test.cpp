// What one of several people wrote is another run than what the next did.
#include "posts.hpp"

#include <gtest/gtest.h>

#include <string>

#include "support.hpp"

namespace oomplan::diagnose {
namespace {

const std::string failed =
    "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 24.00 GiB total capacity; 21.58 GiB already "
    "allocated; 1.45 GiB free; 22.00 GiB reserved in total by PyTorch)\n";

std::string steps() {
  std::string out;
  for (int i = 90; i <= 100; ++i)
    out += std::to_string(i) + "%|####| " + std::to_string(i) + "/100 [00:10<00:00, 1.01it/s]\n";
  return out;
}

TEST(Posts, ALaterWritersRunIsAnother) {
  EXPECT_EQ(diagnosed("RuntimeError: size mismatch\n\nbob commented on Jan 5, 2025\n\n" + failed).verdict.cause,
            Cause::not_oom);
  EXPECT_EQ(
      diagnosed(failed + "\nalice \xC2\xB7 comment \xC2\xB7 2024-03-01\n\nRuntimeError: size mismatch\n").verdict.cause,
      Cause::vram_exhausted);
  EXPECT_EQ(diagnosed("RuntimeError: size mismatch\n\n" + failed).verdict.cause, Cause::vram_exhausted);
}

TEST(Posts, ATitleIsTheFirstPosts) {
  const std::string thread =
      "# Out of memory\n\nbob \xC2\xB7 description \xC2\xB7 2024-03-01\nIt ends so:\n\n" + failed;
  EXPECT_EQ(diagnosed(thread).verdict.cause, Cause::vram_exhausted);
}

TEST(Posts, WhoTellsThatItRunsNowDidNotSurviveThen) {
  EXPECT_EQ(diagnosed(failed + "\nI lowered the batch, and now it works:\n\n" + steps()).verdict.cause,
            Cause::vram_exhausted);
  EXPECT_EQ(diagnosed(failed + "\nEve wrote:\n" + steps()).verdict.cause, Cause::vram_exhausted);
  EXPECT_EQ(diagnosed(failed + steps()).verdict.cause, Cause::not_oom);
}

TEST(Posts, AKillThatIsToldLaterExplainsWhoVanished) {
  EXPECT_EQ(diagnosed("train.sh: line 3:  77 Killed  python train.py\n\nalice commented on Jan 5, 2025\n\n"
                      "kernel: Memory cgroup out of memory: Killed process 77 (python) total-vm:1kB, anon-rss:1kB\n")
                .verdict.cause,
            Cause::cgroup_oom);
}

// A log's line ends in "said:" or "wrote:" too, and what follows is of the same run.
TEST(Posts, ALineOfALogBeginsNone) {
  const std::string missing =
      "Traceback (most recent call last):\n  File \"t.py\", line 1, in <module>\n    import flash_attn\n"
      "ModuleNotFoundError: No module named 'flash_attn'\n";
  const std::string killed =
      "slurmstepd: error: Detected 1 oom_kill event in StepId=77.batch. Some of the step tasks have been OOM Killed.\n";
  for (const std::string line :
       {"WARNING: config said:\n", "WARNING saver wrote:\n", "2026-03-01 10:00:00 INFO saver: rank 0 wrote:\n",
        "[rank0]: the saver wrote:\n", "rank 0 wrote:\n"}) {
    const Diagnosis d = diagnosed(missing + line + killed);
    EXPECT_EQ(d.verdict.cause, Cause::slurm_oom) << line;
    EXPECT_EQ(d.verdict.confidence, Confidence::proved) << line;
    const Diagnosis later =
        diagnosed("ImportError: No module named 'apex'\n" + steps() + line + steps() + oom(2, 80, 1, 78, 76, 1));
    EXPECT_EQ(later.verdict.cause, Cause::vram_exhausted) << line;
    EXPECT_EQ(later.verdict.confidence, Confidence::proved) << line;
  }
  EXPECT_EQ(diagnosed("RuntimeError: size mismatch\n\nEve J. Miller wrote:\n\n" + failed).verdict.cause,
            Cause::not_oom);
}

}  // namespace
}  // namespace oomplan::diagnose
