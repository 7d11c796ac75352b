// Several logs of one case: whose rank each is, and which failure was first.
#include "clock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "support.hpp"

namespace oomplan::diagnose {
namespace {

Diagnosis of_files(const std::vector<std::pair<std::string, std::string>>& files) {
  Inquest inquest(book());
  for (const auto& [name, text] : files) {
    inquest.begin(name);
    inquest.read(text);
  }
  return inquest.finish();
}

bool before(const char* a, const char* b) { return is_earlier(clock_of(a), clock_of(b)); }

TEST(Clock, ReadsDatesWithTheirZones) {
  EXPECT_TRUE(before("2024-05-01T10:00:02.1Z", "2024-05-01 10:00:02,2"));
  EXPECT_FALSE(before("2024-05-01T10:00:02.2Z", "2024-05-01 10:00:02,1"));
  EXPECT_TRUE(before("2024-04-30T23:59:59", "2024/05/01 00:00:00"));
  EXPECT_TRUE(before("2024-05-01T11:30:00+02:00", "2024-05-01T10:00:00Z"));
  EXPECT_TRUE(before("2024-05-01T09:00:00Z", "2024-05-01T05:00:00-0500"));
}

TEST(Clock, ComparesOnlyWhatIsOfOneKind) {
  EXPECT_TRUE(before("Nov 29 01:00:04", "Nov 29 01:00:05"));
  EXPECT_TRUE(before("Sep 30 01:00:04", "Oct  1 01:00:00"));
  EXPECT_TRUE(before("0501 10:00:01.1", "0501 10:00:01.2"));
  EXPECT_TRUE(before(" 7063.247407", " 7063.3"));
  EXPECT_FALSE(before("Nov 29 01:00:04", "2024-12-01T00:00:00"));
  EXPECT_FALSE(before(" 1.5", "Nov 29 01:00:04"));
  EXPECT_FALSE(clock_of("10:00:01,123"));
  EXPECT_FALSE(clock_of("2024-05-01"));
  EXPECT_FALSE(clock_of("Foo 29 01:00:04"));
}

TEST(Ranks, AreInTheNamesOfLogs) {
  EXPECT_EQ(rank_in("run/rank3.log"), 3);
  EXPECT_EQ(rank_in("worker_rank-12.err"), 12);
  EXPECT_EQ(rank_in("logs/none_x1/attempt_0/3/stderr.log"), 3);
  EXPECT_FALSE(rank_in("train.log"));
  EXPECT_FALSE(rank_in("rank3/train.log"));
  EXPECT_FALSE(rank_in("franklin.log"));
  EXPECT_FALSE(rank_in("attempt_0/stderr.log"));
}

TEST(SeveralLogs, TheEarliestFailureIsTheRoot) {
  const std::string message = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n";
  const Diagnosis d = of_files({{"rank0.log", "2024-05-01T10:00:09 step 7\n" + message},
                                {"rank1.log", "2024-05-01T10:00:05 step 7\n" + message},
                                {"rank2.log", "2024-05-01T10:00:07 step 7\n" + message}});
  EXPECT_EQ(d.rank, 1);
  EXPECT_EQ(d.root->where.file, "rank1.log");
}

TEST(SeveralLogs, WithoutComparableTimesTheOrderGivenCounts) {
  const std::string message = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n";
  EXPECT_EQ(of_files({{"rank5.log", message}, {"rank1.log", "2024-05-01T10:00:05 step 7\n" + message}}).rank, 5);
  EXPECT_EQ(
      of_files({{"rank5.log", "Nov 29 01:00:04 n1 " + message}, {"rank1.log", "2024-05-01T10:00:05 x\n" + message}})
          .rank,
      5);
}

TEST(SeveralLogs, ABetterSourceCountsWhereverItStands) {
  const Diagnosis d = of_files(
      {{"rank0.log", "2024-05-01T10:00:00 ERROR: failed (exitcode: -9) local_rank: 2 (pid: 9) of binary: python\n"},
       {"dmesg.txt", "Out of memory: Killed process 9 (python) total-vm:9kB, anon-rss:900000kB, file-rss:0kB\n"}});
  EXPECT_EQ(d.verdict.cause, Cause::global_host_oom);
  EXPECT_EQ(d.root->where.file, "dmesg.txt");
}

TEST(SeveralLogs, TheSameWordsCountWhereTheirFramesAre) {
  const std::string frames = "Traceback (most recent call last):\n  File \"torch/optim/adamw.py\", line 1, in step\n";
  const std::string message = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n";
  const Diagnosis d = of_files({{"3/error.log", message}, {"3/stderr.log", frames + message}});
  EXPECT_EQ(d.root->where.file, "3/stderr.log");
  EXPECT_EQ(d.moment.phase, "optimizer_step");
  EXPECT_EQ(of_files({{"rank1.log", message}, {"rank2.log", frames + message}}).rank, 1);
}

TEST(SeveralLogs, FramesOfARanksLogTellItsMoment) {
  const Diagnosis d =
      of_files({{"rank4.log",
                 "Traceback (most recent call last):\n  File \"torch/optim/adamw.py\", line 1, in step\n"
                 "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"}});
  EXPECT_EQ(d.rank, 4);
  EXPECT_EQ(d.moment.phase, "optimizer_step");
}

const std::string frames_of_main =
    "Traceback (most recent call last):\n  File \"train.py\", line 9, in <module>\n    main()\n";

std::string kernel_killed(const std::string& comm) {
  return "May  1 10:00:00 n1 kernel: Out of memory: Killed process 99 (" + comm +
         ") total-vm:9000000kB, anon-rss:8000000kB, file-rss:0kB, shmem-rss:0kB\n";
}

bool names_other_kill(const Diagnosis& d) {
  return std::any_of(d.also.begin(), d.also.end(), [](const Finding& f) { return f.id == "other_process_killed"; });
}

// A log that just stops is what a kill leaves, and a run may name its processes.
TEST(SeveralLogs, AKillIsNoOthersWhereALogJustStopsOrNamesTheProcess) {
  const std::string failed = "step 1\n" + frames_of_main + "ValueError: bad label\n";
  const std::string killed = kernel_killed("python");
  EXPECT_EQ(of_files({{"r0.log", "step 5 loss 2\n"}, {"r1.log", failed}, {"dmesg.txt", killed}}).verdict.cause,
            Cause::global_host_oom);
  EXPECT_EQ(of_files({{"r1.log", "pid=99 started\n" + failed}, {"dmesg.txt", killed}}).verdict.cause,
            Cause::global_host_oom);
  EXPECT_EQ(of_files({{"r1.log", "pid=990 started\n" + failed}, {"dmesg.txt", killed}}).verdict.cause, Cause::not_oom);
}

// Who is killed tells nothing: the host's log is of everybody on the host.
TEST(SeveralLogs, AKillBesideARunThatTellsItsOwnEndIsAnothers) {
  for (const char* comm : {"chrome", "python"}) {
    const Diagnosis failed = of_files(
        {{"train.log", "step 1\n" + frames_of_main + "ValueError: bad label\n"}, {"dmesg.txt", kernel_killed(comm)}});
    EXPECT_EQ(failed.verdict.cause, Cause::not_oom) << comm;
    EXPECT_EQ(failed.verdict.confidence, Confidence::possible) << "it may have followed from the kill";
    EXPECT_TRUE(names_other_kill(failed));
    const Diagnosis full =
        of_files({{"train.log", frames_of_main + oom(2, 80, 1, 78, 76, 1)}, {"dmesg.txt", kernel_killed(comm)}});
    EXPECT_EQ(full.verdict.cause, Cause::vram_exhausted) << comm;
    const Diagnosis finished =
        of_files({{"train.log", "{'train_runtime': 21.2, 'train_loss': 1.0}\n"}, {"dmesg.txt", kernel_killed(comm)}});
    EXPECT_EQ(finished.verdict.cause, Cause::not_oom) << comm;
    EXPECT_TRUE(names_other_kill(finished));
  }
}

// "0.99" and "step 99" are no process.
TEST(SeveralLogs, ANumberNamesTheKilledProcessOnlyWhereItMayBeOne) {
  const auto beside = [](const std::string& line) {
    return of_files({{"train.log", line + frames_of_main + "ValueError: bad label\n"},
                     {"dmesg.txt", kernel_killed("python")}})
        .verdict.cause;
  };
  for (const char* line : {"loss 0.99\n", "loss 2.99e-05\n", "step 99\n", "rows 99/1000\n", "rows 1991\n"})
    EXPECT_EQ(beside(line), Cause::not_oom) << line;
  for (const char* line : {"node1:99:1020 [0] NCCL INFO\n", "[99:MainThread] INFO ready\n", "[1] 99\n", "pid=99\n"})
    EXPECT_EQ(beside(line), Cause::global_host_oom) << line;
}

// Who was killed is told by another number.
TEST(SeveralLogs, AKillOfABrowserIsNotThatOfAnotherNumber) {
  const auto beside = [](const char* comm, const std::string& end) {
    return of_files({{"train.log", "step 1 loss 2.0\n" + end}, {"dmesg.txt", kernel_killed(comm)}}).verdict.cause;
  };
  EXPECT_EQ(beside("chrome", "run.sh: line 3:  9001 Killed    python train.py\n"), Cause::sigkill_unknown);
  EXPECT_EQ(beside("chrome", "Killed\n"), Cause::global_host_oom);
  EXPECT_EQ(beside("python", "run.sh: line 3:  9001 Killed    python train.py\n"), Cause::global_host_oom);
}

// Of whatever system: macOS' kernel, Android's, a daemon of the host.
TEST(SeveralLogs, AKillOfEverySystemMayBeAnothers) {
  for (const char* kill :
       {"kernel: low swap: killing largest compressed process with pid 2967 (mongod) and size 1 MB\n",
        "kernel: memorystatus: killing_process pid 4242 [mongod] (vm-compressor-space-shortage) 5600\n",
        "kernel: memorystatus: killing largest compressed process mongod [123] 198602 MB\n",
        "lowmemorykiller: Killing 'frob.app' (12345), adj 900,\n",
        "systemd-oomd[949]: Killed /user.slice/a.scope due to memory pressure for /user.slice being 61.20% > 60.00% "
        "for "
        "> 20s with reclaim activity\n"}) {
    const Diagnosis d =
        of_files({{"train.log", "step 1\n" + frames_of_main + "ValueError: bad label\n"}, {"system.log", kill}});
    EXPECT_EQ(d.verdict.cause, Cause::not_oom) << kill;
    EXPECT_EQ(d.verdict.confidence, Confidence::possible) << kill;
    EXPECT_TRUE(names_other_kill(d)) << kill;
  }
}

TEST(SeveralLogs, AKillIsTheRunsWhereOneOfItVanished) {
  const std::string value_error = frames_of_main + "ValueError: bad label\n";
  for (const std::string& log : std::vector<std::string>{
           "step 1 loss 2.0\n", "step 1\nKilled\n", value_error + "failed (exitcode: -9) local_rank: 2 (pid: 99)\n",
           frames_of_main + "RuntimeError: DataLoader worker (pid 99) is killed by signal: Killed. \n",
           frames_of_main + "ConnectionResetError: [Errno 104] Connection reset by peer\n",
           "[rank1]:[E ProcessGroupNCCL.cpp:607] [Rank 1] Watchdog caught collective operation timeout: "
           "WorkNCCL(SeqNum=77, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600123 milliseconds before timing "
           "out.\n"})
    EXPECT_EQ(of_files({{"train.log", log}, {"dmesg.txt", kernel_killed("python")}}).verdict.cause,
              Cause::global_host_oom)
        << log;
  // In one file nothing tells the host's lines from the run's.
  EXPECT_EQ(of_files({{"all.log", value_error + kernel_killed("python")}}).verdict.cause, Cause::global_host_oom);
}

}  // namespace
}  // namespace oomplan::diagnose
