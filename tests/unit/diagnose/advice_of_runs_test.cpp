// Advice follows what ran, on what machine and under whose limit; what the log itself suggests is judged; and what
// would prove a verdict can be asked there.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "support.hpp"

namespace oomplan::diagnose {
namespace {

const std::string full = oom(2, 80, 1, 78, 76, 1);
const std::string in_pieces = oom(4, 80, 1, 78, 60, 16);

std::string finding(const std::string& log, const std::string& id) {
  for (const Finding& f : diagnosed(log).also)
    if (f.id == id) return f.text;
  return {};
}

TEST(Advice, OfMemoryThatCouldNotBeRegistered) {
  const std::string on = "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n";
  const std::string mooncake = "rdma_context.cpp:588] Failed to register memory 0x12397fd5800: Invalid argument [22]\n";
  EXPECT_EQ(to_do(on + mooncake), "no-expandable-segments newer-pytorch");
  EXPECT_NE(finding(on + mooncake, "segments_not_registered"), "");
  EXPECT_EQ(finding(mooncake, "segments_not_registered"), "");
  EXPECT_EQ(to_do(mooncake), "no-expandable-segments");  // where it is on
  EXPECT_EQ(to_do("AssertionError: Expandable segments are not compatible with memory pool. Please track it\n"),
            "no-expandable-segments newer-pytorch");
  EXPECT_EQ(
      to_do(on + "n1:1:2 [0] register.cc:80 NCCL WARN Cuda failure 1 'invalid argument'\nRuntimeError: NCCL Error "
                 "1: unhandled cuda error (run with NCCL_DEBUG=INFO for details)\n"),
      "no-expandable-segments newer-pytorch");
}

TEST(Advice, IsNotToExpandSegmentsThatAreRegistered) {
  EXPECT_EQ(to_do(in_pieces), "expandable-segments max-split-size fixed-shapes");
  EXPECT_EQ(to_do("TORCH_NCCL_USE_TENSOR_REGISTER_ALLOCATOR_HOOK=1\n" + in_pieces), "max-split-size fixed-shapes");
}

TEST(Advice, OfServersFollowsTheirMoment) {
  const std::string create =
      "  File \"/v/vllm/model_executor/layers/linear.py\", line 202, in create_weights\n    x()\n";
  EXPECT_EQ(to_do("Traceback (most recent call last):\n" + create + full),
            "vllm-weights vllm-utilization vllm-offload");
  const std::string capturing = "vllm serve m\nCapturing CUDA graph shapes:  40%|#| 14/35\n";
  EXPECT_TRUE(
      to_do(capturing + "RuntimeError: CUDA error: out of memory\n").starts_with("vllm-utilization vllm-eager "));
  EXPECT_TRUE(to_do(capturing + "Graph capturing finished in 20 secs\nRuntimeError: CUDA error: out of memory\n")
                  .starts_with("vllm-length "));
}

TEST(Advice, IsOfTheProgramThatRan) {
  const std::string metal = "error: Insufficient Memory (00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)\n";
  EXPECT_TRUE(
      contains(to_do("ggml_metal_graph_compute: command buffer 0 failed with status 5\n" + metal), "ggml-layers"));
  EXPECT_FALSE(contains(to_do("ggml_metal_graph_compute: command buffer 0 failed\n" + metal), "lora-fewer-targets"));
  EXPECT_TRUE(contains(to_do("Iter 1: Train loss 2.1\n" + metal), "lora-fewer-targets"));
  EXPECT_EQ(to_do("RuntimeError: Exception from src/inference/src/cpp/core.cpp:104:\n[GPU] Exceeded max size of memory "
                  "object allocation: requested 9437184000 bytes, but max alloc size supported by device is 4294959104 "
                  "bytes.\n"),
            "micro-batch fewer-bits openvino-device");
}

TEST(Advice, NamesTheLimitOfWhoeverSetIt) {
  const auto limit = [](const std::string& cgroup) {
    return text_of("oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=a,mems_allowed=0,oom_memcg=" + cgroup +
                       ",task_memcg=" + cgroup +
                       ",task=python3,pid=4242,uid=1000\nMemory cgroup out of memory: Killed process 4242 (python3) "
                       "total-vm:91234567kB, anon-rss:64000000kB, file-rss:0kB, shmem-rss:0kB\n",
                   "raise-limit");
  };
  EXPECT_TRUE(contains(limit("/slurm/uid_1000/job_777/step_0/task_2"), "sbatch --mem"));
  EXPECT_TRUE(contains(limit("/kubepods.slice/kubepods-pod1.slice"), "resources.limits.memory"));
  EXPECT_TRUE(contains(limit("/docker/4cd9a"), "docker -m"));
}

TEST(Advice, OfSharedMemoryIsNotToOffload) {
  EXPECT_TRUE(to_do("GPU 0: NVIDIA GB10\n" + full).starts_with("unified-memory smaller-model "));
  EXPECT_FALSE(contains(to_do("GPU 0: NVIDIA H100\n" + full), "unified-memory"));
}

std::string smi(int used0, int used1) {
  return "|   0  NVIDIA A100-SXM4-80GB          On  | 00000000:07:00.0 Off |                    0 |\n"
         "| N/A   30C    P0              60W / 400W |  " +
         std::to_string(used0) +
         "MiB / 81920MiB |      0%      Default |\n"
         "|   1  NVIDIA A100-SXM4-80GB          On  | 00000000:0F:00.0 Off |                    0 |\n"
         "| N/A   29C    P0              60W / 400W |  " +
         std::to_string(used1) + "MiB / 81920MiB |      0%      Default |\n";
}

TEST(Advice, NamesTheGpuThatIsFree) {
  EXPECT_EQ(finding(smi(80896, 0) + full, "free_gpu_beside"),
            "GPU 1 has 80.00 GiB of 80.00 GiB free in nvidia-smi's table, beside GPU 0, which has 1.00 GiB");
  EXPECT_TRUE(to_do(smi(80896, 0) + full).starts_with("free-gpu "));
  EXPECT_EQ(finding(smi(80896, 8193) + full, "free_gpu_beside"), "");  // in use
  EXPECT_EQ(finding(smi(40959, 0) + full, "free_gpu_beside"), "");     // another table than the failure's
  EXPECT_EQ(finding(smi(80896, 0) + "CUDA error: out of memory\n", "free_gpu_beside"), "");
}

TEST(Questions, CanBeAskedOnThatPlatform) {
  const auto asked = [](const std::string& log, const std::string& part) {
    const Diagnosis d = diagnosed(log);
    return std::ranges::any_of(d.to_prove, [&](const std::string& ask) { return contains(ask, part); });
  };
  const std::string mps =
      "RuntimeError: MPS backend out of memory (MPS allocated: 3.00 GB, other allocations: 1.90 GB, max allowed: 32.00 "
      "GB). Tried to allocate 129.00 MB on private pool.\n";
  EXPECT_TRUE(asked(mps, "torch.mps"));
  EXPECT_FALSE(asked(mps, "nvidia-smi"));
  const std::string jax =
      "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 17179869184 "
      "bytes.\n";
  EXPECT_TRUE(asked(jax, "memory_stats"));
  EXPECT_FALSE(asked(jax, "import torch"));
  EXPECT_TRUE(asked("RuntimeError: CUDA error: out of memory\n", "nvidia-smi"));
}

TEST(Questions, AreOfTheLauncherThatTheLogShows) {
  const auto asked = [](const std::string& log) { return diagnosed(log).to_prove; };
  EXPECT_TRUE(contains(asked("python train.py\nKilled\n").back(), "whatever started it"));
  EXPECT_FALSE(contains(asked("##[error]Process completed with exit code 137.\n").back(), "whatever started it"));
  const std::vector<std::string> mac = asked("zsh: killed     python3 train.py\n");
  EXPECT_FALSE(mac.empty());
  EXPECT_TRUE(std::ranges::none_of(mac, [](const std::string& ask) { return contains(ask, "dmesg"); }));
}

TEST(Questions, OfAKillStandBesideWhatTheLogShows) {
  const Diagnosis d = diagnosed("2024-05-01 10:00:00,123 step 7 loss 2.0\nKilled\n");
  ASSERT_EQ(d.verdict.cause, Cause::sigkill_unknown);
  std::string shows;
  for (const Shown& s : d.shows) shows += s.what + "=" + s.text + ";";
  EXPECT_EQ(shows, "last line=Killed;last time=2024-05-01 10:00:00,123;last step=7;");
}

TEST(Suggestions, AreJudgedByTheVerdict) {
  const std::string vllm = "Try increasing `gpu_memory_utilization` when initializing the engine.\n";
  const std::string other =
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 112.00 MiB. GPU 0 has a total "
      "capacity of 79.15 GiB of which 21.52 MiB is free. Process 1234 has 78.50 GiB memory in use. "
      "Including non-PyTorch memory, this process has 512.00 MiB memory in use. Of the allocated "
      "memory 10.00 MiB is allocated by PyTorch, and 2.31 MiB is reserved by PyTorch but unallocated.\n";
  EXPECT_TRUE(contains(finding(vllm + other, "log_suggestion"), "the wrong way"));
  EXPECT_TRUE(contains(finding(vllm + full, "log_suggestion_fits"), "a higher gpu_memory_utilization, which fits"));
  EXPECT_EQ(finding(full, "log_suggestion_fits"), "");
  EXPECT_EQ(finding(vllm + "MemoryError\n", "log_suggestion_fits"), "");
}

// The line that suggests a setting sets nothing.
TEST(Suggestions, SetNothing) {
  const std::string oom_of_tf =
      "tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor with "
      "shape[64,512,128,128] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by "
      "allocator GPU_0_bfc [Op:Conv2D]\n";
  const std::string suggestion =
      "If the cause is memory fragmentation maybe the environment variable "
      "'TF_GPU_ALLOCATOR=cuda_malloc_async' will improve the situation.\n";
  EXPECT_TRUE(contains(to_do(suggestion + oom_of_tf), "tf-allocator"));
  EXPECT_NE(finding(suggestion + oom_of_tf, "log_suggestion_fits"), "");
  EXPECT_FALSE(contains(to_do("TF_GPU_ALLOCATOR=cuda_malloc_async\n" + oom_of_tf), "tf-allocator"));
}

TEST(Rank, IsOfTheTaskThatTheKernelKilled) {
  const auto kill = [](const std::string& cgroup) {
    return "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=a,mems_allowed=0,oom_memcg=/slurm/"
           "job_7,task_memcg=" +
           cgroup +
           ",task=python3,pid=4242,uid=1000\nMemory cgroup out of memory: Killed process 4242 (python3) "
           "total-vm:91234567kB, anon-rss:64000000kB, file-rss:0kB, shmem-rss:0kB\n";
  };
  EXPECT_EQ(diagnosed(kill("/slurm/job_7/step_0/task_2")).rank, 2);
  EXPECT_FALSE(diagnosed(kill("/slurm/job_7/step_0")).rank.has_value());
  EXPECT_EQ(diagnosed(kill("/slurm/job_7/step_0/task_2") + "srun: error: n5: task 10: Killed\n").rank, 10);
  EXPECT_FALSE(diagnosed(kill("/slurm/job_7/step_0") + "srun: error: n5: tasks 0-3: Killed\n").rank.has_value());
}

TEST(Lines, ThatFollowAreNotListedTwice) {
  const Diagnosis d = diagnosed(
      full +
      "[rank0]: ERROR torch.distributed.DistBackendError: NCCL communicator was aborted on rank 0. Original reason for "
      "failure was: [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=102, OpType=ALLREDUCE) ran "
      "for "
      "600010 milliseconds before timing out.\n");
  ASSERT_EQ(d.consequences.size(), 1);
  for (const Evidence& e : d.supporting) EXPECT_NE(e.line, d.consequences.front().line);
}

}  // namespace
}  // namespace oomplan::diagnose
