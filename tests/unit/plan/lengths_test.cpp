#include "oomplan/plan/lengths.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "oomplan/read/document.hpp"

namespace oomplan::planning {
namespace {

using ::testing::ElementsAre;

std::optional<std::vector<std::int64_t>> lengths(const std::string& value) {
  const auto document = parse_document("key: " + value + "\n", "c.yaml", Syntax::yaml);
  return document ? read_lengths(*document->root.find("key")) : std::nullopt;
}

TEST(Lengths, AListIsItself) { EXPECT_THAT(*lengths("[512, 64, 2048]"), ElementsAre(512, 64, 2048)); }

TEST(Lengths, ARangeIsGoneThroughWithoutTrendAndReachesBothEnds) {
  const auto out = *lengths("{min: 100, max: 1000, steps: 16}");
  EXPECT_EQ(out.size(), 16U);
  EXPECT_EQ(std::ranges::min(out), 100);
  EXPECT_EQ(std::ranges::max(out), 1000);
  EXPECT_FALSE(std::ranges::is_sorted(out));
  EXPECT_EQ(out, *lengths("{min: 100, max: 1000, steps: 16, distribution: uniform}"));
}

TEST(Lengths, ARangeGoesUpOrDown) {
  const auto up = *lengths("{min: 1, max: 99, distribution: ascending}");
  EXPECT_EQ(up.size(), 32U);
  EXPECT_TRUE(std::ranges::is_sorted(up));
  auto down = *lengths("{min: 1, max: 99, distribution: descending}");
  std::ranges::reverse(down);
  EXPECT_EQ(up, down);
}

TEST(Lengths, WhatIsNoneIsRefused) {
  for (const char* value :
       {"512", "[0]", "[a]", "{min: 2, max: 1}", "{min: 1}", "{min: 1, max: 2, steps: 1}",
        "{min: 1, max: 2, steps: 5000}", "{min: 1, max: 2, distribution: normal}", "{min: 1, max: 2, step: 3}"}) {
    EXPECT_FALSE(lengths(value)) << value;
  }
}

}  // namespace
}  // namespace oomplan::planning
