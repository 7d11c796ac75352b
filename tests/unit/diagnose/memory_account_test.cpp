#include <gtest/gtest.h>

#include "oomplan/diagnose.hpp"

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

}  // namespace
}  // namespace oomplan
