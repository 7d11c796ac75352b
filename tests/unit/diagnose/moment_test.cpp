#include <gtest/gtest.h>

#include "support.hpp"

namespace oomplan::diagnose {
namespace {

std::string traced(const std::string& frames) {
  return "Traceback (most recent call last):\n  File \"train.py\", line 9, in <module>\n    main()\n" + frames +
         oom(2, 80, 1, 78, 76, 1);
}

std::string phase(const std::string& text) { return diagnosed(text).moment.phase; }

std::string frame(const std::string& path, const std::string& function, const std::string& code) {
  return "  File \"" + path + "\", line 5, in " + function + "\n    " + code + "\n";
}

TEST(Moment, ComesFromTheFrames) {
  EXPECT_EQ(phase(traced(frame("torch/optim/adamw.py", "step", "adamw("))), "optimizer_step");
  EXPECT_EQ(phase(traced(frame("torch/autograd/graph.py", "_engine_run_backward", "return run("))), "backward");
  EXPECT_EQ(phase(traced(frame("m.py", "forward", "y = self.conv(x)"))), "forward");
  EXPECT_EQ(phase(traced(frame("m.py", "f", "w = attn_weights.softmax(-1)"))), "attention");
  EXPECT_EQ(phase(traced(frame("m.py", "forward", "loss = F.cross_entropy(a, b)"))), "loss");
  EXPECT_EQ(phase(traced(frame("t.py", "evaluate", "out = model(x)") + frame("m.py", "forward", "y = x"))),
            "evaluation");
  EXPECT_EQ(phase(traced(frame("m.py", "from_pretrained", "x"))), "load");
  EXPECT_EQ(phase(traced(frame("s.py", "save_checkpoint", "torch.save(x)"))), "checkpoint_save");
}

TEST(Moment, InAClosureIsNotTheOptimizers) {
  EXPECT_EQ(phase(traced(frame("torch/optim/adam.py", "step", "loss = closure()") + frame("l.py", "closure", "x") +
                         frame("m.py", "forward", "y = x"))),
            "forward");
}

TEST(Moment, ComesFromProgressWhereThereAreNoFrames) {
  EXPECT_EQ(phase("***** Running Evaluation *****\n" + oom(2, 80, 1, 78, 76, 1)), "evaluation");
  EXPECT_EQ(phase("***** Running Evaluation *****\nstep 5 loss 1\n" + oom(2, 80, 1, 78, 76, 1)), "unknown");
  EXPECT_EQ(diagnosed("step 41 loss 1\nstep 42 loss 1\n" + oom(2, 80, 1, 78, 76, 1)).moment.step, 42);
}

// An evaluation of as many batches as training has steps draws a bar of the same length.
TEST(Moment, CountsNoStepOfAnEvaluationsBar) {
  const auto bar = [](int step) { return "  1%|#| " + std::to_string(step) + "/1000 [10:00<10:00,  1.20s/it]\n"; };
  const std::string failure = oom(2, 80, 1, 78, 76, 1);
  const std::string evaluation = "***** Running Evaluation *****\n" + bar(1) + bar(300) + bar(700);
  EXPECT_EQ(diagnosed(bar(499) + bar(500) + evaluation + failure).moment.step, 500);
  EXPECT_EQ(diagnosed(bar(499) + bar(500) + evaluation + bar(501) + failure).moment.step, 501);
}

TEST(Moment, CountsTheBatchesOfAnEpochWithinABarOfEpochs) {
  const auto bar = [](const std::string& label, int step, int steps) {
    return label + "  3%|#| " + std::to_string(step) + "/" + std::to_string(steps) + " [10:00<10:00,  1.20s/it]\n";
  };
  const auto batches = [&](int last) { return bar("", 1, 50) + bar("", 2, 50) + bar("", last, 50); };
  const std::string failure = oom(2, 80, 1, 78, 76, 1);
  EXPECT_EQ(diagnosed(bar("Epochs:", 3, 100) + batches(20) + failure).moment.step, 20);
  EXPECT_EQ(diagnosed(bar("", 3, 100) + batches(50) + bar("", 4, 100) + batches(20) + failure).moment.step, 20);
  EXPECT_EQ(diagnosed(bar("", 30, 100) + batches(50) + bar("", 60, 100) + batches(20) + failure).moment.step, 60);
}

TEST(Moment, OfAFrameGoesBeforeThatOfProgress) {
  const std::string step = traced(frame("torch/optim/adamw.py", "step", "adamw("));
  EXPECT_EQ(phase("***** Running Evaluation *****\n" + step), "optimizer_step");
}

TEST(Moment, OfARankIsItsOwn) {
  const std::string others =
      "[rank1]: Traceback (most recent call last):\n[rank1]:   File \"torch/optim/adamw.py\", line 1, in step\n";
  EXPECT_EQ(
      phase(others +
            "[rank0]: Traceback (most recent call last):\n[rank0]:   File \"m.py\", line 2, in forward\n[rank0]: " +
            oom(2, 80, 1, 78, 76, 1)),
      "forward");
}

TEST(Moment, OfASnapshotComesFromNoLine) {
  Snapshot snapshot{.file = "snapshot"};
  snapshot.stacks = {{}};
  snapshot.traces = {{{SnapshotEvent::Action::out_of_memory, 0, 1 << 20, 1 << 30}}};
  for (const std::string& log : {std::string(), frame("torch/optim/adamw.py", "step", "adamw(")}) {
    Inquest inquest(book());
    inquest.begin("log");
    inquest.read(log);
    inquest.add(snapshot);
    const Diagnosis said = inquest.finish();
    EXPECT_EQ(said.verdict.cause, Cause::vram_exhausted);
    EXPECT_EQ(said.moment.phase, "unknown");
  }
}

}  // namespace
}  // namespace oomplan::diagnose
