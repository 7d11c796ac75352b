// Laws of the allocator that hold for any events under any settings. (Two that look true are not, and are not here:
// expandable segments may reserve more than the default, and a larger card may fail where a smaller one does not.)
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "oomplan/estimate/allocator.hpp"

namespace oomplan {
namespace {

constexpr std::int64_t mib = std::int64_t{1} << 20;

struct History {
  std::string conf{};
  Card card{};
  std::vector<Event> events{};
};

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}

  History history() {
    History out{conf(), {Bytes(pick({30, 100, 1000, 5000}) * mib + below(mib)), Bytes(below(20) * mib), {}}, {}};
    if (one_in(3)) out.card.fraction = static_cast<double>(below(1000)) / 1000;
    if (one_in(4)) out.card.total = Card::unlimited;
    const std::int64_t most = pick({5, 40, 200});
    for (int i = 0; i < 2000; ++i) out.events.push_back(event(most));
    return out;
  }

 private:
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(n)); }
  bool one_in(std::int64_t n) { return below(n) == 0; }
  template <class T>
  T pick(std::initializer_list<T> values) {
    return *(values.begin() + below(static_cast<std::int64_t>(values.size())));
  }

  std::string conf() {
    std::string out = pick({"backend:native", "expandable_segments:True"});
    if (one_in(3)) out += pick({",max_split_size_mb:20", ",max_split_size_mb:128"});
    if (one_in(3)) out += pick({",roundup_power2_divisions:4", ",roundup_power2_divisions:[8:2,32:8,>:1]"});
    if (one_in(3)) out += pick({",garbage_collection_threshold:0.2", ",garbage_collection_threshold:0.8"});
    return out;
  }

  std::int64_t size() {
    if (one_in(2)) return below(3 * mib);
    return std::int64_t{1} << below(28);
  }

  Event event(std::int64_t most) {
    if (one_in(300)) return {Event::Kind::empty_cache, 0, 0};
    if (!live_.empty() && (static_cast<std::int64_t>(live_.size()) > most || one_in(3))) {
      std::swap(live_[static_cast<std::size_t>(below(static_cast<std::int64_t>(live_.size())))], live_.back());
      const std::uint32_t slot = live_.back();
      live_.pop_back();
      unused_.push_back(slot);
      return {Event::Kind::free, slot, 0};
    }
    if (unused_.empty()) unused_.push_back(static_cast<std::uint32_t>(live_.size()));
    live_.push_back(unused_.back());
    unused_.pop_back();
    return {Event::Kind::allocate, live_.back(), size()};
  }

  std::mt19937_64 engine_;
  std::vector<std::uint32_t> live_{};
  std::vector<std::uint32_t> unused_{};
};

Allocator allocator_of(const History& history) {
  const auto settings = parse_alloc_conf(history.conf, "conf");
  EXPECT_TRUE(settings) << history.conf;
  return Allocator(*settings, history.card);
}

void for_each_history(void (*law)(const History&)) {
  for (std::uint64_t seed = 0; seed < 200 && !testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE("the history of seed " + std::to_string(seed));
    law(Dice(seed).history());
  }
}

// After a failure the run goes on, as a program that catches it may.
TEST(AllocatorLaws, AllocatedWithinReservedWithinCapacity) {
  for_each_history([](const History& history) {
    Allocator allocator = allocator_of(history);
    const AllocatorStatistics& s = allocator.statistics();
    for (const Event& event : history.events) {
      allocator.play(event);
      ASSERT_LE(s.allocated + s.fragmented, s.reserved);
      ASSERT_LE(s.reserved, history.card.total - history.card.context);
      ASSERT_GE(s.allocated, Bytes());
      ASSERT_GE(s.fragmented, Bytes());
      if (history.card.fraction && history.conf.find("expandable") == std::string::npos) {
        const double allowed = *history.card.fraction * static_cast<double>(history.card.total.count());
        ASSERT_LE(static_cast<double>(s.reserved.count()), allowed);
      }
    }
    EXPECT_LE(s.peak_allocated, s.peak_reserved);
  });
}

TEST(AllocatorLaws, ReservedIsWholePages) {
  for_each_history([](const History& history) {
    Allocator allocator = allocator_of(history);
    for (const Event& event : history.events) {
      allocator.play(event);
      ASSERT_EQ(allocator.statistics().reserved.count() % (2 * mib), 0);
    }
  });
}

TEST(AllocatorLaws, WhatIsFreeMergesBackToWholeSegments) {
  for_each_history([](const History& history) {
    Allocator allocator = allocator_of(history);
    for (const Event& event : history.events) allocator.play(event);
    for (std::uint32_t slot = 0; slot < 1000; ++slot) allocator.free(slot);
    EXPECT_EQ(allocator.statistics().allocated, Bytes());
    EXPECT_EQ(allocator.statistics().fragmented, Bytes());
    allocator.empty_cache();
    EXPECT_EQ(allocator.statistics().reserved, Bytes());
  });
}

TEST(AllocatorLaws, TheSameEventsGiveTheSameResult) {
  for_each_history([](const History& history) {
    Allocator first = allocator_of(history);
    Allocator second = allocator_of(history);
    for (const Event& event : history.events) {
      ASSERT_EQ(first.play(event), second.play(event));
      if (event.slot == 3) second = Allocator(second);  // a copy goes on as the original would
    }
    EXPECT_EQ(first.statistics(), second.statistics());
    EXPECT_EQ(first.out_of_memory(), second.out_of_memory());
  });
}

TEST(AllocatorLaws, NothingIsReservedThatSomeRequestDidNotNeed) {
  for_each_history([](const History& history) {
    Allocator allocator = allocator_of(history);
    for (const Event& event : history.events) {
      const AllocatorStatistics before = allocator.statistics();
      allocator.play(event);
      const AllocatorStatistics& after = allocator.statistics();
      if (event.kind != Event::Kind::allocate) {
        ASSERT_EQ(after.device_allocs, before.device_allocs);
      }
      if (event.kind == Event::Kind::free) {
        ASSERT_EQ(after.reserved, before.reserved);
      }
    }
  });
}

}  // namespace
}  // namespace oomplan
