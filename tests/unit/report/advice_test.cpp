// What the page of a fix says first.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oomplan/report/advice_view.hpp"

namespace oomplan {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Advice advice() {
  Advice out{.config = "train.yaml", .gpu = {.name = "8GiB", .total = Bytes::gib(8)}};
  out.now = {.needed = Bytes::gib(20), .at_least = true};
  out.sets = 1'000;
  return out;
}

Trial trial(Bytes needed, bool fits) {
  return {.fixes = {{"lora", 1}, {"micro-batch", 2}}, .needed = needed, .at_least = !fits, .fits = fits};
}

TEST(AdviceText, SaysWhatARunStillNeeds) {
  Advice nothing = advice();
  nothing.lowest = trial(Bytes::gib(9), false);
  EXPECT_THAT(
      advice_text(nothing, {.width = 200}),
      HasSubstr("nothing that can be estimated makes it fit 8.00 GiB: it needs at least 20.00 GiB, and at least "
                "9.00 GiB with lora and micro-batch x2\n"));
  nothing.whole = false;
  EXPECT_THAT(
      advice_text(nothing, {.width = 200}),
      HasSubstr("no set of fixes was found that makes it fit 8.00 GiB: it needs at least 20.00 GiB, and at least "
                "9.00 GiB with lora and micro-batch x2; the 1000 cheapest sets were looked at\n"));
}

TEST(AdviceText, CallsASetTheCheapestOnlyWhereAllCheaperWereLookedAt) {
  Advice found = advice();
  found.found = trial(Bytes::gib(7), true);
  found.taken = {{.id = "lora"}, {.id = "micro-batch"}};
  EXPECT_THAT(advice_text(found, {}), HasSubstr("The cheapest way"));
  EXPECT_THAT(advice_text(found, {}), Not(HasSubstr("cheaper")));
  found.whole = false;
  EXPECT_THAT(advice_text(found, {.width = 200}),
              HasSubstr("; there may be a cheaper set: none of the 1000 cheapest fits"));
  EXPECT_THAT(advice_text(found, {}), Not(HasSubstr("The cheapest way")));
}

}  // namespace
}  // namespace oomplan
