#include "oomplan/estimate/recording.hpp"

#include <gtest/gtest.h>

#include "oomplan/core/bytes.hpp"

namespace oomplan {
namespace {

using Action = SnapshotEvent::Action;
using State = SnapshotBlock::State;

constexpr std::int64_t mib = 1 << 20;
constexpr std::int64_t base = std::int64_t{1} << 40;

SnapshotEvent event(Action action, std::int64_t address, std::int64_t size, std::uint32_t stack = 0) {
  return {action, stack, address, size};
}

SnapshotSegment segment(std::int64_t address, std::int64_t size, std::vector<SnapshotBlock> blocks) {
  SnapshotSegment out{.size = size, .blocks = std::move(blocks), .address = address};
  out.small = size == 2 * mib;
  return out;
}

Snapshot with(std::vector<SnapshotSegment> segments, std::vector<SnapshotEvent> trace) {
  Snapshot out{.file = "snapshot"};
  out.frames = {{"torch/cuda/memory.py", 222, "empty_cache"}, {"model.py", 7, "forward"}};
  out.stacks = {{}, {0, 1}, {1}};
  out.segments = std::move(segments);
  out.traces = {std::move(trace)};
  return out;
}

std::vector<std::int64_t> sizes(const HeldSegment& segment) {
  std::vector<std::int64_t> out;
  for (const HeldSegment::Piece& piece : segment.pieces)
    out.push_back(piece.slot == HeldSegment::free ? -piece.size : piece.size);
  return out;
}

TEST(Recording, BeginsWithWhatTheTraceUndoneLeaves) {
  const Snapshot snapshot = with(
      {segment(base, 40 * mib, {{State::active, 0, base, 30 * mib}, {State::inactive, 0, base + 30 * mib, 10 * mib}})},
      {event(Action::free, base, 20 * mib), event(Action::segment_free, base - 80 * mib, 80 * mib),
       event(Action::allocate, base, 30 * mib)});
  const Result<Recording> recording = recording_of(snapshot, 0);
  ASSERT_TRUE(recording.ok());
  ASSERT_EQ(recording->start.size(), 2U);
  EXPECT_EQ(sizes(recording->start[0]), (std::vector<std::int64_t>{-80 * mib}));
  EXPECT_EQ(sizes(recording->start[1]), (std::vector<std::int64_t>{20 * mib, -20 * mib}));
  const PlayedRecording played = play_as_recorded(*recording);
  EXPECT_EQ(played.agreement, (Agreement{1, 1, 0, 0, {}}));
  EXPECT_EQ(played.statistics.peak_reserved, Bytes::mib(120));
  EXPECT_EQ(played.statistics.reserved, Bytes::mib(40));
}

// 33.5 MiB asked for of a block of 34: less than a MiB is never cut off.
TEST(Recording, ABlockFreedInTheTraceGoesUpToTheNextWhereNothingIsCutOff) {
  const Snapshot snapshot =
      with({segment(base, 40 * mib, {{State::inactive, 0, base, 40 * mib}})},
           {event(Action::free, base + 34 * mib, 6 * mib), event(Action::free, base, 33 * mib + mib / 2)});
  const Result<Recording> recording = recording_of(snapshot, 0);
  ASSERT_TRUE(recording.ok());
  EXPECT_EQ(sizes(recording->start.at(0)), (std::vector<std::int64_t>{34 * mib, 6 * mib}));
}

TEST(Recording, WhatDoesNotLeadToTheEndIsRefused) {
  const std::vector<SnapshotSegment> end{segment(base, 20 * mib, {{State::active, 0, base, 20 * mib}})};
  const auto code = [&](const SnapshotEvent& last) {
    const Result<Recording> recording = recording_of(with(end, {event(Action::other, 0, 0), last}), 0);
    return recording ? "" : recording.errors().front().code;
  };
  EXPECT_EQ(code(event(Action::allocate, base, 20 * mib)), "");
  EXPECT_EQ(code(event(Action::allocate, base + mib, mib)), "read/inconsistent-snapshot");  // it is not there
  EXPECT_EQ(code(event(Action::free, base, mib)), "read/inconsistent-snapshot");            // it is in use
  EXPECT_EQ(code(event(Action::free, 1, mib)), "read/inconsistent-snapshot");               // in no segment
  EXPECT_EQ(code(event(Action::segment_alloc, base, 20 * mib)), "read/inconsistent-snapshot");
  EXPECT_EQ(code(event(Action::segment_free, base + mib, 20 * mib)), "read/inconsistent-snapshot");
  EXPECT_EQ(code(event(Action::segment_unmap, base, 20 * mib)), "read/inconsistent-snapshot");
  EXPECT_EQ(code(event(Action::segment_map, base, 20 * mib)), "read/inconsistent-snapshot");
  EXPECT_EQ(code(event(Action::free, INT64_MAX, INT64_MAX)), "read/inconsistent-snapshot");
  EXPECT_EQ(code(event(Action::free, INT64_MIN, INT64_MIN)), "read/inconsistent-snapshot");
}

/// 60 MiB in use of a card that had 10 MiB left when 100 were asked for.
Snapshot that_ran_out() {
  return with(
      {segment(base, 60 * mib, {{State::active, 0, base, 60 * mib}})},
      {event(Action::segment_alloc, base, 60 * mib), event(Action::allocate, base, 60 * mib),
       event(Action::segment_alloc, base - 30 * mib, 30 * mib), event(Action::allocate, base - 30 * mib, 30 * mib),
       event(Action::free, base - 30 * mib, 30 * mib), event(Action::segment_free, base - 30 * mib, 30 * mib, 2),
       event(Action::out_of_memory, 10 * mib, 100 * mib, 2)});
}

TEST(Recording, RunsOutWhereItRanOut) {
  const Result<Recording> recording = recording_of(that_ran_out(), 0);
  ASSERT_TRUE(recording.ok());
  EXPECT_EQ(recording->room, Bytes::mib(70));
  const PlayedRecording played = play_as_recorded(*recording);
  EXPECT_EQ(played.agreement, (Agreement{2, 2, 2, 2, {}}));
  ASSERT_TRUE(played.failure.has_value());
  EXPECT_EQ(played.failure->entry, 7);
  EXPECT_EQ(played.failure->memory.asked, Bytes::mib(100));
  EXPECT_EQ(played.failure->memory.reserved, Bytes::mib(60));
}

TEST(Recording, OnAnotherCardOnlyTheProgramsReleasesAreMade) {
  Snapshot snapshot = that_ran_out();
  for (const std::uint32_t stack : {1U, 2U}) {
    snapshot.traces[0][5].stack = stack;  // 1: empty_cache()
    const Result<Recording> recording = recording_of(snapshot, 0);
    ASSERT_TRUE(recording.ok());
    const PlayedRecording roomy = play_otherwise(*recording, {}, {});
    EXPECT_FALSE(roomy.failure.has_value());
    EXPECT_EQ(roomy.statistics.peak_reserved, Bytes::mib(stack == 1 ? 160 : 190));
    const PlayedRecording same = play_otherwise(*recording, {}, {.total = *recording->room});
    ASSERT_TRUE(same.failure.has_value());
    EXPECT_EQ(same.failure->entry, 4);  // 30 MiB more are not there: a release made room for it once
  }
}

TEST(Recording, AFailureThatTheRunWentOnAfterIsNotItsEnd) {
  Snapshot snapshot = that_ran_out();
  for (int i = 0; i < 100; ++i) {
    snapshot.traces[0].push_back(event(Action::segment_alloc, base - 20 * mib, 20 * mib));
    snapshot.traces[0].push_back(event(Action::allocate, base - 20 * mib, 5 * mib));
    snapshot.traces[0].push_back(event(Action::free, base - 20 * mib, 5 * mib));
    snapshot.traces[0].push_back(event(Action::segment_free, base - 20 * mib, 20 * mib));
  }
  const PlayedRecording played = play_as_recorded(*recording_of(snapshot, 0));
  EXPECT_FALSE(played.failure.has_value());
  EXPECT_EQ(played.survived, 1);
  EXPECT_EQ(played.agreement.same, 102);
}

TEST(Recording, HasItsOwnSettings) {
  Snapshot snapshot = with({}, {event(Action::other, 0, 0)});
  snapshot.settings.alloc_conf = "expandable_segments:True";
  EXPECT_TRUE(recording_of(snapshot, 0)->settings.expandable_segments);
  snapshot.settings = {.max_split = 200 * mib, .garbage_collection_threshold = 0.5};
  snapshot.settings.roundup_divisions.fill(4);
  const AllocatorSettings fields = recording_of(snapshot, 0)->settings;
  EXPECT_EQ(fields.max_split, Bytes::mib(200));
  EXPECT_EQ(fields.garbage_collection_threshold, 0.5);
  EXPECT_EQ(fields.roundup_divisions[3], 4);
  snapshot.settings.alloc_conf = "nonsense:1";
  EXPECT_FALSE(recording_of(snapshot, 0).ok());
}

TEST(Recording, OfExpandableSegmentsGrowsAndShrinks) {
  SnapshotSegment end =
      segment(base, 40 * mib, {{State::active, 0, base, 25 * mib}, {State::inactive, 0, base + 25 * mib, 15 * mib}});
  end.expandable = true;
  Snapshot snapshot =
      with({end}, {event(Action::allocate, base, 25 * mib), event(Action::free, base + 45 * mib, 5 * mib),
                   event(Action::segment_unmap, base + 40 * mib, 20 * mib)});
  snapshot.settings.alloc_conf = "expandable_segments:True";
  const Result<Recording> recording = recording_of(snapshot, 0);
  ASSERT_TRUE(recording.ok());
  ASSERT_EQ(recording->start.size(), 1U);
  EXPECT_EQ(sizes(recording->start[0]), (std::vector<std::int64_t>{-45 * mib, 5 * mib, -10 * mib}));
  const PlayedRecording played = play_as_recorded(*recording);
  EXPECT_EQ(played.statistics.peak_reserved, Bytes::mib(60));
  EXPECT_EQ(played.statistics.reserved, Bytes::mib(40));
  EXPECT_EQ(played.agreement.at_their_address, 1);
}

}  // namespace
}  // namespace oomplan
