#include "oomplan/compare/compare.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace oomplan {
namespace {

using Action = SnapshotEvent::Action;
constexpr std::int64_t mib = 1 << 20;
constexpr std::int64_t base = std::int64_t{1} << 40;

/// A run written by hand; each allocation has a segment of its own.
class Written {
 public:
  std::uint32_t stack(std::vector<SnapshotFrame> frames) {
    SnapshotStack stack;
    for (SnapshotFrame& frame : frames) {
      stack.push_back(static_cast<std::uint32_t>(out.frames.size()));
      out.frames.push_back(std::move(frame));
    }
    out.stacks.push_back(std::move(stack));
    return static_cast<std::uint32_t>(out.stacks.size() - 1);
  }
  /// As an export has it.
  std::uint32_t own(const char* op, const char* bucket, const std::string& moment) {
    return stack({{"model.layers.0", 0, op}, {"oomplan", 0, bucket}, {"oomplan", 0, moment}});
  }
  std::int64_t make(std::int64_t size, std::uint32_t at) {
    const std::int64_t address = base + 1024 * mib * next_++;
    trace().push_back({.action = Action::segment_alloc, .stack = at, .address = address, .size = segment(size)});
    trace().push_back({.action = Action::allocate, .stack = at, .address = address, .size = size});
    live_[address] = {size, at};
    return address;
  }
  void drop(std::int64_t address) {
    trace().push_back({.action = Action::free, .address = address, .size = live_[address].first});
    const std::int64_t size = live_[address].first;
    live_.erase(address);
    free_[address] = size;
  }
  Snapshot done() {
    for (const auto& [address, held] : live_) add(address, held.first, SnapshotBlock::State::active, held.second);
    for (const auto& [address, size] : free_) add(address, size, SnapshotBlock::State::inactive, 0);
    return out;
  }
  std::vector<SnapshotEvent>& trace() {
    if (out.traces.empty()) out.traces.emplace_back();
    return out.traces[0];
  }
  Snapshot out{.file = "snapshot", .stacks = {{}}};

 private:
  static std::int64_t segment(std::int64_t size) { return (size + 2 * mib - 1) / (2 * mib) * (2 * mib); }
  void add(std::int64_t address, std::int64_t size, SnapshotBlock::State state, std::uint32_t at) {
    out.segments.push_back(
        {.size = segment(size),
         .blocks = {{.state = state, .stack = at, .address = address, .size = segment(size), .asked = size}},
         .address = address});
  }
  std::int64_t next_ = 0;
  std::map<std::int64_t, std::pair<std::int64_t, std::uint32_t>> live_{};
  std::map<std::int64_t, std::int64_t> free_{};
};

/// Weights, two steps of activations, gradients and the optimizer's state.
Snapshot predicted() {
  Written run;
  run.make(100 * mib, run.own("parameter", "weights", "load of step 0"));
  for (int step = 1; step <= 2; ++step) {
    const std::string of = " of step " + std::to_string(step);
    const auto saved = run.make(40 * mib, run.own("aten::mm", "activations", "forward" + of));
    const auto gradient = run.make(100 * mib, run.own("gradient", "gradients", "backward" + of));
    run.drop(saved);
    if (step == 1) run.make(200 * mib, run.own("exp_avg", "optimizer", "optimizer_step" + of));
    const auto temporary = run.make(30 * mib, run.own("aten::sqrt", "temporaries", "optimizer_step" + of));
    run.drop(temporary);
    run.drop(gradient);
  }
  return run.done();
}

struct Planted {
  std::int64_t saved = 40 * mib;
  bool extra = false;
  int steps = 2;
  bool cut = false;
  bool late = false;      ///< A gradient is freed in the next step.
  bool kept = false;      ///< What the second step saves is never freed.
  std::string stopped{};  ///< Within that phase of the last step.
};

/// The same as PyTorch records it, with frames of Python.
Snapshot recorded(const Planted& planted) {
  Written run;
  const auto weights = run.stack({{"torch/nn/modules/module.py", 900, "_apply"}, {"train.py", 3, "main"}});
  const auto forward = run.stack({{"torch/nn/modules/module.py", 1700, "_call_impl"}, {"model.py", 7, "forward"}});
  const auto begins = run.stack({{"torch/autograd/__init__.py", 340, "backward"}, {"train.py", 9, "main"}});
  const auto optimizer = run.stack({{"torch/optim/adamw.py", 100, "step"}, {"train.py", 10, "main"}});
  const auto hook = run.stack({{"hooks.py", 5, "log"}, {"torch/nn/modules/module.py", 1700, "_call_impl"}});
  run.make(100 * mib, weights);
  std::vector<std::int64_t> left;
  for (int step = 1; step <= planted.steps; ++step) {
    const auto saved = run.make(planted.saved, forward);
    for (const std::int64_t gradient : std::exchange(left, {})) run.drop(gradient);
    const std::string stopped = step == planted.steps ? planted.stopped : "";
    if (planted.extra && step == 2) run.make(7 * mib, hook);
    if (stopped == "forward") break;
    const auto gradient = run.make(100 * mib, begins);
    if (stopped == "backward") break;
    if (!planted.kept || step != 2) run.drop(saved);
    if (step == 1) run.make(200 * mib, optimizer);
    const auto temporary = run.make(30 * mib, optimizer);
    if (stopped == "optimizer_step") break;
    run.drop(temporary);
    if (planted.late && step == 2) left.push_back(gradient);
    if (left.empty()) run.drop(gradient);
  }
  Snapshot out = run.done();
  if (planted.cut) {
    const auto first = std::ranges::find(out.traces[0], 30 * mib, &SnapshotEvent::size);
    out.traces[0].erase(out.traces[0].begin(), first + 1);
  }
  return out;
}

TEST(Compare, FramesOfPythonTellThePhases) {
  const Result<Comparison> found = compare(predicted(), recorded({}), 0);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->told_by, ToldBy::frames);
  EXPECT_EQ(found->coverage, Coverage::whole);
  EXPECT_EQ(found->steps, 2);
  EXPECT_TRUE(found->is_same());
  EXPECT_EQ(found->ends.optimizer_state, true);
}

