// Is one, is none, is not known; and what stays of a long log.
#include <gtest/gtest.h>

#include <algorithm>

#include "support.hpp"

namespace oomplan::diagnose {
namespace {

bool asks(const Diagnosis& d, const std::string& words) {
  return std::any_of(d.to_prove.begin(), d.to_prove.end(),
                     [&](const std::string& command) { return command.find(words) != std::string::npos; });
}

TEST(Unknown, IsWhatNamesNoFailure) {
  for (const char* text : {"", "step 1 loss 2.0\nstep 2 loss 1.9\n", "  exitcode  : 1 (pid: 620208)\n",
                           "RuntimeError: Connection reset by peer\n"}) {
    const Diagnosis d = diagnosed(text);
    EXPECT_EQ(d.verdict.cause, Cause::unknown) << text;
    EXPECT_FALSE(d.out_of_memory);
    EXPECT_EQ(d.verdict.confidence, Confidence::possible);
  }
}

TEST(Unknown, ShowsTheEndAndAsksTheLauncher) {
  const Diagnosis d = diagnosed("srun: launching StepId=4711.0 on n5\n2024-05-01T10:00:02 step 41 loss 1.9\n");
  ASSERT_EQ(d.verdict.cause, Cause::unknown);
  ASSERT_GE(d.shows.size(), 3U);
  EXPECT_EQ(d.shows[0].what, "last line");
  EXPECT_EQ(d.shows[0].where.line, 2);
  EXPECT_EQ(d.shows[1].text, "2024-05-01T10:00:02");
  EXPECT_EQ(d.shows[2].text, "41");
  EXPECT_TRUE(asks(d, "sacct -j 4711"));
  EXPECT_TRUE(asks(diagnosed("[pod/train-0/pytorch] step 1\n"), "kubectl describe pod train-0"));
}

TEST(Unknown, ShowsWhatTheLogSaysOfMemory) {
  const Diagnosis d = diagnosed(
      "Worker is at 89% memory usage. Pausing worker.  Process memory: 2.09 GiB -- Worker memory limit: 2.33 GiB\n"
      "step 4\n");
  ASSERT_EQ(d.verdict.cause, Cause::unknown);
  EXPECT_TRUE(std::ranges::any_of(
      d.shows, [](const Shown& s) { return s.what == "memory" && s.text.find("2.09 GiB") != std::string::npos; }));
}

TEST(NotOom, IsNamedByItsOwnLine) {
  const std::string trace = "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    f()\n";
  EXPECT_EQ(diagnosed(trace + "frobnicate.BadThingError: no\n").verdict.cause, Cause::not_oom);
  EXPECT_EQ(diagnosed("{'train_runtime': 12.5}\n").verdict.cause, Cause::not_oom);
  EXPECT_EQ(diagnosed("failed (exitcode: -11) local_rank: 0 (pid: 7)\n").verdict.cause, Cause::not_oom);
}

TEST(General, WordsAreAFailureOnlyWhereTheyStandAsOne) {
  const std::string trace = "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    f()\n";
  const Diagnosis d = diagnosed(trace + "frob.FrobError: device out of memory\n");
  EXPECT_EQ(d.verdict.cause, Cause::vram_exhausted);
  EXPECT_EQ(d.verdict.confidence, Confidence::possible);
  EXPECT_EQ(diagnosed(trace + "frob.FrobError: heap out of memory\n").verdict.cause, Cause::host_alloc_failed);
  EXPECT_EQ(diagnosed("If you run out of memory, use less.\n").verdict.cause, Cause::unknown);
}

TEST(General, ANumberThatBeginsWithAStatusIsNone) {
  EXPECT_EQ(diagnosed("FrobError: Out of memory. Requested 4294967296\n").verdict.cause, Cause::host_alloc_failed);
  EXPECT_NE(diagnosed("FrobError: out of memory units, status 429\n").verdict.cause, Cause::host_alloc_failed);
}

TEST(Host, ASizeThatNoMachineHasProvesNothing) {
  EXPECT_EQ(diagnosed("memory allocation of 1099511627 bytes failed\n").verdict.confidence, Confidence::proved);
  EXPECT_EQ(diagnosed("memory allocation of 9007199254740992 bytes failed\n").verdict.confidence, Confidence::likely);
}

TEST(General, ACommandsLabelMayHaveTwoWords) {
  EXPECT_EQ(diagnosed("frobtool sort: couldn't allocate memory for rows\n").verdict.cause, Cause::host_alloc_failed);
  EXPECT_EQ(diagnosed("What it means: couldn't allocate memory for rows\n").verdict.cause, Cause::unknown);
}

TEST(General, AnErrorNamedAloneKeepsWhatItsNameSays) {
  EXPECT_EQ(diagnosed("ResourceExhaustedError: \n\n  frob\n").verdict.cause, Cause::vram_exhausted);
  EXPECT_EQ(diagnosed("FrobError: \n\n  frob\n").verdict.cause, Cause::not_oom);
}

TEST(LastWord, NamesAFailureOnlyAtTheEnd) {
  const std::string fatal = "fatal: no such frobnicator\n";
  const Diagnosis d = diagnosed("sbatch: " + fatal);
  EXPECT_EQ(d.verdict.cause, Cause::not_oom);
  EXPECT_EQ(d.verdict.confidence, Confidence::possible);
  const std::string goes_on = "one\ntwo\nthree\nfour\nfive\n";
  EXPECT_EQ(diagnosed(fatal + goes_on).verdict.cause, Cause::unknown);
  EXPECT_EQ(diagnosed("it said " + fatal).verdict.cause, Cause::unknown);
}

TEST(Traceback, EndsInAnExceptionOfAnyName) {
  const std::string trace = "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    f()\n";
  EXPECT_EQ(diagnosed(trace + "frob.lib.FrobInvalid: no column\n").verdict.cause, Cause::not_oom);
  EXPECT_EQ(diagnosed(trace + "frob.lib.Interrupted\n").verdict.cause, Cause::not_oom);
  EXPECT_EQ(diagnosed(trace + "frob.lib.FrobWarning: old\n").verdict.cause, Cause::unknown);
  EXPECT_EQ(diagnosed("frob.lib.FrobInvalid: no column\n").verdict.cause, Cause::unknown);
}

TEST(Library, ThatCouldNotBeginOnAFullGpuFoundNoMemory) {
  const std::string handle = "E cuda_dnn.cc:439] Could not create cudnn handle: CUDNN_STATUS_INTERNAL_ERROR\n";
  const std::string full = "E cuda_dnn.cc:443] Memory usage: 6946816 bytes free, 25438126080 bytes total.\n";
  const std::string roomy = "E cuda_dnn.cc:443] Memory usage: 20438126080 bytes free, 25438126080 bytes total.\n";
  EXPECT_EQ(diagnosed(handle + full).verdict.cause, Cause::gpu_library_alloc);
  EXPECT_EQ(diagnosed(handle + roomy).verdict.cause, Cause::not_oom);
}

TEST(Kernel, WithoutTheLineThatSaysForWhomProvesNeither) {
  const Diagnosis d = diagnosed("[  1.5] Killed process 9 (python) total-vm:9kB, anon-rss:900000kB, file-rss:0kB\n");
  EXPECT_EQ(d.verdict.cause, Cause::global_host_oom);
  EXPECT_EQ(d.verdict.confidence, Confidence::possible);
  ASSERT_FALSE(d.alternatives.empty());
  EXPECT_EQ(d.alternatives.front().cause, Cause::cgroup_oom);
}

TEST(Sums, ProveOnlyWhatTheyExplain) {
  EXPECT_EQ(diagnosed(oom(2, 80, 1, 78, 76, 1)).verdict.confidence, Confidence::proved);
  const Diagnosis open = diagnosed(oom(4, 80, 1, 60, 58, 1));
  EXPECT_EQ(open.verdict.confidence, Confidence::likely);
  const auto& lines = open.verdict.arithmetic;
  EXPECT_TRUE(
      std::any_of(lines.begin(), lines.end(), [](const std::string& l) { return l.starts_with("not explained"); }));
}

TEST(Frames, OnOneLineWithTheFailureTellTheMoment) {
  const Diagnosis d = diagnosed(
      "May  1 10:00:00 gpu-7 train[77]: Traceback (most recent call last):#012  File \"t.py\", "
      "line 3, in main#012    loss.backward()#012  File \"torch/_tensor.py\", line 9, in "
      "backward#012    run()#012torch.OutOfMemoryError: " +
      oom(2, 80, 1, 78, 76, 1));
  EXPECT_EQ(d.verdict.cause, Cause::vram_exhausted);
  EXPECT_EQ(d.moment.phase, "backward");
  EXPECT_GT(d.root->where.column, 1);
}

// The failure stands between megabytes of lines that are loud as well.
TEST(LongLogs, KeepTheFailureInTheirMiddle) {
  std::string noise;
  while (noise.size() < std::size_t{6} << 20)
    for (int rank = 0; rank < 512; ++rank)
      noise += "[rank" + std::to_string(rank) + "]: RuntimeError: CUDA error: device-side assert triggered\n";
  const std::string text = noise + "[rank3]: " + oom(2, 80, 1, 78, 76, 1) + noise;
  const Diagnosis d = diagnosed(text);
  EXPECT_EQ(d.verdict.cause, Cause::vram_exhausted);
  EXPECT_EQ(d.rank, 3);
}

TEST(General, WordsAreReadInAnyLetters) {
  for (const char* text :
       {"Error: frob ran out of memory\n", "ERROR: FROB RAN OUT OF MEMORY\n", "Error: Out Of Memory in frob\n",
        "frob: error: Failed to allocate 12 GiB\n", "FATAL: UNABLE TO ALLOCATE 4096 BYTES\n",
        "Error: Insufficient Memory for frob\n", "Error: task exceeded its Memory Limit\n",
        "thread 'main' panicked at src/frob.rs:1:2:\nfailed to allocate in grow for Frob\n",
        "terminate called after throwing\n  what():  out of memory\n"}) {
    const Diagnosis d = diagnosed(text);
    EXPECT_EQ(d.verdict.cause, Cause::host_alloc_failed) << text;
    EXPECT_EQ(d.verdict.confidence, Confidence::possible) << text;
  }
  EXPECT_EQ(diagnosed("Error: Insufficient GPU memory for frob\n").verdict.cause, Cause::vram_exhausted);
}

// What a text says of any time is no failure, what somebody tells of his own run is one.
TEST(General, WordsOfAnyTimeAreNone) {
  for (const char* text : {"The second run will fail to allocate the memory of the pattern.\n",
                           "That is what happens when the library fails to allocate memory.\n",
                           "Two errors that are not out of memory were reported as out of memory.\n"})
    EXPECT_EQ(diagnosed(text).verdict.cause, Cause::unknown) << text;
  EXPECT_EQ(diagnosed("error: frob failed to allocate memory\n").verdict.cause, Cause::host_alloc_failed);
  EXPECT_EQ(diagnosed("fatal: when I start it, frob fails to allocate memory\n").verdict.cause,
            Cause::host_alloc_failed);
}

TEST(General, WordsMayBeginWithAQuoteAndWhoseMemoryItIs) {
  EXPECT_EQ(diagnosed("\"cuda out of memory. tried to allocate 20 mib\"\n").verdict.cause, Cause::vram_exhausted);
  EXPECT_EQ(diagnosed("the cuda out of memory. page\n").verdict.cause, Cause::unknown);
}

// A list of what may be the reason is none, what somebody lists of his own run is one.
TEST(General, WhatIsListedOfAnyTimeIsNone) {
  const std::string list = "\n- The frob pod was too slow.\n- The frob container was OOM-killed by its limit.\n";
  EXPECT_FALSE(diagnosed("This also happens when:\n" + list).out_of_memory);
  EXPECT_TRUE(diagnosed("What I saw in my job:\n" + list).out_of_memory);
}

// Nomad 1.3 said so of each task that ended with 137, its own kills among them.
TEST(Launcher, NomadsWordsFor137TellOfASignalAlone) {
  const Diagnosis d = diagnosed(
      "Killing     Sent interrupt. Waiting 5s before force killing\n"
      "Terminated  Exit Code: 137, Exit Message: \"OOM Killed (137)\"\n");
  EXPECT_EQ(d.verdict.cause, Cause::sigkill_unknown);
  EXPECT_EQ(diagnosed("Terminated  Exit Code: 137, Exit Message: \"OOM Killed\"\n").verdict.cause, Cause::cgroup_oom);
}

TEST(Launcher, AStepsExitCodeMayStandAlone) {
  EXPECT_EQ(diagnosed("+ make frob\nExited with code 137\n").verdict.cause, Cause::sigkill_unknown);
}

// A test's name and a field's name tell of no kill.
TEST(Kubernetes, ItsWordWithinALongerNameIsNone) {
  for (const char* text :
       {"--- FAIL: TestFrobDriver_OOMKilled (2.41s)\n", "--- PASS: TestFrobDriver_OOMKilled (2.36s)\n",
        "frobd no longer sets the `.State.OOMKilled` flag\n"})
    EXPECT_FALSE(diagnosed(text).out_of_memory) << text;
  EXPECT_EQ(diagnosed("frob-0 ended: _OOMKilled_\n").verdict.cause, Cause::k8s_oomkilled);
  EXPECT_EQ(diagnosed("docker inspect frob --format '{{.State.OOMKilled}}'\ntrue\nfrob-0   0/1   OOMKilled   2\n")
                .verdict.cause,
            Cause::k8s_oomkilled);
}

TEST(General, APinnedPoolThatIsNotThereKillsNothing) {
  EXPECT_EQ(diagnosed("W0101 10:00:00.123456 1 pinned_memory_manager.cc:271] Unable to allocate pinned system memory, "
                      "pinned memory pool will not be available: operation not supported\nKilled\n")
                .verdict.cause,
            Cause::sigkill_unknown);
}

TEST(General, WordsOfOtherThingsAreNone) {
  for (const char* text : {"Error: failed to allocate 1 GPU for frob\n", "Error: failed to allocate port 8080\n",
                           "Error: the worker may have exceeded pod memory limits\n", "memory limit: 4 GiB\n",
                           "ERROR: task ran out of disk\n", "Error: not enough arguments\n",
                           "WARN: out of memory is possible with this batch\n"})
    EXPECT_FALSE(diagnosed(text).out_of_memory) << text;
}

TEST(General, AnErrorOfMemoryInUnknownWordsIsNotKnown) {
  const Diagnosis d = diagnosed("ValueError: the frob wants more memory than the bar may have\n");
  EXPECT_EQ(d.verdict.cause, Cause::unknown);
  EXPECT_NE(d.verdict.reason.find("speaks of memory"), std::string::npos) << d.verdict.reason;
  for (const char* text :
       {"ValueError: no kernel for `memory_efficient_frob`\n", "TypeError: frob.Memory() takes no argument\n"})
    EXPECT_EQ(diagnosed(text).verdict.cause, Cause::not_oom) << text;
}

// A bar of another program stands after each line, also within the traceback: no step of this one.
TEST(Survived, IsNotToldByBarsDrawnThroughATraceback) {
  const std::vector<std::string> lines = {"CUDA error: out of memory",
                                          "| WARNING: ran out of memory, skipping batch",
                                          "Traceback (most recent call last):",
                                          "  File \"train.py\", line 29, in <module>",
                                          "    main(args)",
                                          "AttributeError: 'NoneType' object has no attribute 'data'"};
  std::string plain;
  std::string drawn;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    plain += lines[i] + '\n';
    drawn += lines[i] + "\n " + std::to_string(i) + "%|##   | " + std::to_string(i) + "/100 [00:01<00:09,  7.41it/s]\n";
  }
  EXPECT_EQ(diagnosed(plain).verdict.cause, Cause::vram_exhausted);
  EXPECT_EQ(diagnosed(drawn).verdict.cause, Cause::vram_exhausted);
}

TEST(Rank, IsOfTheProcessThatTheKernelKilled) {
  const Diagnosis d = diagnosed(
      "failed (exitcode: -9) local_rank: 3 (pid: 77) of binary: python\n"
      "[ 9.5] Memory cgroup out of memory: Killed process 77 (python) total-vm:9kB, anon-rss:9kB, file-rss:0kB, "
      "shmem-rss:0kB\n");
  EXPECT_EQ(d.verdict.cause, Cause::cgroup_oom);
  EXPECT_EQ(d.rank, 3);
}

TEST(Verdict, WhatASchedulerCouldNotRunMayHaveRunOutOfMemory) {
  const Diagnosis failed = diagnosed("Unable to run job: CUDA out of memory. Tried to allocate 2.00 GiB\n");
  EXPECT_EQ(failed.verdict.cause, Cause::vram_exhausted);
  EXPECT_EQ(diagnosed("Unable to run job: denied: host \"node-3\" is no submit host.\n").verdict.cause, Cause::not_oom);
}

// Ray's exception of the host's memory has the name that PyTorch's and CuPy's have.
TEST(Verdict, OfACutTracebackTakesTheFramesOfItsLibrary) {
  const std::string head = "OutOfMemoryError                          Traceback (most recent call last)\n";
  const Diagnosis ray = diagnosed(head + "File /opt/lib/ray/_private/worker.py:2623, in get(object_refs)\n");
  EXPECT_EQ(ray.verdict.confidence, Confidence::possible);
  EXPECT_EQ(diagnosed(head).verdict.confidence, Confidence::possible);
  for (const std::string path : {"/opt/lib/torch/nn/functional.py:1847", "~\\lib\\cupy\\core\\core.py"}) {
    const Diagnosis d = diagnosed(head + "File " + path + ", in linear(input)\n");
    EXPECT_EQ(d.verdict.cause, Cause::vram_exhausted);
    EXPECT_EQ(d.verdict.confidence, Confidence::likely) << path;
  }
}

}  // namespace
}  // namespace oomplan::diagnose
