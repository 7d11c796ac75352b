// Advice names only what the program that ran has: its own limit, its own tools, no loader or model that no line shows.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "support.hpp"

namespace oomplan::diagnose {
namespace {

TEST(Advice, OfMlxIsOfTrainingWhereItTrains) {
  const std::string refused =
      "RuntimeError: [metal::malloc] Attempting to allocate 48736917632 bytes which is greater than the maximum "
      "allowed "
      "buffer size of 30150672384 bytes.\n";
  EXPECT_EQ(to_do("mx.eval([c.state for c in self.prompt_cache])\n" + refused), "fewer-tokens fewer-bits");
  EXPECT_TRUE(contains(to_do("Iter 10: Train loss 2.1\n" + refused), "lora-fewer-targets"));
}

TEST(Advice, OfAMacAsksNoToolOfNvidia) {
  const Diagnosis d = diagnosed(
      "ggml_metal_synchronize: error: command buffer 1 failed with status 5\n"
      "error: Insufficient Memory (00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)\n");
  ASSERT_FALSE(d.to_prove.empty());
  EXPECT_TRUE(std::none_of(d.to_prove.begin(), d.to_prove.end(),
                           [](const std::string& command) { return contains(command, "nvidia-smi"); }));
}

TEST(Advice, OfPytorchIsGivenToPytorch) {
  const std::string boosting =
      "xgboost.core.XGBoostError: Memory allocation error on worker 0: std::bad_alloc: cudaErrorMemoryAllocation: out "
      "of memory\n- Free memory: 11310923776\n- Requested memory: 47996\n";
  EXPECT_FALSE(contains(to_do(boosting), "expandable-segments"));
  EXPECT_TRUE(contains(to_do(boosting), "gpu-slice"));
  const std::string handle = "failed to create cublas handle: CUBLAS_STATUS_ALLOC_FAILED\n";
  EXPECT_TRUE(contains(to_do(handle), "tf-growth"));
  EXPECT_FALSE(contains(to_do(handle), "leave-room"));
  EXPECT_TRUE(
      contains(to_do("RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`\n"
                     "  File \"torch/nn/functional.py\", line 5, in linear\n"),
               "leave-room"));
}

TEST(Advice, NamesTheProgramsOwnLimit) {
  EXPECT_EQ(to_do("123965:M 11 Dec 2022 01:45:37.419 # Out Of Memory allocating 2046331 bytes!\n"),
            "overcommit server-limit more-memory");
  EXPECT_EQ(to_do("PHP Fatal error:  Allowed memory size of 268435456 bytes exhausted (tried to allocate 63912944 "
                  "bytes)\n"),
            "raise-limit pieces");
  EXPECT_EQ(to_do("runtime: VirtualAlloc of 1048576 bytes failed with errno=1455\nfatal error: out of memory\n"),
            "paging-file host-memory");
  const std::string heap =
      "FATAL ERROR: Ineffective mark-compacts near heap limit Allocation failed - JavaScript heap "
      "out of memory\n";
  EXPECT_EQ(to_do("    1: /* anonymous */ [C:\\socketserver\\app.js:~979]\n" + heap), "node-heap heap-snapshot");
  EXPECT_TRUE(contains(to_do("> webpack --mode production\n" + heap), "build-jobs"));
}

TEST(Advice, OfTheJvmIsOfWhatItsErrorNames) {
  const auto jvm = [](const std::string& kind) {
    return diagnosed("Exception in thread \"main\" java.lang.OutOfMemoryError: " + kind +
                     "\n\tat app.Main.main(Main.java:5)\n");
  };
  const auto first = [&](const std::string& kind) { return jvm(kind).to_do.front().id; };
  const auto advises_against_heap = [&](const std::string& kind) {
    return std::ranges::any_of(jvm(kind).not_to_do, [](const Fix& fix) { return fix.id == "jvm-heap"; });
  };
  EXPECT_EQ(first("Java heap space"), "jvm-heap");
  EXPECT_FALSE(advises_against_heap("Java heap space"));
  EXPECT_EQ(first("Direct buffer memory"), "jvm-direct");
  EXPECT_EQ(first("Cannot reserve 65536 bytes of direct buffer memory (allocated: 268400000, limit: 268435456)"),
            "jvm-direct");
  for (const auto& [kind, fix] :
       {std::pair{"unable to create new native thread", "jvm-thread-limit"}, std::pair{"Metaspace", "jvm-classes"},
        std::pair{"Requested array size exceeds VM limit", "jvm-array"}}) {
    EXPECT_EQ(first(kind), fix);
    EXPECT_TRUE(advises_against_heap(kind)) << kind;
  }
}

TEST(Advice, OfWhatReallyRanOut) {
  EXPECT_TRUE(
      to_do("# There is insufficient memory for the Java Runtime Environment to continue.\n"
            "# Native memory allocation (mmap) failed to map 1073741824 bytes for committing reserved memory.\n")
          .starts_with("jvm-native"));
  const std::string full = "OSError: [Errno 28] No space left on device: '/data/tmp/x'\n";
  EXPECT_TRUE(to_do(full).starts_with("free-disk"));
  EXPECT_TRUE(
      to_do(full + "Filesystem      Inodes  IUsed IFree IUse% Mounted on\n/dev/sdb1  6553600 6553600  0  100% /data\n")
          .starts_with("inodes"));
  EXPECT_TRUE(to_do("Warning  Evicted  2m  kubelet  The node was low on resource: memory. Threshold quantity: 100Mi, "
                    "available: 71Mi. Container main was using 61231232Ki, request is 8Gi, has larger consumption of "
                    "memory.\n")
                  .starts_with("memory-request"));
}

TEST(Advice, OfServersSpeaksOfNoLoader) {
  const Diagnosis refused = diagnosed(
      "level=INFO source=sched.go:429 msg=\"NewLlamaServer failed\" model=/models/blobs/sha256-a67 "
      "error=\"model requires more system memory (40.1 GiB) than is available (6.2 GiB)\"\n");
  ASSERT_FALSE(refused.to_do.empty());
  for (const Fix& fix : refused.to_do) EXPECT_FALSE(contains(fix.text, "DataLoader")) << fix.id;
  EXPECT_TRUE(to_do("Exception: Capture cuda graph failed: CUDA out of memory. Tried to allocate 1.96 GiB.\nPossible "
                    "solutions:\n1. set --mem-fraction-static to a smaller value (e.g., 0.8 or 0.7)\n")
                  .starts_with("sglang-static"));
}

TEST(Advice, OfArraysIsGivenWhereOneIsNamed) {
  EXPECT_EQ(to_do("fatal: Out of memory, malloc failed (tried to allocate 1073741824 bytes)\n"),
            "host-memory overcommit");
  EXPECT_EQ(
      to_do("MemoryError: Unable to allocate 7.45 GiB for an array with shape (1000000000,) and data type float64\n"),
      "smaller-array host-memory overcommit");
  EXPECT_EQ(to_do("LLVM ERROR: out of memory\n"), "build-jobs host-memory overcommit");
}

TEST(Advice, HeadlineNamesTheProgramsOwnLimit) {
  const auto headline = [](const std::string& log) { return diagnosed(log).headline; };
  EXPECT_EQ(headline("FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n"),
            "V8's own limit of its heap was met (proved)");
  EXPECT_EQ(headline("[   12.1] Kernel panic - not syncing: Out of memory: compulsory panic_on_oom is enabled\n"),
            "the host ran out of memory and the kernel stopped the whole machine (proved)");
}

TEST(Advice, OfThirtyTwoBitsIsGivenWhereTheyArePossible) {
  const auto numpy = [](const std::string& size, const std::string& shape) {
    return to_do(
        "File \"C:\\Users\\u\\p.py\", line 12, in getdata\nnumpy.core._exceptions._ArrayMemoryError: Unable to "
        "allocate " +
        size + " for an array with shape (" + shape + ",) and data type float64\n");
  };
  EXPECT_TRUE(contains(numpy("512. MiB", "67108864"), "python-64"));
  EXPECT_FALSE(contains(numpy("32.0 GiB", "4294574184"), "python-64"));
  EXPECT_FALSE(contains(
      to_do("ERROR: OutOfMemoryError()\nStacktrace:\n  [1] Array\n    @ C:\\Users\\u\\.julia\\a.jl:6\n"), "python-64"));
  EXPECT_FALSE(
      contains(to_do("OSError: [WinError 1455] The paging file is too small for this operation to complete. Error "
                     "loading \"D:\\lib\\site-packages\\torch\\lib\\cudnn_cnn_infer64_8.dll\"\n"),
               "python-64"));
}

TEST(Advice, NamesTheToolsOfTheCard) {
  const auto others = [](const std::string& platform, const std::string& device) {
    return text_of(
        "torch.OutOfMemoryError: " + platform + " out of memory. Tried to allocate 4.50 GiB. " + device +
            " 0 has a total capacity of 15.98 GiB of which 1.40 GiB is free. Of the allocated memory 1.26 GiB "
            "is allocated by PyTorch, and 152.50 MiB is reserved by PyTorch but unallocated.\n",
        "other-processes");
  };
  EXPECT_TRUE(contains(others("CUDA", "GPU"), "nvidia-smi"));
  EXPECT_TRUE(contains(others("HIP", "GPU"), "HIP_VISIBLE_DEVICES"));
  EXPECT_TRUE(contains(others("NPU", "NPU"), "npu-smi"));
}

TEST(Advice, SpeaksOfLoadersAndModelsWhereTheLogShowsThem) {
  const std::string killed = "zsh: killed     python3 charts.py\n";
  EXPECT_EQ(to_do(killed), "host-memory");
  EXPECT_FALSE(contains(text_of(killed, "host-memory"), "loader"));
  EXPECT_EQ(to_do("torch 2.4.0\n" + killed), "host-memory smaller-model");
  const std::string kernel =
      "kernel: Memory cgroup out of memory: Kill process 24984 (palo_be) score 968 or sacrifice child\nkernel: Killed "
      "process 24984 (palo_be), UID 0, total-vm:70347780kB, anon-rss:45563572kB, file-rss:0kB, shmem-rss:0kB\n";
  EXPECT_FALSE(contains(text_of(kernel, "host-memory"), "DataLoader"));
  EXPECT_TRUE(contains(text_of("torch/utils/data/dataloader.py\n" + kernel, "host-memory"), "DataLoader"));
  EXPECT_EQ(to_do("g++: fatal error: Killed signal terminated program cc1plus\ncompilation terminated.\n"),
            "build-jobs host-memory");
}

TEST(Advice, OfAnEvictionForStorageIsOfStorage) {
  EXPECT_EQ(
      to_do("Reason:         Evicted\nMessage:        The node was low on resource: ephemeral-storage. Container app "
            "was using 34260Ki, which exceeds its request of 0. \n"),
      "storage-limit node-disk");
}

TEST(Advice, OfAShareOfZeroIsToSetIt) {
  const auto restarted = [](const std::string& percent) {
    return to_do("distributed.nanny.memory - WARNING - Worker tls://192.168.204.84:34937 (pid=129) exceeded " +
                 percent + "% memory budget. Restarting...\n");
  };
  EXPECT_EQ(restarted("0"), "dask-terminate");
  EXPECT_TRUE(restarted("95").starts_with("dask-limit "));
}

TEST(Advice, NamesTheProcessWithoutWhichItFits) {
  const auto beside = [](const std::string& other) {
    return "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 238.00 MiB. GPU 0 has a total capacity of "
           "22.05 "
           "GiB of which 10.81 MiB is free. Process 43872 has " +
           other +
           " memory in use. Including non-PyTorch memory, this process has 17.05 GiB memory in use. Of the allocated "
           "memory 16.50 GiB is allocated by PyTorch, and 300.00 MiB is reserved by PyTorch but unallocated.\n";
  };
  EXPECT_TRUE(to_do(beside("4.97 GiB")).starts_with("other-processes "));
  EXPECT_TRUE(text_of(beside("4.97 GiB"), "other-processes").starts_with("Process 43872 holds 4.97 GiB "));
  EXPECT_FALSE(contains(to_do(beside("100.00 MiB")), "other-processes"));
}

TEST(Advice, OfImagesIsGivenToWhatDrawsThem) {
  EXPECT_TRUE(to_do("torch.OutOfMemoryError: Allocation on device\n\nGot an OOM, unloading all loaded models.\n")
                  .starts_with("images-smaller images-offload"));
}

}  // namespace
}  // namespace oomplan::diagnose
