// The decision rules, each at its boundary, on messages made from numbers.
#include <gtest/gtest.h>

#include <algorithm>

#include "support.hpp"

namespace oomplan::diagnose {
namespace {

Cause cause_of(const std::string& text) { return diagnosed(text).verdict.cause; }

bool has(const Diagnosis& d, const std::string& id) {
  return std::any_of(d.also.begin(), d.also.end(), [&](const Finding& f) { return f.id == id; });
}

TEST(VramCauses, GoByTheNumbers) {
  EXPECT_EQ(cause_of(oom(2, 80, 1, 78, 76, 1)), Cause::vram_exhausted);
  EXPECT_EQ(cause_of(oom(4, 80, 1, 78, 60, 16)), Cause::vram_fragmentation);
  EXPECT_EQ(cause_of(oom(20, 80, 1, 78, 60, 16)), Cause::vram_exhausted) << "less unallocated than asked";
  EXPECT_EQ(cause_of(oom(1, 80, 1, 78, 75, 2)), Cause::vram_exhausted) << "unallocated is 2.5 % of the card";
  EXPECT_EQ(cause_of(oom(1, 80, 1, 20, 18, 1)), Cause::vram_other_process);
  EXPECT_EQ(cause_of(oom(1, 80, 1, 70, 68, 1)), Cause::vram_exhausted) << "others hold 11 % only";
  EXPECT_EQ(cause_of(oom(90, 80, 1, 20, 18, 1)), Cause::vram_exhausted);
}

TEST(VramCauses, SayWhatElseTheNumbersShow) {
  EXPECT_TRUE(has(diagnosed(oom(90, 80, 1, 20, 18, 1)), "request_exceeds_total"));
  EXPECT_TRUE(has(diagnosed(oom(1, 80, 9, 70, 68, 1)), "free_exceeds_request"));
  EXPECT_TRUE(has(diagnosed(oom(2, 80, 1, 78, 70, 1)), "non_pytorch_memory_in_process"));
  EXPECT_FALSE(has(diagnosed(oom(2, 80, 1, 78, 76, 1)), "non_pytorch_memory_in_process"));
}

TEST(VramCauses, KnowThemselvesInAnotherNamespace) {
  const std::string message =
      "CUDA out of memory. Tried to allocate 1.00 GiB. GPU 0 has a total capacity of 40.00 GiB of which 0.50 GiB is "
      "free. "
      "Process 77 has {} memory in use. Of the allocated memory 38.00 GiB is allocated by PyTorch, and 0.50 GiB is "
      "reserved by "
      "PyTorch but unallocated.\n";
  std::string self = message;
  self.replace(self.find("{}"), 2, "39.20 GiB");
  EXPECT_TRUE(has(diagnosed(self), "listed_process_is_self"));
  EXPECT_EQ(cause_of(self), Cause::vram_exhausted);
}

TEST(Sigkill, SaysHowFullTheHostWasBeforeIt) {
  const auto log = [](const std::string& before, const std::string& after) {
    const std::string usage =
        "[INFO] [utils.py:789:see_memory_usage] CPU Virtual Memory:  used = 300.13 GB, percent = ";
    const Diagnosis d = diagnosed(usage + before + "%\nexits with return code = -9\n" + usage + after + "%\n");
    EXPECT_EQ(d.verdict.cause, Cause::sigkill_unknown);
    return std::ranges::any_of(d.verdict.arithmetic,
                               [](const std::string& why) { return why.find("98.3 %") != why.npos; });
  };
  EXPECT_TRUE(log("98.3", "12.0"));
  EXPECT_FALSE(log("38.3", "98.3"));
}

TEST(Advice, DoesNotNameWhatWasTriedAlready) {
  const auto advises = [](const std::vector<Fix>& fixes) {
    return std::any_of(fixes.begin(), fixes.end(), [](const Fix& f) { return f.id == "expandable-segments"; });
  };
  const std::string hint =
      "If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to "
      "avoid "
      "fragmentation.\n";
  const std::string message = oom(4, 80, 1, 78, 60, 16);
  EXPECT_TRUE(advises(diagnosed(message + hint).to_do));
  const Diagnosis tried = diagnosed("export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n" + message + hint);
  EXPECT_FALSE(advises(tried.to_do));
  EXPECT_TRUE(advises(tried.not_to_do));
}

TEST(KernelCauses, TellTheCgroupFromTheHost) {
  const std::string tail = ": Killed process 9 (python) total-vm:9kB, anon-rss:900000kB, file-rss:0kB, shmem-rss:0kB\n";
  EXPECT_EQ(cause_of("[ 1.5] Out of memory" + tail), Cause::global_host_oom);
  EXPECT_EQ(cause_of("[ 1.5] Memory cgroup out of memory" + tail), Cause::cgroup_oom);
}

TEST(Sigkill, IsNotClaimedToBeAnything) {
  for (const char* text :
       {"python train.py\nKilled\n", "ERROR: failed (exitcode: -9) local_rank: 2 (pid: 7) of binary: python\n",
        "      Reason:       Error\n      Exit Code:    137\n"}) {
    const Diagnosis d = diagnosed(text);
    EXPECT_EQ(d.verdict.cause, Cause::sigkill_unknown) << text;
    EXPECT_FALSE(d.out_of_memory);
    EXPECT_FALSE(d.to_prove.empty());
  }
}

TEST(Sigkill, IsExplainedByWhoSaysThatItEndedThatProcess) {
  const std::string timeout = "[CRITICAL] WORKER TIMEOUT (pid:17)\n";
  const std::string sent = "[ERROR] Worker (pid:17) was sent SIGKILL! Perhaps out of memory?\n";
  EXPECT_EQ(diagnosed(timeout + sent).verdict.cause, Cause::not_oom);
  EXPECT_EQ(diagnosed(timeout + "[WARNING] Worker with pid 17 was terminated due to signal 9\n").verdict.cause,
            Cause::not_oom);
  EXPECT_EQ(diagnosed(sent).verdict.cause, Cause::sigkill_unknown);
  // Its timeouts do not explain another worker's end, nor a later one's of the same number, nor that of the service.
  EXPECT_EQ(diagnosed("[CRITICAL] WORKER TIMEOUT (pid:16)\n" + sent).verdict.cause, Cause::sigkill_unknown);
  const std::string begins = "[INFO] Booting worker with pid: 17\n";
  EXPECT_EQ(diagnosed(begins + timeout + sent).verdict.cause, Cause::not_oom);
  EXPECT_EQ(diagnosed(timeout + begins + sent).verdict.cause, Cause::sigkill_unknown);
  EXPECT_EQ(diagnosed(timeout + "web-1 exited with code 137\n").verdict.cause, Cause::sigkill_unknown);
  EXPECT_NE(diagnosed(timeout).verdict.confidence, Confidence::proved);
}

/// PyTorch 2's sentence of a process that NVML does not see, of so many GiB.
std::string unseen(const char* asked, const char* total, const char* others, const char* allocated) {
  return std::string("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate ") + asked +
         " GiB. GPU 0 has a total capacity of " + total + " GiB of which 1.29 GiB is free. " + others +
         "Including non-PyTorch memory, this process has 0 bytes memory in use. Of the allocated memory " + allocated +
         " GiB is allocated by PyTorch, and 1.32 GiB is reserved by PyTorch but unallocated.\n";
}

TEST(VramCauses, CountTheAllocatorWhereTheProcessIsNotSeen) {
  EXPECT_EQ(diagnosed(unseen("1.88", "21.96", "", "19.02")).verdict.cause, Cause::vram_exhausted);
}

TEST(VramCauses, AreNotProvedByASumThatExceedsTheCard) {
  const Diagnosis d = diagnosed(unseen("2.00", "79.15", "Process 11 has 77.80 GiB memory in use. ", "76.00"));
  EXPECT_EQ(d.verdict.cause, Cause::vram_exhausted);
  for (const std::string& sum : d.verdict.arithmetic) EXPECT_EQ(sum.find("155"), std::string::npos) << sum;
}

TEST(KernelCauses, LeaveOpenWhatSomebodyAskedFor) {
  const std::string asked = "[ 1.5] sysrq: Manual OOM execution\n";
  const Diagnosis d = diagnosed(asked +
                                "[ 1.6] Out of memory: Killed process 9 (python) total-vm:9kB, anon-rss:900000kB, "
                                "file-rss:0kB, shmem-rss:0kB\n");
  EXPECT_EQ(d.verdict.cause, Cause::global_host_oom);
  EXPECT_EQ(d.verdict.confidence, Confidence::possible);
  EXPECT_FALSE(diagnosed(asked).out_of_memory);
}

TEST(NotOom, IsNotDecidedByAWarningThatTheRunOutlived) {
  std::string log = "WARNING: inotify watch limit reached, falling back to polling\n";
  for (int i = 0; i < 40; ++i) log += "step " + std::to_string(i) + " loss 1.5\n";
  EXPECT_NE(diagnosed(log).verdict.confidence, Confidence::proved);
}

TEST(VramCauses, KnowOthersWithoutTheRequest) {
  const std::string numbers = " already allocated; 3.62 MiB free; 86.00 MiB reserved in total by PyTorch)\n";
  const Diagnosis small = diagnosed("(GPU 0; 15.75 GiB total capacity; 79.11 MiB" + numbers);
  EXPECT_EQ(small.verdict.cause, Cause::vram_other_process);
  EXPECT_EQ(small.verdict.confidence, Confidence::possible);
  EXPECT_EQ(
      diagnosed("(GPU 0; 15.75 GiB total capacity; 15.11 GiB already allocated; 3.62 MiB free; 15.60 GiB reserved "
                "in total by PyTorch)\n")
          .verdict.cause,
      Cause::vram_exhausted);
}

TEST(KernelCauses, SayWhoseWordItIs) {
  const auto why = [](const char* text) { return diagnosed(text).verdict.reason; };
  EXPECT_NE(why("Kernel panic - not syncing: System is deadlocked on memory\n").find("stopped the whole machine"),
            std::string::npos);
  EXPECT_EQ(why("fetch 2966: Killed: Insufficient physical memory\n").find("kubelet"), std::string::npos);
}

TEST(Sigkill, IsExplainedByTheKernelsLine) {
  const Diagnosis d = diagnosed(
      "ERROR: failed (exitcode: -9) local_rank: 2 (pid: 9) of binary: python\n"
      "Out of memory: Killed process 9 (python) total-vm:9kB, anon-rss:900000kB, file-rss:0kB, shmem-rss:0kB\n");
  EXPECT_EQ(d.verdict.cause, Cause::global_host_oom);
  ASSERT_EQ(d.consequences.size(), 1U);
}

TEST(NotOom, IsNotTakenForOne) {
  for (const char* text :
       {"RuntimeError: CUDA error: an illegal memory access was encountered\n", "KeyboardInterrupt\n",
        "W bfc_allocator.cc:242] Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.20GiB with "
        "freed_by_count=0. The "
        "caller indicates that this is not a failure, but may mean more.\n",
        "step 1\nargs: skip_oom=True  # avoids CUDA out of memory\ntraining finished\n",
        "RuntimeError: DataLoader worker (pid 8) is killed by signal: Segmentation fault. \n"})
    EXPECT_EQ(cause_of(text), Cause::not_oom) << text;
}

TEST(Caught, IsNotTheFailureWhereTheRunGoesOn) {
  const std::string message = oom(2, 80, 1, 78, 76, 1);
  const std::string caught = "| WARNING: ran out of memory, skipping batch\n";
  EXPECT_EQ(cause_of(message + caught + "step 12 loss 2.0\n"), Cause::not_oom);
  EXPECT_EQ(cause_of(message + caught), Cause::vram_exhausted);
  EXPECT_EQ(cause_of(message + caught + "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n"),
            Cause::vram_exhausted);
}

TEST(Caught, IsNotWhatAnotherRankDiedOf) {
  const std::string warning =
      "| WARNING | OOM: Ran out of memory with exception: CUDA out of memory. Tried to allocate ";
  const std::string caught =
      warning + "1.00 GiB\n| WARNING | attempting to recover from OOM in forward/backward pass\n";
  const Diagnosis d = diagnosed(caught + caught + "[rank3]: " + oom(2, 80, 1, 78, 76, 1) + caught + caught);
  EXPECT_EQ(d.rank, 3);
  EXPECT_EQ(diagnosed(caught + caught + oom(2, 80, 1, 78, 76, 1) + caught + caught).root->where.line, 8);
}

TEST(Root, IsTheFirstFailureNotItsConsequence) {
  const Diagnosis d = diagnosed(
      "[rank1]: ncclRemoteError: A call failed possibly due to a network error or a remote process "
      "exiting prematurely.\n[rank4]: " +
      oom(2, 80, 1, 78, 76, 1) + "[rank6]: " + oom(3, 80, 1, 78, 76, 1));
  EXPECT_EQ(d.rank, 4);
  EXPECT_EQ(d.root->where.line, 2);
  EXPECT_EQ(d.consequences.size(), 1U);
}

}  // namespace
}  // namespace oomplan::diagnose
