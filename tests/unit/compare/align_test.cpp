#include "align.hpp"

#include <gtest/gtest.h>

#include <random>

namespace oomplan::comparing {
namespace {

using Values = std::vector<std::int64_t>;

std::size_t longest_common(const Values& a, const Values& b) {
  std::vector<std::vector<std::size_t>> best(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j)
      best[i][j] = a[i - 1] == b[j - 1] ? best[i - 1][j - 1] + 1 : std::max(best[i - 1][j], best[i][j - 1]);
  return best[a.size()][b.size()];
}

TEST(Align, FindsALongestCommonSubsequence) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    Values a(random() % 12);
    Values b(random() % 12);
    for (auto& value : a) value = static_cast<std::int64_t>(random() % 4);
    for (auto& value : b) value = static_cast<std::int64_t>(random() % 4);
    const auto found = align(a, b);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->size(), longest_common(a, b));
    for (std::size_t i = 0; i < found->size(); ++i) {
      EXPECT_EQ(a[(*found)[i].first], b[(*found)[i].second]);
      if (i > 0) {
        EXPECT_LT((*found)[i - 1].first, (*found)[i].first);
        EXPECT_LT((*found)[i - 1].second, (*found)[i].second);
      }
    }
  }
}

TEST(Align, WithAnOpenEndTheRestOfTheSecondDoesNotCount) {
  const Values a{1, 2, 3};
  const Values b{1, 2, 3, 9, 9, 9, 9};
  EXPECT_FALSE(align(a, b, false, 3));
  const auto found = align(a, b, true, 0);
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, (Aligned{{0, 0}, {1, 1}, {2, 2}}));
}

TEST(Align, GivesUpWhereTooMuchDiffers) { EXPECT_FALSE(align(Values{1, 1, 1}, Values{2, 2, 2}, false, 5)); }

TEST(Align, ByCountPairsTheNthWithTheNth) {
  EXPECT_EQ(align_by_count(Values{1, 2, 1}, Values{2, 1, 3}), (Aligned{{0, 1}, {1, 0}}));
}

}  // namespace
}  // namespace oomplan::comparing