TEST(Compare, TheFirstDifferenceIsTheTensorMore) {
  const Result<Comparison> found = compare(predicted(), recorded({.extra = true}), 0);
  ASSERT_TRUE(found);
  ASSERT_TRUE(found->first);
  EXPECT_EQ(found->first->kind, DifferenceKind::only_observed);
  EXPECT_EQ(found->first->observed, Bytes::mib(7));
  EXPECT_EQ(found->first->at, (PhaseOfStep{Phase::forward, 2}));
  EXPECT_EQ(found->first->frames.front(), "hooks.py:5 log");
  EXPECT_EQ(found->differences.size(), 1U);
}

TEST(Compare, WhatWouldFollowAStopIsNoDifference) {
  for (const int steps : {1, 2}) {
    for (const char* phase : {"forward", "backward", "optimizer_step"}) {
      const Result<Comparison> found = compare(predicted(), recorded({.steps = steps, .stopped = phase}), 0);
      ASSERT_TRUE(found);
      EXPECT_TRUE(found->is_same()) << phase << steps;
      EXPECT_TRUE(found->ends_early);
      EXPECT_EQ(found->predicted_allocated, found->observed_allocated) << phase << steps;
    }
  }
}

TEST(Compare, ATensorMoreStaysTheOnlyDifferenceOfARunThatStopped) {
  const Result<Comparison> found = compare(predicted(), recorded({.extra = true, .stopped = "backward"}), 0);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->differences.size(), 1U);
  EXPECT_EQ(found->differences[0].observed, Bytes::mib(7));
}

TEST(Compare, WhatAThirdStepFreesIsNotHeldToTheEnd) {
  const Result<Comparison> found = compare(predicted(), recorded({.steps = 3, .late = true}), 0);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->steps, 3);
  EXPECT_TRUE(found->is_same());
}

TEST(Compare, WhatIsInUseAfterAThirdStepIsHeldToTheEnd) {
  const Result<Comparison> found = compare(predicted(), recorded({.steps = 3, .kept = true}), 0);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->differences.size(), 1U);
  EXPECT_EQ(found->differences[0].kind, DifferenceKind::freed_later);
  EXPECT_EQ(found->differences[0].predicted, Bytes::mib(40));
  EXPECT_EQ(found->differences[0].entry, 0);
}

TEST(Compare, ATensorOfAnotherSizeStandsInPlaceOfThePredicted) {
  const Result<Comparison> found = compare(predicted(), recorded({.saved = 20 * mib}), 0);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->differences.size(), 1U);
  EXPECT_EQ(found->differences[0].kind, DifferenceKind::other_size);
  EXPECT_EQ(found->differences[0].count, 2);
  EXPECT_EQ(found->differences[0].bytes(), Bytes::mib(40));
  EXPECT_EQ(found->differences[0].tensor->op, "aten::mm");
}

TEST(Compare, OfATraceThatIsCutTheFirstWholeStepIsHeldAgainstTheSecond) {
  const Result<Comparison> found = compare(predicted(), recorded({.steps = 4, .cut = true}), 0);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->coverage, Coverage::cut);
  EXPECT_EQ(found->begins.optimizer_state, true);
  EXPECT_GT(found->lined_up, 0);
  EXPECT_FALSE(found->first) << name_of(found->first->kind) << found->first->predicted.count();
  EXPECT_TRUE(found->is_same());
}

TEST(Compare, WithoutATraceWhatIsInUseTellsTheMoment) {
  Snapshot end = recorded({});
  end.traces.clear();
  const Result<Comparison> found = compare(predicted(), end, 0);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->coverage, Coverage::end_only);
  EXPECT_EQ(found->ends.optimizer_state, true);
  EXPECT_FALSE(found->observed_allocated);
  EXPECT_TRUE(found->is_same());
}

TEST(Compare, AnotherRunIsUndecided) {
  Written other;
  for (int i = 0; i < 4; ++i) other.make((i + 1) * 300 * mib, 0);
  Snapshot end = other.done();
  end.traces.clear();
  const Result<Comparison> found = compare(predicted(), end, 0);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->is_lined_up());
  EXPECT_FALSE(found->ends.undecided.empty());
}

}  // namespace
}  // namespace oomplan
