// Runs on rising cards, each gone on from the one before, against the same runs from their beginning.
#include "rising_cards.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace oomplan::estimator {
namespace {

/// Steps that take and give back, a little more of it each time, with some of it kept.
std::vector<Event> traffic(unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<Event> out;
  std::vector<std::uint32_t> live;
  std::vector<std::uint32_t> unused;
  std::uint32_t slots = 0;
  for (int i = 0; i < 1200; ++i) {
    if (i % 300 == 299) out.push_back({Event::Kind::empty_cache, 0, 0});
    if (!live.empty() && random() % 100 < (i % 200 < 100 ? 30 : 62)) {
      const std::size_t at = random() % live.size();
      out.push_back({Event::Kind::free, live[at], 0});
      unused.push_back(live[at]);
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
      continue;
    }
    if (unused.empty()) unused.push_back(slots++);
    live.push_back(unused.back());
    unused.pop_back();
    const std::int64_t size = std::int64_t{512} << (random() % 16);
    out.push_back({Event::Kind::allocate, live.back(), size + static_cast<std::int64_t>(random() % 3) * size / 4});
  }
  return out;
}

struct Counted {
  int ended = 0;
  int failed = 0;
};

bool ends_from_its_beginning(const std::vector<Event>& events, const AllocatorSettings& settings, const Card& card) {
  Allocator allocator(settings, card);
  return std::ranges::all_of(events, [&](const Event& event) { return allocator.play(event); });
}

Counted expect_same_on_all_cards(const std::vector<Event>& events, const AllocatorSettings& settings,
                                 SegmentOrder order, std::int64_t step) {
  RisingCards cards(events, settings, order);
  Counted out;
  for (Bytes room = Bytes::mib(20); room < Bytes::mib(400); room += Bytes::mib(step)) {
    const bool ends =
        ends_from_its_beginning(events, settings, {.total = room, .order = order, .addresses = Card::unlimited});
    EXPECT_EQ(cards.ends_in(room, room + Bytes::mib(step)), ends) << room.count();
    ++(ends ? out.ended : out.failed);
  }
  return out;
}

TEST(RisingCards, EndWhereRunsFromTheBeginningDo) {
  for (const std::string conf :
       {"", "expandable_segments:True", "max_split_size_mb:32", "per_process_memory_fraction:0.7",
        "garbage_collection_threshold:0.6,per_process_memory_fraction:0.9", "roundup_power2_divisions:4"}) {
    const Result<AllocatorSettings> settings = parse_alloc_conf(conf, "conf");
    ASSERT_TRUE(settings) << conf;
    Counted all;
    for (unsigned seed = 0; seed < 12; ++seed) {
      for (const SegmentOrder order : {SegmentOrder::descending, SegmentOrder::ascending}) {
        const Counted one = expect_same_on_all_cards(traffic(seed), *settings, order, seed % 2 == 0 ? 2 : 6);
        all.ended += one.ended;
        all.failed += one.failed;
      }
    }
    EXPECT_GT(all.ended, 40) << conf;
    EXPECT_GT(all.failed, 100) << conf;
  }
}

TEST(RisingCards, ACardThatNothingTellsApartFailsLikeTheOneBefore) {
  const std::vector<Event> events{{Event::Kind::allocate, 0, Bytes::mib(64).count()}};
  const AllocatorSettings settings;
  RisingCards cards(events, settings, SegmentOrder::descending);
  EXPECT_FALSE(cards.ends_in(Bytes::mib(32), Bytes::mib(48)));
  EXPECT_FALSE(cards.ends_in(Bytes::mib(48), Bytes::mib(64)));
  EXPECT_TRUE(cards.ends_in(Bytes::mib(64), Bytes::mib(80)));
}

Event taking(std::uint32_t slot, Bytes bytes) { return {Event::Kind::allocate, slot, bytes.count()}; }

// At 100 MiB the second request no longer drives out what the first has left, in which the last two then fit. That is
// before what tells cards of 80 and 92 MiB apart.
TEST(RisingCards, ALargerCardMayPartEarlier) {
  const std::vector<Event> events{taking(0, Bytes::mib(40)),
                                  {Event::Kind::free, 0, 0},
                                  taking(1, Bytes::mib(60)),
                                  taking(2, Bytes::mib(30)),
                                  taking(3, Bytes::mib(9))};
  const AllocatorSettings settings;
  RisingCards cards(events, settings, SegmentOrder::descending);
  EXPECT_FALSE(cards.ends_in(Bytes::mib(80), Bytes::mib(92)));
  EXPECT_FALSE(cards.ends_in(Bytes::mib(92), Bytes::mib(102)));
  EXPECT_TRUE(cards.ends_in(Bytes::mib(102), Bytes::mib(112)));
}

TEST(RisingCards, AreAlsoAskedOutOfTurn) {
  const std::vector<Event> events{{Event::Kind::allocate, 0, Bytes::mib(64).count()}};
  const AllocatorSettings settings;
  RisingCards cards(events, settings, SegmentOrder::descending);
  EXPECT_FALSE(cards.ends_in(Bytes::mib(32), Bytes::mib(48)));
  EXPECT_TRUE(cards.ends_in(Bytes::mib(72), Bytes::mib(80)));
}

}  // namespace
}  // namespace oomplan::estimator
