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

}  // namespace
}  // namespace oomplan::diagnose
