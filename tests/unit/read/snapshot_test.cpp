#include "oomplan/read/snapshot.hpp"

#include <gtest/gtest.h>

#include <string>

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

}  // namespace
}  // namespace oomplan
