#include "oomplan/read/snapshot.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "pickle.hpp"

namespace oomplan {
namespace {

using namespace std::string_literals;
using read::PickleTree;

Result<PickleTree> unpickled(std::string_view bytes, const read::PickleBudget& budget = {}) {
  const auto source = read::bytes_of(bytes);
  return read::read_pickle(*source, "pickle", budget);
}

std::string code_of(std::string_view bytes, const read::PickleBudget& budget = {}) {
  const Result<PickleTree> tree = unpickled(bytes, budget);
  return tree ? "" : tree.errors().front().code;
}

std::string text(std::string_view value) {
  return "\x8c" + std::string(1, static_cast<char>(value.size())) + std::string(value);
}

Result<Snapshot> snapshot_of(std::string_view bytes) {
  LogText file = LogText::from_memory(bytes);
  return read_snapshot(file, "snapshot");
}

TEST(Pickle, ReadsNumbers) {
  const auto integer = [](const std::string& bytes) {
    const Result<PickleTree> tree = unpickled("\x80\x04"s + bytes + ".");
    return tree->integer(tree->root());
  };
  EXPECT_EQ(integer("K\xff"s), 255);
  EXPECT_EQ(integer("M\xff\xff"s), 65535);
  EXPECT_EQ(integer("J\xff\xff\xff\xff"s), -1);
  EXPECT_EQ(integer("\x8a\x00"s), 0);
  EXPECT_EQ(integer("\x8a\x05\x00\x00\x00\x00\x40"s), std::int64_t{0x40} << 32);
  EXPECT_EQ(integer("\x8a\x02\x00\x80"s), -32768);
  EXPECT_EQ(integer("\x88"s), 1);
}

TEST(Pickle, KeepsEqualListsOnce) {
  const Result<PickleTree> tree = unpickled(
      "\x80\x04](](K\x01K\x02"
      "e](K\x01K\x02"
      "e](K\x01"
      "ee."s);
  ASSERT_TRUE(tree.ok());
  std::vector<std::uint32_t> runs;
  tree->each(tree->root(), [&](read::PickleValue list) {
    tree->each_run(list, [&](const PickleTree::Run& run) { runs.push_back(run.id); });
  });
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_EQ(runs[0], runs[1]);
  EXPECT_NE(runs[0], runs[2]);
}

TEST(Pickle, ListsGrowInAnyNumberOfBatches) {
  std::string bytes = "\x80\x04]";
  for (char i = 0; i < 100; ++i) bytes += "K"s + i + "a";
  const Result<PickleTree> tree = unpickled(bytes + ".");
  std::int64_t next = 0;
  tree->each(tree->root(), [&](read::PickleValue item) { EXPECT_EQ(tree->integer(item), next++); });
  EXPECT_EQ(next, 100);
}

TEST(Pickle, OfAKeyTheLastValueCounts) {
  const Result<PickleTree> tree =
      unpickled("\x80\x04}(" + text("a") + "K\x01" + text("a") + "K\x02u" + text("b") + "K\x03s.");
  ASSERT_TRUE(tree.ok());
  EXPECT_EQ(tree->integer(tree->find(tree->root(), tree->key("a"))), 2);
  EXPECT_EQ(tree->integer(tree->find(tree->root(), tree->key("b"))), 3);
  EXPECT_EQ(tree->find(tree->root(), tree->key("c")).kind(), PickleTree::Kind::none);
  PickleTree::Column column{tree->key("a")};
  EXPECT_EQ(tree->integer(tree->find(tree->root(), column)), 2);
}

TEST(Pickle, RefusesWhatImportsCallsOrBuilds) {
  for (const std::string& op : {"cos\nsystem\n"s, "\x93"s, "R"s, "b"s, "i"s, "o"s, "\x81"s, "\x92"s, "P"s, "Q"s,
                                "\x82"s, "\x83"s, "\x84"s, "\x97"s, "\x98"s, "\xff"s, "\0"s, "I"s}) {
    EXPECT_EQ(code_of("\x80\x04" + op + "."), "read/forbidden-opcode") << op;
  }
  const Result<PickleTree> tree = unpickled(
      "\x80\x04K\x01"
      "cos\nsystem\n."s);
  EXPECT_EQ(tree.errors().front().message,
            "the pickle has GLOBAL, which imports a name; nothing of it is read (at byte 4)");
}

TEST(Pickle, RefusesWhatDoesNotGoTogether) {
  for (const std::string& ops : {"."s, "a"s, "]a"s,
                                 "K\x01K\x02"
                                 "a"s,
                                 "e"s, "K\x01(e"s, "}(K\x01u"s, "(]a"s, "s"s, "0"s, "1"s, "h\x00"s, "]\x94h\x01"s,
                                 "]r\xff\xff\xff\x7f"s, "\x87"s, "\x80\x06"s}) {
    EXPECT_EQ(code_of("\x80\x04" + ops + "."), "read/bad-pickle") << ops;
  }
}

TEST(Pickle, RefusesWhatIsCutOffAnywhere) {
  const std::string whole = "\x80\x04}\x94(" + text("a") + "\x94J\x01\x02\x03\x04" + text("b") +
                            "](K\x01K\x02"
                            "eu.";
  EXPECT_EQ(code_of(whole), "");
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_EQ(code_of(whole.substr(0, size)), "read/truncated") << size;
}

TEST(Pickle, KeepsToItsBudget) {
  EXPECT_EQ(code_of("\x80\x04" + std::string(1001, '(')), "read/too-deep");
  EXPECT_EQ(code_of("\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\x7f"s), "read/too-large");
  EXPECT_EQ(code_of("\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\xff}."s), "");  // a frame's length is advice
  EXPECT_EQ(code_of("\x80\x04" + std::string(100000, ']') + ".", {.memory = 100000}), "read/too-large");
}

TEST(Snapshot, TellsAnotherPickle) {
  EXPECT_EQ(snapshot_of("\x80\x04}."s).errors().front().code, "read/not-a-snapshot");
  EXPECT_EQ(snapshot_of("\x80\x04]."s).errors().front().code, "read/not-a-snapshot");
  EXPECT_TRUE(snapshot_of("\x80\x04}" + text("segments") + "]s.").ok());
}

std::string entry(const std::string& action, char address, char size) {
  return "}(" + text("action") + text(action) + text("addr") + "K" + address + text("size") + "K" + size + "u";
}

TEST(Snapshot, ItsTraceIsAListOfEvents) {
  const std::string trace = entry("free_completed", 9, 50) + entry("alloc", 1, 10) + entry("segment_alloc", 2, 20) +
                            entry("segment_free", 2, 20) + entry("segment_map", 3, 30) + entry("segment_unmap", 3, 30) +
                            entry("snapshot", 0, 0);
  const Result<Snapshot> snapshot =
      snapshot_of("\x80\x04}(" + text("segments") + "]" + text("device_traces") + "](](" + trace + "eeu.");
  ASSERT_TRUE(snapshot.ok());
  using enum SnapshotEvent::Action;
  const std::vector<SnapshotEvent::Action> wanted{free,        allocate,      segment_alloc, segment_free,
                                                  segment_map, segment_unmap, other};
  std::vector<SnapshotEvent::Action> found;
  for (const SnapshotEvent& event : snapshot->traces.at(0)) found.push_back(event.action);
  EXPECT_EQ(found, wanted);
  EXPECT_EQ(snapshot->traces[0][1].address, 1);
  EXPECT_EQ(snapshot->traces[0][1].size, 10);
}

TEST(Snapshot, OneListNamedAMillionTimesIsRefused) {
  std::string many;
  for (int i = 0; i < 20000; ++i) many += "h\x00"s;
  const std::string bomb = "\x80\x04]\x94(" + std::string(20000, 'N') + "e0}(" + text("segments") + "]" +
                           text("device_traces") + "](" + many + "eu.";
  EXPECT_EQ(snapshot_of(bomb).errors().front().code, "read/too-large");
}

Snapshot written_and_read(const Snapshot& snapshot) {
  const std::string bytes = write_snapshot(snapshot);
  const Result<Snapshot> read = snapshot_of(bytes);
  EXPECT_TRUE(read.ok()) << (read ? "" : to_text(read.errors().front()));
  return read ? *read : Snapshot{};
}

TEST(Snapshot, WhatIsWrittenIsReadBack) {
  using enum SnapshotEvent::Action;
  Snapshot all{.frames = {{"model.py", 7, "forward"}, {"", 0, "aten::mm"}}, .stacks = {{}, {1, 0}, {0}}};
  all.segments.push_back({.size = 2097152, .address = std::int64_t{1} << 46, .small = true});
  all.segments.back().blocks = {{SnapshotBlock::State::active, 1, std::int64_t{1} << 46, 512},
                                {SnapshotBlock::State::pending, 2, (std::int64_t{1} << 46) + 512, 1024},
                                {SnapshotBlock::State::inactive, 0, (std::int64_t{1} << 46) + 1536, 2095616}};
  all.segments.push_back({.size = 41943040, .expandable = true, .address = -4096, .private_pool = true});
  auto& trace = all.traces.emplace_back();
  for (const auto action : {segment_alloc, allocate, free_requested, SnapshotEvent::Action::free, segment_free,
                            segment_map, segment_unmap, out_of_memory}) {
    trace.push_back({action, static_cast<std::uint32_t>(trace.size() % 3), std::int64_t{3'000'000'000}, 700, 0});
  }
  all.settings = {.alloc_conf = "expandable_segments:True", .expandable_segments = true, .max_split = 33554432};
  all.settings.garbage_collection_threshold = 0.625;
  all.settings.roundup_divisions[3] = 8;

  const Snapshot read = written_and_read(all);
  EXPECT_EQ(read.frames, (std::vector<SnapshotFrame>{all.frames[1], all.frames[0]}));  // in the order of their use
  ASSERT_EQ(read.segments.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(read.segments[i].size, all.segments[i].size);
    EXPECT_EQ(read.segments[i].address, all.segments[i].address);
    EXPECT_EQ(read.segments[i].small, all.segments[i].small);
    EXPECT_EQ(read.segments[i].expandable, all.segments[i].expandable);
    EXPECT_EQ(read.segments[i].private_pool, all.segments[i].private_pool);
    ASSERT_EQ(read.segments[i].blocks.size(), all.segments[i].blocks.size());
  }
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(read.segments[0].blocks[i].state, all.segments[0].blocks[i].state);
    EXPECT_EQ(read.segments[0].blocks[i].address, all.segments[0].blocks[i].address);
    EXPECT_EQ(read.segments[0].blocks[i].size, all.segments[0].blocks[i].size);
    EXPECT_EQ(read.stacks[read.segments[0].blocks[i].stack].size(), all.stacks[all.segments[0].blocks[i].stack].size());
  }
  ASSERT_EQ(read.traces.size(), 1U);
  ASSERT_EQ(read.traces[0].size(), trace.size());
  for (std::size_t i = 0; i < trace.size(); ++i) {
    EXPECT_EQ(read.traces[0][i].action, trace[i].action);
    EXPECT_EQ(read.traces[0][i].address, trace[i].address);
    EXPECT_EQ(read.traces[0][i].size, trace[i].size);
  }
  EXPECT_EQ(read.settings.alloc_conf, all.settings.alloc_conf);
  EXPECT_TRUE(read.settings.expandable_segments);
  EXPECT_EQ(read.settings.max_split, all.settings.max_split);
  EXPECT_EQ(read.settings.garbage_collection_threshold, 0.625);
  EXPECT_EQ(read.settings.roundup_divisions, all.settings.roundup_divisions);
}

// memory_viz hands what one opcode appends to one call of JavaScript, which takes some ten thousand values.
TEST(Snapshot, NoMoreThanAThousandEntriesAreAppendedAtOnce) {
  Snapshot all{.stacks = {{}}};
  all.traces.emplace_back(2500, SnapshotEvent{SnapshotEvent::Action::allocate, 0, 512, 512, 0});
  const std::string bytes = write_snapshot(all);
  EXPECT_EQ(written_and_read(all).traces.front().size(), 2500U);
  std::size_t most = 0;
  std::size_t now = 0;
  for (std::size_t at = bytes.find("alloc"); at < bytes.size(); ++at) {
    if (bytes.compare(at, 2, "}(") == 0) most = std::max(most, ++now);
    if (bytes.compare(at, 3, "ue(") == 0) now = 0;
  }
  EXPECT_EQ(most, 1000U);
}

}  // namespace
}  // namespace oomplan
