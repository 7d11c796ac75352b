// What several threads give comes in order, up to the first unit that failed.
#include "in_order.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>

namespace oomplan::measure {
namespace {

using Numbers = InOrder<int>;

Result<bool> give_three(std::size_t unit, const Numbers::Emit& emit) {
  std::this_thread::sleep_for(std::chrono::microseconds(unit * 7919 % 50));
  for (int i = 0; i < 3; ++i) {
    if (!emit(static_cast<int>(unit) * 3 + i)) return false;
  }
  return true;
}

TEST(InOrder, ValuesComeInTheOrderOfTheUnits) {
  for (const std::size_t threads : {1, 2, 7}) {
    Numbers numbers(500, threads, give_three);
    int expected = 0;
    for (int number = 0; numbers.next(number); ++expected) ASSERT_EQ(number, expected);
    EXPECT_EQ(expected, 1500);
    EXPECT_EQ(numbers.done(), 500U);
  }
}

TEST(InOrder, EndsAtTheFirstUnitThatFailed) {
  Numbers numbers(100, 4, [](std::size_t unit, const Numbers::Emit& emit) -> Result<bool> {
    if (unit >= 40 && !emit(-1)) return false;
    if (unit >= 40) return Diagnostic{.code = "cli/bug", .message = "no"};
    return give_three(unit, emit);
  });
  int last = 0;
  int count = 0;
  for (int number = 0; numbers.next(number); ++count) last = number;
  EXPECT_EQ(count, 40 * 3 + 1);
  EXPECT_EQ(last, -1);
  EXPECT_EQ(numbers.done(), 40U);
  numbers.rethrow();
}

TEST(InOrder, KeepsWhatWasThrown) {
  Numbers numbers(10, 2, [](std::size_t, const Numbers::Emit&) -> Result<bool> { throw std::runtime_error("no"); });
  int number = 0;
  EXPECT_FALSE(numbers.next(number));
  EXPECT_THROW(numbers.rethrow(), std::runtime_error);
}

TEST(InOrder, MayBeLeftEarly) {
  Numbers numbers(1000, 3, give_three);
  int number = 0;
  ASSERT_TRUE(numbers.next(number));
}

}  // namespace
}  // namespace oomplan::measure
