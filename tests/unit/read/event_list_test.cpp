#include "oomplan/read/event_list.hpp"

#include <gtest/gtest.h>
#include <zstd.h>

#include <string>

#include "live_ids.hpp"

namespace oomplan {
namespace {

struct Read {
  std::vector<Event> events{};
  std::string error{};  ///< "2:5 read/bad-event"
  std::string message{};
};

Read read(std::string_view bytes, const EventBudget& budget = {}) {
  EventList list = EventList::from_memory(bytes, "list", budget);
  Read out;
  std::vector<Event> piece;
  do {
    const Diagnostics errors = list.next(piece);
    if (!errors.empty()) {
      const Diagnostic& e = errors.front();
      EXPECT_EQ(e.where.file, "list");
      out.error = std::to_string(e.where.line) + ":" + std::to_string(e.where.column) + " " + e.code;
      out.message = e.message;
      return out;
    }
    EXPECT_EQ(list.lines_before(), static_cast<std::int64_t>(out.events.size()));
    out.events.insert(out.events.end(), piece.begin(), piece.end());
  } while (!piece.empty());
  return out;
}

std::string error_of(std::string_view bytes) { return read(bytes).error; }

std::string packed(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

/// `count` allocations, all freed in the end, ids far apart.
std::string long_list(int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += "a " + std::to_string(i * 1024LL) + " " + std::to_string(i) + "\n";
  for (int i = 0; i < count; ++i) out += "f " + std::to_string(i * 1024LL) + "\n";
  return out;
}

using Kind = Event::Kind;

TEST(EventList, ReadsEachKind) {
  const std::vector<Event> wanted{{Kind::allocate, 0, 100}, {Kind::mark, 0, 17},       {Kind::allocate, 1, 0},
                                  {Kind::free, 0, 0},       {Kind::empty_cache, 0, 0}, {Kind::allocate, 0, 7}};
  EXPECT_EQ(read("a 5 100\nm 17\na -9 0\nf 5\ne\na 5 7\n").events, wanted);
  EXPECT_EQ(read("a 5 100\r\nm  17 \r\na -9 0\r\nf 5\r\ne\r\na 5 7\r\n").events, wanted);
}

TEST(EventList, TakesTheLargestSizeAndNoLarger) {
  EXPECT_EQ(read("a 1 1152921504606846975\n").events.at(0).value, (std::int64_t{1} << 60) - 1);
  EXPECT_EQ(error_of("a 1 1152921504606846976\n"), "1:5 read/bad-event");
  EXPECT_EQ(error_of("a 1 9223372036854775808\n"), "1:5 read/bad-event");
  EXPECT_EQ(error_of("a 9223372036854775808 1\n"), "1:3 read/bad-event");
}

TEST(EventList, RefusesWhatIsNoEvent) {
  EXPECT_EQ(error_of("e\na 1 -5\n"), "2:5 read/bad-event");
  EXPECT_EQ(read("a 1 -5\n").message, "the size is below zero, in 'a ID BYTES'");
  for (const char* line : {"\n",         "x 1\n",     "a\n",       "a 1\n",   "a1 5\n",  "a 1 5 6\n", "a 1 5x\n",
                           "a 1 0x10\n", "a 1 1e6\n", "a 1 5.0\n", "f\n",     "f x\n",   "f 1 2\n",   "m\n",
                           "e 1\n",      "ee\n",      "a\t1\t5\n", "A 1 5\n", "a + 5\n", "a 1 +5\n",  " a 1 5\n"}) {
    EXPECT_NE(error_of(line).find(" read/bad-event"), std::string::npos) << line;
  }
  EXPECT_EQ(error_of(std::string("a 1 5\n\0\n", 8)), "2:1 read/bad-event");
  EXPECT_EQ(error_of("e\n" + std::string(1 << 20, 'a') + "\n"), "2:1 read/bad-event");
  EXPECT_EQ(error_of("e\n" + std::string(1 << 20, 'a')), "2:1 read/bad-event");
}

TEST(EventList, RefusesIdsOutOfOrder) {
  EXPECT_EQ(error_of("a 1 5\na 1 6\n"), "2:3 read/still-live");
  EXPECT_EQ(error_of("a 1 5\nf 1\nf 1\n"), "3:3 read/not-live");
  EXPECT_EQ(error_of("f 1\n"), "1:3 read/not-live");
}

TEST(EventList, RefusesWhatIsCutOff) {
  EXPECT_EQ(error_of(""), "1:0 read/empty");
  EXPECT_EQ(error_of("a 1 5\na 2 10"), "2:6 read/truncated");
  const std::string whole = packed(long_list(20000));
  EXPECT_EQ(error_of(whole), "");
  for (const std::size_t size : {std::size_t{5}, std::size_t{100}, whole.size() / 2, whole.size() - 1}) {
    EXPECT_NE(error_of(std::string_view(whole).substr(0, size)).find(" read/truncated"), std::string::npos) << size;
  }
}

TEST(EventList, RefusesBrokenCompression) {
  std::string broken = packed(long_list(20000));
  for (std::size_t i = broken.size() / 2; i < broken.size() / 2 + 200; ++i) broken[i] = '\x55';
  EXPECT_NE(error_of(broken), "");
  EXPECT_NE(error_of("\x28\xB5\x2F\xFDgarbage and more garbage").find("read/"), std::string::npos);
}

TEST(EventList, PackedAndPlainAreTheSame) {
  const std::string text = long_list(50000);
  const std::vector<Event> plain = read(text).events;
  ASSERT_EQ(plain.size(), 100000U);
  EXPECT_EQ(read(packed(text)).events, plain);
  EXPECT_EQ(read(packed(text.substr(0, 1000)) + packed(text.substr(1000))).events, plain);
}

TEST(EventList, HoldsAtMostTheBudget) {
  EXPECT_EQ(read("a 1 5\na 2 5\nf 1\na 3 5\n", {.live = 2}).events.size(), 4U);
  EXPECT_EQ(read("a 1 5\na 2 5\na 3 5\n", {.live = 2}).error, "3:1 read/too-large");
}

TEST(EventList, SlotsAreDenseAndUsedAgain) {
  for (const Event& event : read(long_list(3000)).events) EXPECT_LT(event.slot, 3000U);
  std::string turnover;
  for (int i = 0; i < 3000; ++i) turnover += "a " + std::to_string(i) + " 1\nf " + std::to_string(i) + "\n";
  for (const Event& event : read(turnover).events) EXPECT_EQ(event.slot, 0U);
}

TEST(EventList, OpensPlainFilesOnly) {
  EXPECT_EQ(EventList::open("/no/such/list").errors().front().code, "read/missing");
  EXPECT_EQ(EventList::open("/dev/zero").errors().front().code, "read/not-a-file");
}

TEST(LiveIds, KnowWhatIsLive) {
  read::LiveIds ids;
  // Multiples of a power of two fall together in a table of that size, and taking one out must not hide another.
  for (std::int64_t round = 0; round < 3; ++round) {
    for (std::int64_t i = 0; i < 5000; ++i) EXPECT_TRUE(ids.add(i << 32));
    for (std::int64_t i = 0; i < 5000; ++i) EXPECT_FALSE(ids.add(i << 32));
    for (std::int64_t i = 0; i < 5000; i += 2) EXPECT_TRUE(ids.remove(i << 32));
    for (std::int64_t i = 0; i < 5000; ++i) EXPECT_EQ(ids.remove(i << 32).has_value(), i % 2 == 1);
    EXPECT_EQ(ids.size(), 0U);
  }
}

}  // namespace
}  // namespace oomplan
