// What people write about failures is told from what programs report.
#include "prose.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "rules.hpp"
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
        "Loading the model in 4 bits crashes RuntimeError: |CUDA error: out of memory|",
        "after the upgrade to 2.3 -> MemoryError: |Unable to allocate 7.45 GiB|",
        "\"|Out of memory: Killed process 77 (python)|.\" So the process was the largest of all.",
        "The controller counts the |OOMKilled| containers of a node and tells the scheduler of them",
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
        "Loading checkpoint shards:  42%|\xE2\x96\x88 | 16/38 [00:14<00:19, 1.13it/s]RuntimeError: |CUDA out of "
        "memory|",
        "UnfilteredStackTrace: RuntimeError: |CUDA out of memory|",
        "train.py: error: the job of the user failed with the message: |CUDA out of memory|"})
    EXPECT_FALSE(in_prose(text)) << text;
}

// Of another language the words are not known: a program's stand behind a sign, and it asks nothing.
TEST(Prose, HasAReportInParentheses) {
  const auto confidence = [](const std::string& text) { return diagnosed(text).verdict.confidence; };
  const std::string report = "slurmstepd: error: Detected 1 oom_kill event in StepId=1.0";
  EXPECT_EQ(
      confidence("the jobs that exceed their memory on the cluster are killed (" + report + ") - please set it\n"),
      Confidence::possible);
  EXPECT_EQ(confidence(report + "\n"), Confidence::proved);
  EXPECT_EQ(confidence("Job 7 failed (" + report + ")\n"), Confidence::proved);
}

TEST(Prose, OfAnotherLanguageIsAQuestionOrGoesOn) {
  const auto said = [](const char* text) { return diagnosed(std::string(text) + "\n").verdict; };
  for (const char* text : {"Hallo, ich bekomme die Meldung Auf dem Gerät ist kein Speicherplatz mehr verfügbar.",
                           "运行时提示页面文件太小，无法完成操作。请问怎么解决？", "总是页面文件太小，无法完成操作。"})
    EXPECT_EQ(said(text).confidence, Confidence::possible) << text;
  for (const char* text : {"cp: Fehler beim Schreiben von 'a': Auf dem Gerät ist kein Speicherplatz mehr verfügbar",
                           "OSError: [WinError 1455] 页面文件太小，无法完成操作。 Error loading \"a.dll\""})
    EXPECT_EQ(said(text).confidence, Confidence::proved) << text;
}

constexpr std::string_view frame =
    "Traceback (most recent call last):\n  File \"train.py\", line 3, in main\n    run()\n";

Judgement verdict_on(const std::string& text) { return diagnosed(text + "\n").verdict; }

TEST(Prose, IsNoneInAnExceptionUnlessAPersonSpeaks) {
  for (const char* text :
       {"RuntimeError: Could not run the kernel because the device is |out of memory|.",
        "RuntimeError: There is |not enough memory| to allocate the tensor",
        "*** ERROR *** There is |not enough memory|",
        "E1101 10:00:00 model.cc:123] The engine could not be built because the GPU is |out of memory|"})
    EXPECT_FALSE(in_prose(text)) << text;
  EXPECT_TRUE(in_prose("RuntimeError: I always get |CUDA out of memory| when my model is big"));
  EXPECT_TRUE(in_prose("The 1101 engine could not be built because the GPU is |out of memory|"));
  const std::string below = std::string(frame) + "frob.DeviceError: launch failed because the device was out of memory";
  EXPECT_EQ(verdict_on(below).cause, Cause::vram_exhausted);
  const std::string carried = oom(2, 80, 1, 79, 76, 1).substr(std::string("torch.OutOfMemoryError: ").size());
  EXPECT_EQ(
      verdict_on(std::string(frame) + "RuntimeError: The model could not be loaded because of " + carried).confidence,
      Confidence::proved);
  EXPECT_EQ(
      verdict_on("E1101 10:00:00 model.cc:123] The engine cannot be built because the GPU is out of memory").cause,
      Cause::vram_exhausted);
}

