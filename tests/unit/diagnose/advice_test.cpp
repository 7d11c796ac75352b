// Advice fits the moment, the framework and the launcher, and names nothing that is on already.
#include <gtest/gtest.h>

#include <algorithm>

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

}  // namespace
}  // namespace oomplan::diagnose
