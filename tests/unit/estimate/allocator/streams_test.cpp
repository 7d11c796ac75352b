// Memory of several streams: what one has freed, another does not get.
#include <gtest/gtest.h>

#include <vector>

#include "sheet.hpp"

namespace oomplan {
namespace {

using example::gib;
using example::mib;
using Kind = Event::Kind;

std::vector<Event> on_two_streams(std::int64_t second) {
  return {{Kind::allocate, 0, 40 * mib}, {Kind::free, 0, 0}, {Kind::stream, 0, second}, {Kind::allocate, 1, 40 * mib}};
}

Allocator played(const std::vector<Event>& events, const std::string& conf, const Card& card = {}) {
  Allocator out(example::settings(conf), card);
  for (const Event& event : events) EXPECT_TRUE(out.play(event));
  return out;
}

TEST(Streams, EachHasItsOwnFreeBlocks) {
  for (const char* conf : {"", "expandable_segments:True"}) {
    EXPECT_EQ(played(on_two_streams(0), conf).statistics().reserved, Bytes(40 * mib)) << conf;
    EXPECT_EQ(played(on_two_streams(2), conf).statistics().reserved, Bytes(80 * mib)) << conf;
  }
}

TEST(Streams, OneEventIsOfTheStreamThatWasNamed) {
  std::vector<Event> events = on_two_streams(1);
  events.push_back({Kind::allocate, 2, 40 * mib});  // Of stream 0 again: what slot 0 left.
  EXPECT_EQ(played(events, "").statistics().reserved, Bytes(80 * mib));
  events.push_back({Kind::free, 1, 0});
  events.push_back({Kind::stream, 0, 1});
  events.push_back({Kind::allocate, 3, 40 * mib});
  EXPECT_EQ(played(events, "").statistics().reserved, Bytes(80 * mib));
}

TEST(Streams, ACardThatRunsFullGivesBackWhatAnotherStreamFreed) {
  for (const char* conf : {"", "expandable_segments:True"}) {
    const Allocator full = played(on_two_streams(1), conf, {.total = Bytes(60 * mib)});
    EXPECT_EQ(full.statistics().reserved, Bytes(40 * mib)) << conf;
    EXPECT_EQ(full.statistics().retries, 1) << conf;
  }
}

TEST(Streams, ResetForgetsWhatWasFree) {
  Allocator used = played(on_two_streams(3), "");
  used.free(1);
  used.reset({.total = Bytes(gib)});
  for (const Event& event : on_two_streams(3)) EXPECT_TRUE(used.play(event));
  EXPECT_EQ(used.statistics(), played(on_two_streams(3), "").statistics());
}

}  // namespace
}  // namespace oomplan