TEST(Prose, KeepsAFailureThatItTalksOf) {
  const Judgement told =
      verdict_on("Jobs failed because the device was out of memory in a third of the runs that we did");
  EXPECT_EQ(told.cause, Cause::vram_exhausted);
  EXPECT_EQ(told.confidence, Confidence::possible);
  EXPECT_EQ(verdict_on("A device that is out of memory is a common case of it").cause, Cause::unknown);
}

TEST(Prose, IsNoReportOfWhatHappenedOnce) {
  for (const char* text :
       {"The container app in the pod train-0 was |OOMKilled|", "Job failed as one of its containers was |OOMKilled|.",
        "The actor is dead because its process has died. Worker exit detail: Task was |killed due to the node running "
        "low|",
        "The container in pod train-0 was terminated with |OOMKilled| (exit code 137)",
        "Query killed because the cluster is |out of memory|. Please try again",
        "Your container has been killed because it |exceeded memory limit|"})
    EXPECT_FALSE(in_prose(text)) << text;
  for (const char* text :
       {"A pod that uses more than its limit is |OOMKilled|.", "The pod that was |OOMKilled| had no limit",
        "We saw that the pod was |OOMKilled|", "The container of the job was not |OOMKilled|"})
    EXPECT_TRUE(in_prose(text)) << text;
  EXPECT_EQ(
      verdict_on("ray: The actor died.\nThe actor is dead because its worker process has died. Worker exit detail: "
                 "Task was killed due to the node running low on memory.\nMemory on the node where the task was "
                 "running was 15.4GB, which exceeds the threshold of 0.95 that is set for this node.")
          .confidence,
      Confidence::proved);
}

TEST(Prose, IsOfTheSentenceAlone) {
  const char* asked = "|CUDA error: out of memory|. Would you like to continue in the mode of the CPU? [y/N]";
  EXPECT_FALSE(in_prose(asked));
  EXPECT_FALSE(in_prose("When the run is done, its results are in out. |CUDA error: out of memory|"));
  EXPECT_TRUE(in_prose("It went well. When the run of the job ends in |CUDA error: out of memory| it was too large"));
}

TEST(Prose, IsNotTheFieldOfAUser) {
  const std::string killed = "Partition: gpu\nslurmstepd: error: Detected 1 oom_kill event in StepId=1.0.";
  EXPECT_EQ(verdict_on("User: alice\n" + killed).confidence, Confidence::proved);
  EXPECT_EQ(verdict_on("User: I have this in the log\n" + killed).confidence, Confidence::possible);
  const std::string raised = std::string(frame) + "RuntimeError: CUDA error: out of memory";
  EXPECT_EQ(verdict_on("Question: what is the capital of France?\n" + raised).confidence, Confidence::likely);
  EXPECT_EQ(verdict_on("Question: why does my job end so?\nRuntimeError: CUDA error: out of memory").confidence,
            Confidence::possible);
}

TEST(Prose, IsTheNameOfATest) {
  for (const char* text :
       {"tests/test_parse.py::test_x[|Your session crashed after using all available RAM.|] PASSED",
        "\xE2\x9C\x93 reports \"Container was |OOMKilled|\" (3 ms)",
        "test_kill_reason (\"Reason: |OOMKilled|\") ... ok",
        "ok 3 - parses |Memory cgroup out of memory: Killed process 1 (x)|", "not ok 4 - parses |OOMKilled|"})
    EXPECT_TRUE(in_prose(text)) << text;
  for (const char* text : {"FAILED tests/test_x.py::test_y - torch.OutOfMemoryError: |CUDA out of memory|",
                           "ok, container 3 - |OOMKilled|", "container 3 |OOMKilled| PASSED"})
    EXPECT_FALSE(in_prose(text)) << text;
}

