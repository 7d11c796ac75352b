// Advice fits the moment, the framework and the launcher, and names nothing that is on already.
#include <gtest/gtest.h>

#include <algorithm>

#include "rules.hpp"
#include "support.hpp"

namespace oomplan::diagnose {
namespace {

std::string traced(const std::string& path, const std::string& function, const std::string& code) {
  return "Traceback (most recent call last):\n  File \"" + path + "\", line 5, in " + function + "\n    " + code +
         "\n" + oom(2, 80, 1, 78, 76, 1);
}

bool advises(const Diagnosis& d, const std::string& id) {
  return std::any_of(d.to_do.begin(), d.to_do.end(), [&](const Fix& f) { return f.id == id; });
}

std::string first(const Diagnosis& d) { return d.to_do.empty() ? std::string() : d.to_do.front().id; }

TEST(Advice, LeadsWithWhatAttacksTheFailingAllocation) {
  EXPECT_EQ(first(diagnosed(traced("m.py", "forward", "loss = F.cross_entropy(a, b)"))), "fused-loss");
  EXPECT_EQ(first(diagnosed(traced("torch/optim/adamw.py", "step", "adamw("))), "adamw-8bit");
  EXPECT_EQ(first(diagnosed(traced("t.py", "evaluate", "out = model(x)"))), "evaluation");
}

TEST(Advice, OfTrainingIsNotGivenToServers) {
  const Diagnosis d = diagnosed(
      "ValueError: To serve at least one request with the models's max seq len (131072), (16.00 GiB KV cache is "
      "needed, "
      "which is larger than the available KV cache memory (7.32 GiB).\n");
  EXPECT_TRUE(advises(d, "vllm-length"));
  EXPECT_FALSE(advises(d, "gradient-checkpointing"));
}

TEST(Advice, DoesNotNameWhatIsOn) {
  const std::string trace = traced("m.py", "forward", "y = self.conv(x)");
  EXPECT_TRUE(advises(diagnosed(trace), "gradient-checkpointing"));
  const Diagnosis on = diagnosed("args: gradient_checkpointing=True,\n" + trace);
  EXPECT_FALSE(advises(on, "gradient-checkpointing"));
  EXPECT_TRUE(std::any_of(on.not_to_do.begin(), on.not_to_do.end(), [](const Fix& f) {
    return f.id == "gradient-checkpointing" && f.text.ends_with("line 1.");
  }));
}

TEST(Advice, NamesNothingThatASettingShows) {
  const auto told = [](const std::string& setting, const std::string& rest) {
    const Diagnosis d = diagnosed(setting + "\n" + rest);
    std::string ids;
    for (const Fix& fix : d.not_to_do) {
      if (!fix.text.starts_with("It is so already")) continue;
      ids += (ids.empty() ? "" : " ") + fix.id;
      EXPECT_FALSE(advises(d, fix.id));
    }
    return ids;
  };
  const std::string training = traced("m.py", "forward", "y = self.conv(x)");
  EXPECT_EQ(told("micro_batch_size: 1", training), "micro-batch");
  EXPECT_EQ(told("micro_batch_size: 2", training), "");
  EXPECT_EQ(told("+ torchrun t.py --use_liger_kernel True --recompute-granularity full", training),
            "gradient-checkpointing fused-loss");
  EXPECT_EQ(told("XLA_PYTHON_CLIENT_PREALLOCATE=false",
                 "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of "
                 "memory while trying to allocate 17179869184 bytes.\n"),
            "jax-fraction");
  const std::string mps =
      "RuntimeError: MPS backend out of memory (MPS allocated: 30.00 GB, other allocations: 1.90 GB, max allowed: "
      "32.00 "
      "GB). Tried to allocate 129.00 MB on private pool. Use PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 to disable upper "
      "limit for memory allocations (may cause system failure).\n";
  EXPECT_EQ(told("PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 python train.py", mps), "mps-watermark");
  EXPECT_EQ(told("python train.py", mps), "");  // the message itself suggests it
}

TEST(Advice, OfASecondStepIsOfTheOptimizersState) {
  const std::string trace = traced("m.py", "forward", "y = self.conv(x)");
  EXPECT_EQ(first(diagnosed("  0%| | 1/939 [00:02<31:00, 2.0s/it]\n" + trace)), "adamw-8bit");
  EXPECT_EQ(first(diagnosed("  0%| | 2/939 [00:02<31:00, 2.0s/it]\n" + trace)), "gradient-checkpointing");
  EXPECT_EQ(first(diagnosed("  0%| | 1/939 [00:02<31:00, 2.0s/it]\n" + traced("t.py", "evaluate", "x"))), "evaluation");
  // Plain SGD has none, an adapter's is small, and who generates has no optimizer.
  for (const char* line : {"optimizer: sgd\n", "Optimizer: SGD, lr 0.1\n", "Using LoRA with r=16\n",
                           "trainable%: 0.04\n", "out = model.generate(ids)\n", "Generating answers\n"})
    EXPECT_NE(first(diagnosed(line + ("  0%| | 1/939 [00:02<31:00, 2.0s/it]\n" + trace))), "adamw-8bit") << line;
}

// The numbers of the failure stand whatever program it was.
TEST(Advice, OfOthersStandsBesideAProgramsOwn) {
  const std::string log =
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB. GPU 0 has a total capacity of 24.00 GiB "
      "of which 512.00 MiB is free. Process 77 has 2.50 GiB memory in use. Including non-PyTorch memory, this process "
      "has 21.00 GiB memory in use. Of the allocated memory 20.00 GiB is allocated by PyTorch, and 512.00 MiB is "
      "reserved by PyTorch but unallocated.\n";
  EXPECT_EQ(first(diagnosed(log)), "other-processes");
  EXPECT_EQ(first(diagnosed("INFO 01-01 10:00:00 vllm/worker/worker.py: loading\n" + log)), "other-processes");
  EXPECT_NE(to_do("INFO 01-01 10:00:00 vllm/worker/worker.py: loading\n" + log), to_do(log));
}

TEST(Advice, IsAlreadySoInTrainingOnly) {
  const std::string trace = traced("m.py", "forward", "y = self.conv(x)");
  const auto so = [](const Diagnosis& d) {
    return std::any_of(d.not_to_do.begin(), d.not_to_do.end(), [](const Fix& f) { return f.id == "micro-batch"; });
  };
  EXPECT_TRUE(so(diagnosed("train:\n  batch_size: 1\n" + trace)));
  EXPECT_TRUE(so(diagnosed("inference:\n  batch_size: 8\ntrain:\n  batch_size: 1\n" + trace)));
  for (const char* text :
       {"inference:\n  batch_size: 1\n", "inference: {batch_size: 1}\n", "saved to runs/batch_size=1/model.pt\n",
        "dev:\n  batch_size: 1\n", "reward_model.batch_size=1\n", "eval:\n  data:\n    batch_size: 1\n"})
    EXPECT_FALSE(so(diagnosed(text + trace))) << text;
}

TEST(Advice, OfAnEvaluationIsNotOfItsBar) {
  const Diagnosis d = diagnosed(
      " 50%|#| 500/1000 [10:00<10:00,  1.20s/it]\n***** Running Evaluation *****\n 88%|#| 2200/2500 [05:00<00:30,  "
      "9.2it/s]\n" +
      traced("t.py", "evaluate", "x"));
  EXPECT_EQ(d.moment.step, 500);
  EXPECT_EQ(first(d), "evaluation");
  EXPECT_FALSE(advises(d, "packing"));
  EXPECT_TRUE(std::none_of(d.alternatives.begin(), d.alternatives.end(),
                           [](const Judgement& j) { return j.cause == Cause::vram_leak_suspected; }));
}

TEST(Advice, JudgesTheLogsOwn) {
  const std::string hint =
      "If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to "
      "avoid "
      "fragmentation.\n";
  const auto judged = [](const Diagnosis& d) {
    return std::any_of(d.also.begin(), d.also.end(), [](const Finding& f) { return f.id == "log_suggestion"; });
  };
  EXPECT_TRUE(judged(diagnosed(oom(2, 80, 1, 78, 76, 1) + hint)));
  EXPECT_FALSE(judged(diagnosed(oom(4, 80, 1, 78, 60, 16) + hint)));
}

TEST(Advice, NamesTheSchedulersOption) {
  EXPECT_EQ(first(diagnosed("=>> PBS: job killed: vmem 3372163072 exceeded limit 2147483648\n")), "pbs-limit");
  EXPECT_EQ(first(diagnosed("TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.\n")), "lsf-limit");
}

/// Nothing is advised and advised against, under whatever name, and nothing twice.
void expect_consistent(const Diagnosis& d, const std::string& log) {
  const Rules& rules = book().rules();
  for (std::size_t i = 0; i < d.to_do.size(); ++i) {
    for (std::size_t j = i + 1; j < d.to_do.size(); ++j) EXPECT_NE(d.to_do[i].id, d.to_do[j].id) << log;
    for (const Fix& fix : d.not_to_do) {
      const bool on =
          fix.text.find("already") != std::string::npos;  // a fact, which speaks against no other of its kind
      EXPECT_FALSE(on ? d.to_do[i].id == fix.id : rules.are_alike(d.to_do[i].id, fix.id))
          << d.to_do[i].id << ": " << log;
    }
    const bool of_allocator = rules.are_alike(d.to_do[i].id, "expandable-segments");
    for (const Finding& finding : d.also)
      EXPECT_FALSE(of_allocator && (finding.id == "request_exceeds_total" || finding.id == "log_suggestion")) << log;
  }
}

// Each sentence, each moment that frames can tell, each sign that some advice goes by.
TEST(Advice, NeverContradictsItself) {
  const Rules& rules = book().rules();
  std::vector<std::string> moments{""};
  for (const MomentText& moment : rules.moments)
    if (!moment.functions.empty())
      moments.push_back("Traceback (most recent call last):\n  File \"t.py\", line 5, in " + moment.functions.front() +
                        "\n    x()\n");
  for (const Sentence& sentence : rules.sentences)
    if (sentence.says <= Says::killed)
      for (const std::string& moment : moments) {
        const std::string log = moment + sentence.examples.front().text + "\n";
        expect_consistent(diagnosed(log), log);
      }
  const std::vector<std::string> failures{
      oom(2, 80, 1, 78, 76, 1),
      oom(4, 80, 1, 78, 60, 16),
      oom(200, 80, 1, 78, 76, 1),
      oom(2, 80, 1, 30, 29, 1),
      "python train.py\nKilled\n",
      "MemoryError\n",
      "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`\n"};
  for (const AdviceText& advice : rules.advice)
    for (const std::string& sign : advice.signs)
      for (const std::string& failure : failures) expect_consistent(diagnosed(sign + "\n" + failure), sign + failure);
}

TEST(Advice, OfOneMeasureIsOneWhateverItsName) {
  const Rules& rules = book().rules();
  EXPECT_TRUE(rules.are_alike("max-split-size", "expandable-segments"));
  EXPECT_FALSE(rules.are_alike("max-split-size", "micro-batch"));
  const Diagnosis d = diagnosed(
      "I tensorflow/core\nOOM when allocating tensor with shape[9,9] and type float on "
      "/job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc\n");
  ASSERT_TRUE(advises(d, "tf-allocator"));
  EXPECT_TRUE(
      std::none_of(d.not_to_do.begin(), d.not_to_do.end(), [](const Fix& f) { return f.id == "expandable-segments"; }));
}

}  // namespace
}  // namespace oomplan::diagnose
