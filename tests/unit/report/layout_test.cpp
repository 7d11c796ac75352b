#include "layout.hpp"

#include <gtest/gtest.h>

namespace oomplan::report {
namespace {

TEST(Layout, AUnitSuitsTheLargest) {
  EXPECT_EQ(unit_for(Bytes::gib(1)).name, "GiB");
  EXPECT_EQ(unit_for(Bytes::gib(1) - Bytes(1)).name, "MiB");
  EXPECT_EQ(unit_for(Bytes(0)).name, "B");
  EXPECT_EQ(in_unit(Bytes::mib(1536), unit_for(Bytes::gib(2))), "1.50");
  EXPECT_EQ(in_unit(Bytes(12), unit_for(Bytes(12))), "12");
  EXPECT_EQ(in_unit(Bytes(), unit_for(Bytes(12))), "-");
}

TEST(Layout, ColumnsAlignByCharactersNotBytes) {
  EXPECT_EQ(aligned({{{"a×b"}, {"1", true}}, {{"abcd"}, {"22", true}}}, false), "  a×b    1\n  abcd  22\n");
}

TEST(Layout, EmptyCellsAtTheEndLeaveNoBlanks) {
  EXPECT_EQ(aligned({{{"a"}, {""}}, {{"b"}, {"c"}}}, false), "  a\n  b  c\n");
}

TEST(Layout, TextIsWrappedAtBlanks) {
  const std::string word(40, 'x');
  EXPECT_EQ(wrapped(word + " " + word + " " + word, 0, 2), word + " " + word + "\n  " + word);
  EXPECT_EQ(wrapped(std::string(120, 'y'), 0, 2), std::string(120, 'y'));
  EXPECT_EQ(wrapped("", 0, 2), "");
}

}  // namespace
}  // namespace oomplan::report