TEST(Prose, IsASeriesOfNone) {
  const std::string series = "kube_pod_container_status_last_terminated_reason{pod=\"p\",reason=\"OOMKilled\"} ";
  EXPECT_EQ(verdict_on(series + "0").cause, Cause::unknown);
  EXPECT_EQ(verdict_on(series + "1").cause, Cause::k8s_oomkilled);
}

TEST(Prose, IsWhatAModelWrote) {
  const std::string killed = "Memory cgroup out of memory: Killed process 1234 (python)";
  for (const std::string& text : {"{\"text\": \"" + killed + "\"}", "prediction: " + killed, "text: \"" + killed + "\"",
                                  "2025-01-01 10:00:00 INFO completion: " + killed})
    EXPECT_EQ(verdict_on(text).confidence, Confidence::possible) << text;
  for (const std::string& text : {"{\"text\": \"" + killed + "\", \"time\": \"10:00\"}", "context: " + killed})
    EXPECT_EQ(verdict_on(text).confidence, Confidence::proved) << text;
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
  EXPECT_EQ(verdict(R"({"input": "a", "output": null, "error": "CUDA error: out of memory"})").confidence,
            Confidence::likely);
  EXPECT_EQ(verdict(R"({"input": "CUDA error: out of memory", "output": "a", "status": "ok"})").confidence,
            Confidence::possible);
  EXPECT_EQ(verdict(R"({"log": "RuntimeError: CUDA error: out of memory\n"})").confidence, Confidence::likely);
}

TEST(Prose, IsWhatIsSetOffAsCodeOrCitedInAMail) {
  EXPECT_TRUE(in_prose("The runs fail with `|CUDA out of memory|`."));
  const std::string cited = "> RuntimeError: CUDA out of memory\n";
  EXPECT_EQ(diagnosed("On Monday Alice wrote:\n" + cited).verdict.confidence, Confidence::possible);
  EXPECT_EQ(diagnosed(cited).verdict.confidence, Confidence::likely);  // a terminal's
  const Diagnosis subject = diagnosed(
      "Subject: MemoryError: Unable to allocate 7.45 GiB for an array with shape (1000000000,) and data type "
      "float64\n");
  EXPECT_EQ(subject.verdict.confidence, Confidence::possible);
}

TEST(Prose, IsNoneInCodeOrDefinitions) {
  for (const char* text :
       {R"(    print("CUDA out of memory. Tried to allocate 2.00 GiB"))",
        R"(  raise RuntimeError("CUDA out of memory"))",
        R"(expr: kube_pod_container_status_last_terminated_reason{reason="OOMKilled"} > 0)",
        R"(summary: "{{ $labels.pod }} was OOMKilled")", "Exit code 137 means that the process got SIGKILL.",
        "Exit code 137 is the status of a process that was killed.", R"(if "CUDA out of memory" in str(error):)",
        R"(+            and state.terminated.reason == "OOMKilled")", R"(OOM_WORDS = ["CUDA error: out of memory"])",
        R"(    "OOMKilled" => Exit::Memory,)", "#define CUDA_ERROR_OUT_OF_MEMORY 2",
        "kubectl get pods | grep OOMKilled", R"([ "$reason" = "OOMKilled" ] && notify)",
        " * @throws std::bad_alloc when memory is short", "RuntimeError: CUDA out of memory. Tried to allocate X GiB",
        R"(CUDA out of memory. Tried to allocate (\d+) GiB)", "cudaErrorMemoryAllocation (2) is the most common error",
        "The runtime will raise cudaErrorMemoryAllocation."})
    EXPECT_EQ(verdict_on(text).cause, Cause::unknown) << text;
  EXPECT_EQ(verdict_on("Process finished with exit code 137").cause, Cause::sigkill_unknown);
}

