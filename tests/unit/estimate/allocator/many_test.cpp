// Many equal requests in one event are what they are one after the other.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "oomplan/estimate/allocator.hpp"
#include "sheet.hpp"

namespace oomplan {
namespace {

using example::gib;
using example::kib;
using example::mib;

/// The same run: with `times`, and one event a request.
struct Lists {
  std::vector<Event> together{};
  std::vector<Event> apart{};
};

Lists random_run(unsigned seed) {
  std::mt19937 random(seed);
  const auto up_to = [&](std::int64_t most) { return static_cast<std::int64_t>(random() % (most + 1)); };
  const std::vector<std::int64_t> sizes{512, 16 * kib, 256 * kib, 512 * kib, mib, 2 * mib, 7 * mib, 12 * mib};
  Lists out;
  std::vector<std::pair<std::uint32_t, std::vector<std::uint32_t>>> live;
  std::uint32_t next = 0;
  std::uint32_t next_apart = 0;
  for (int i = 0; i < 400; ++i) {
    if (live.size() > 20 || (!live.empty() && up_to(2) == 0)) {
      const auto at = live.begin() + up_to(std::ssize(live) - 1);
      out.together.push_back({Event::Kind::free, at->first, 0});
      for (const std::uint32_t slot : at->second) out.apart.push_back({Event::Kind::free, slot, 0});
      live.erase(at);
      continue;
    }
    const std::int64_t count = up_to(3) == 0 ? 1 + up_to(60) : 1;
    const std::int64_t size = sizes[static_cast<std::size_t>(up_to(7))];
    if (count > 1) out.together.push_back({Event::Kind::times, 0, count});
    out.together.push_back({Event::Kind::allocate, next, size});
    auto& made = live.emplace_back(next++, std::vector<std::uint32_t>{}).second;
    for (std::int64_t k = 0; k < count; ++k) {
      out.apart.push_back({Event::Kind::allocate, next_apart, size});
      made.push_back(next_apart++);
    }
  }
  return out;
}

/// But for peak_fragmented: what is freed one after the other is fragmented in between.
AllocatorStatistics played(const std::vector<Event>& events, const AllocatorSettings& settings, const Card& card) {
  Allocator allocator(settings, card);
  for (const Event& event : events) EXPECT_TRUE(allocator.play(event));
  AllocatorStatistics out = allocator.statistics();
  out.peak_fragmented = {};
  return out;
}

TEST(Many, AreWhatTheyAreOneAfterTheOther) {
  for (const char* conf : {"", "expandable_segments:True", "max_split_size_mb:64", "roundup_power2_divisions:4"}) {
    for (const SegmentOrder order : {SegmentOrder::descending, SegmentOrder::ascending}) {
      for (unsigned seed = 1; seed <= 30; ++seed) {
        const Lists lists = random_run(seed);
        const Card card{.order = order};
        EXPECT_EQ(played(lists.together, example::settings(conf), card),
                  played(lists.apart, example::settings(conf), card))
            << conf << ' ' << seed;
      }
    }
  }
}

TEST(Many, GoOnWhereALargerCardParts) {
  const std::vector<Event> events{{Event::Kind::times, 0, 12}, {Event::Kind::allocate, 0, 100 * mib}};
  Allocator small({}, {.total = Bytes(gib)});
  small.watch(Bytes(2 * gib));
  EXPECT_TRUE(small.play(events[0]));
  EXPECT_FALSE(small.play(events[1]));
  auto larger = small.on_larger();
  ASSERT_TRUE(larger);
  EXPECT_EQ(larger->statistics().allocated, Bytes(1000 * mib));  // Ten of them have been made.
  EXPECT_TRUE(larger->play(events[1]));
  EXPECT_EQ(larger->statistics().allocated, Bytes(1200 * mib));
  larger->free(0);
  EXPECT_EQ(larger->statistics().allocated, Bytes());
}

}  // namespace
}  // namespace oomplan
