#include <gtest/gtest.h>

#include "oomplan/diagnose/diagnose.hpp"

namespace oomplan {
namespace {

using Action = SnapshotEvent::Action;
using State = SnapshotBlock::State;

constexpr std::int64_t mib = 1 << 20;
constexpr std::uint32_t leak = 1, backward = 2, load = 3;

Snapshot with_frames() {
  Snapshot out{.file = "snapshot"};
  out.frames = {{"train.py", 7, "keep"},
                {"/lib/torch/autograd/__init__.py", 347, "backward"},
                {"/lib/torch/nn/modules/module.py", 927, "_apply"},
                {"train.py", 3, "build"}};
  out.stacks = {{}, {0}, {1, 0}, {2, 3}};
  out.traces.emplace_back();
  return out;
}

/// Steps of one allocation that is freed, and one that is not, of `kept` bytes.
void add_steps(Snapshot& snapshot, int steps, std::int64_t kept) {
  for (int i = 0; i < steps; ++i) {
    std::vector<SnapshotEvent>& trace = snapshot.traces[0];
    if (kept > 0) trace.push_back({Action::allocate, leak, 1000 + i, kept});
    trace.push_back({Action::allocate, backward, 1, mib});
    trace.push_back({Action::free, backward, 1, mib});
    trace.push_back({Action::allocate, load, 2, mib});
    trace.push_back({Action::free, load, 2, mib});
  }
}

TEST(MemoryAccount, CountsWhatIsHeldFast) {
  Snapshot snapshot = with_frames();
  snapshot.segments = {
      {0, 10 * mib, false, {{State::active, load, 0, 4 * mib}, {State::inactive, 0, 4 * mib, 6 * mib}}},
      {0, 20 * mib, false, {{State::inactive, 0, 100 * mib, 20 * mib}}}};
  const MemoryAccount account = accounts_of(snapshot).at(0);
  EXPECT_EQ(account.reserved, 30 * mib);
  EXPECT_EQ(account.active, 4 * mib);
  EXPECT_EQ(account.split, 6 * mib);  // the other segment could be given back
  EXPECT_EQ(account.splits, 1);
  ASSERT_EQ(account.categories.size(), 1U);
  EXPECT_EQ(account.categories[0].name, "weights");
  EXPECT_EQ(account.lines.at(0).name, "train.py:3 build");
}

TEST(MemoryAccount, FindsWhatGrows) {
  Snapshot snapshot = with_frames();
  add_steps(snapshot, 10, mib);
  const MemoryAccount account = accounts_of(snapshot).at(0);
  EXPECT_EQ(account.steps, 10);
  ASSERT_EQ(account.growth.size(), 1U);
  EXPECT_EQ(account.growth[0].held.name, "train.py:7 keep");
  EXPECT_EQ(account.growth[0].steps, 8);
  EXPECT_EQ(account.growth[0].grown, 8 * mib);
}

TEST(MemoryAccount, WhatIsFreedOrSmallOrEarlyIsNoLeak) {
  for (const std::int64_t kept : {std::int64_t{0}, mib / 10}) {
    Snapshot snapshot = with_frames();
    add_steps(snapshot, 10, kept);
    EXPECT_TRUE(accounts_of(snapshot).at(0).growth.empty());
  }
  Snapshot few = with_frames();
  add_steps(few, 4, mib);
  EXPECT_TRUE(accounts_of(few).at(0).growth.empty());
}

TEST(MemoryAccount, AtTheFailureCountsWhatWasFreedSince) {
  Snapshot snapshot = with_frames();
  snapshot.traces[0] = {{Action::allocate, load, 1, 8 * mib},
                        {Action::out_of_memory, leak, 3 * mib, 64 * mib},
                        {Action::free, load, 1, 8 * mib}};
  const MemoryAccount account = accounts_of(snapshot).at(0);
  EXPECT_EQ(account.requested, 64 * mib);
  EXPECT_EQ(account.device_free, 3 * mib);
  EXPECT_EQ(account.held, 8 * mib);
  EXPECT_FALSE(account.went_on);
}

TEST(MemoryAccount, AFailureThatTheRunOutlivedIsNone) {
  Snapshot snapshot = with_frames();
  snapshot.traces[0] = {{Action::out_of_memory, leak, 3 * mib, 64 * mib}};
  add_steps(snapshot, 100, 0);
  EXPECT_TRUE(accounts_of(snapshot).at(0).went_on);
}

TEST(MemoryAccount, TheUsersLineIsTheInnermostOfPythonOutsideLibraries) {
  const auto line_of = [](const std::vector<SnapshotFrame>& frames) {
    Snapshot snapshot{.file = "snapshot"};
    snapshot.frames = frames;
    snapshot.stacks = {{}, {}};
    for (std::uint32_t i = 0; i < frames.size(); ++i) snapshot.stacks[1].push_back(i);
    snapshot.traces = {{{Action::allocate, 1, 4096, mib}}};
    const MemoryAccount account = accounts_of(snapshot).at(0);
    return account.lines.at(0).name + "; " + account.categories.at(0).name;
  };
  const SnapshotFrame unwind{"??", 0, "torch::unwind::unwind()"};
  const SnapshotFrame user{"/home/u/torch/train.py", 3, "step"};
  EXPECT_EQ(line_of({unwind, user}), "/home/u/torch/train.py:3 step; other");
  EXPECT_EQ(line_of({unwind, {"/venv/lib/python3.11/site-packages/torch/nn/functional.py", 9, "linear"}, user}),
            "/home/u/torch/train.py:3 step; activations");
  EXPECT_EQ(line_of({unwind, {"/usr/lib/python3.11/runpy.py", 9, "run"}}), "/usr/lib/python3.11/runpy.py:9 run; other");
  EXPECT_EQ(line_of({{"/tmp/torchinductor_u/ck/ckb.py", 1822, "call"}, user}), "/home/u/torch/train.py:3 step; other");
  EXPECT_EQ(line_of({{"<frozen importlib._bootstrap>", 1, "_call"}, {"<ipython-input-3-ab>", 2, "<module>"}}),
            "<ipython-input-3-ab>:2 <module>; other");
  EXPECT_EQ(line_of({unwind, {"??", 0, "torch::autograd::Engine::thread_main(std::shared_ptr<...> const&)"}}),
            "backward (no Python frames); backward (no Python frames)");
  EXPECT_EQ(line_of({unwind, {"??", 0, "c10d::ProcessGroupNCCL::ncclCommWatchdog()"}}), "no Python frames; other");
}

TEST(MemoryAccount, WithoutAnyStackNothingIsBackwards) {
  Snapshot snapshot{.file = "snapshot"};
  snapshot.stacks = {{}};
  snapshot.traces = {{{Action::allocate, 0, 4096, mib}}};
  EXPECT_EQ(accounts_of(snapshot).at(0).lines.at(0).name, "no stacks were recorded");
}

}  // namespace
}  // namespace oomplan