TEST(Prose, IsNoneInACommentBehindCode) {
  EXPECT_EQ(diagnosed("outputs = model(inputs)  # RuntimeError: CUDA out of memory here\n").verdict.cause,
            Cause::unknown);
  EXPECT_EQ(diagnosed("step 4 # RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n").verdict.cause,
            Cause::vram_exhausted);
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
  const auto kind = [](std::string_view text) {
    return names_a_kind(book().rules().wordings, text, std::string_view("out of memory").size());
  };
  for (const char* text : {"out of memory errors are common", "out of memory (OOM) errors", "out of memory (OoM) jobs",
                           "out of memory killer", "out of memory error messages", "out of memory\" conditions"})
    EXPECT_TRUE(kind(text)) << text;
  for (const char* text :
       {"out of memory", "out of memory error", "out of memory: killed", "out of memory eventsource"})
    EXPECT_FALSE(kind(text)) << text;
  EXPECT_EQ(diagnosed("The guide: fatal out of memory errors and their reasons\n").verdict.cause, Cause::unknown);
}

TEST(Prose, AWritersGeneralWordsGiveWayToAProgramsOwn) {
  const std::string told = "With these settings I run out of memory (24 GB card). With others it ends so:\n";
  const std::string raised = "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    f()\n";
  EXPECT_EQ(diagnosed(told + raised + "AttributeError: 'NoneType' object has no attribute 'cpu'\n").verdict.cause,
            Cause::not_oom);
}

TEST(Prose, OfAListOfChangesIsNobodysFailure) {
  const std::string commits = "a1b2c3d Fix CUDA out of memory in evaluation\nd4e5f6a Do not retry on OOM\n";
  EXPECT_EQ(diagnosed(commits + "7a8b9c0 Handle cudaErrorMemoryAllocation\n").verdict.cause, Cause::unknown);
  EXPECT_EQ(diagnosed(commits + "b1 Handle cudaErrorMemoryAllocation\n").verdict.cause, Cause::vram_exhausted);
  const std::string container = "4fa1b2c RuntimeError: CUDA error: out of memory\n";
  EXPECT_EQ(diagnosed(container + container + container).verdict.cause, Cause::vram_exhausted);
  const std::string item = "- Fixed: OutOfMemoryError when loading sharded checkpoints (#123)\n";
  EXPECT_EQ(diagnosed("## 1.2.3\n\n" + item).verdict.cause, Cause::unknown);
  EXPECT_EQ(diagnosed("## [Unreleased]\n\n### Fixed\n\n" + item).verdict.cause, Cause::unknown);
  EXPECT_EQ(diagnosed("[rank0]: ## 1.2.3\n[rank0]: " + item).verdict.cause, Cause::unknown);
  EXPECT_EQ(diagnosed("## What I see\n\n" + item).verdict.cause, Cause::host_alloc_failed);
  // What a program reports begins with the failure, whatever stands before and above it.
  const std::string oom = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n";
  const auto is_full = [](const std::string& log) { return diagnosed(log).verdict.cause == Cause::vram_exhausted; };
  EXPECT_TRUE(is_full("09f1a2b3 INFO loaded\n1af1a2b4 INFO step 10 loss 2.0\n2bf1a2b5 ERROR " + oom));
  EXPECT_TRUE(is_full("3f2a1b4c5d6e loading\n9a8b7c6d5e4f loading\n1c2d3e4f5a6b " + oom));
  for (const char* title : {"## 2.1 What the run printed", "### Changed", "# 10.0.0.12", "# 2024.05.01 training log"})
    EXPECT_TRUE(is_full(std::string(title) + "\n\n- " + oom)) << title;
}

TEST(Prose, ABannersAdviceIsNoPageOfHelp) {
  const std::string banner =
      "Welcome to cluster X\n\n## Known issues\nNode gpu07 is slow. Use another.\n\nLoading model\n";
  EXPECT_EQ(diagnosed(banner + "Killed\n").verdict.cause, Cause::sigkill_unknown);
  EXPECT_EQ(diagnosed("## 1.2.3\n\nRuntimeError: CUDA error: out of memory\n").verdict.cause, Cause::vram_exhausted);
}

}  // namespace
}  // namespace oomplan::diagnose
