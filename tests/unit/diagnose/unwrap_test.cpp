// Margins before all lines, and lines broken at a column.
#include "unwrap.hpp"

#include <gtest/gtest.h>

#include "support.hpp"

namespace oomplan::diagnose {
namespace {

std::string wrapped(const std::string& text, std::size_t width) {
  std::string out;
  std::size_t column = 0;
  for (const char c : text) {
    if (c != '\n' && column == width) out += '\n';
    column = c == '\n' ? 0 : column == width ? 1 : column + 1;
    out += c;
  }
  return out;
}

TEST(Unwrap, FindsAMessageBrokenAnywhere) {
  const std::string message = "step 5 loss 1\nRuntimeError: " + oom(4, 80, 1, 78, 60, 16);
  const Diagnosis whole = diagnosed(message);
  for (const std::size_t width : {60U, 72U, 77U, 80U, 120U, 132U}) {
    const Diagnosis torn = diagnosed(wrapped(message, width));
    EXPECT_EQ(torn.verdict.cause, whole.verdict.cause) << width;
    ASSERT_TRUE(torn.root) << width;
    EXPECT_EQ(torn.root->number("total"), whole.root->number("total")) << width;
    EXPECT_EQ(torn.root->where.line, 2) << width;
  }
}

TEST(Unwrap, LeavesTheRowsOfATableAlone) {
  const std::string row = "7            OUT_OF_ME+    0:125                      128G                      x\n";
  const Diagnosis d =
      diagnosed(row + "7.batch      OUT_OF_ME+    0:125 1024K                      x                x\n");
  EXPECT_EQ(d.verdict.cause, Cause::slurm_oom);
  EXPECT_EQ(d.root->text_of("step"), "7");
}

TEST(Margins, AreNumbersThatOnlyRise) {
  EXPECT_EQ(margins_of({"     1\ta", "     2\tb"}), (std::vector<std::size_t>{7, 7}));
  EXPECT_EQ(margins_of({"t.log:9:a", "t.log:12:b"}), (std::vector<std::size_t>{8, 9}));
  EXPECT_EQ(margins_of({"+a", "+b"}), (std::vector<std::size_t>{1, 1}));
  EXPECT_EQ(margins_of({"0: a", "1: b", "0: c"}), (std::vector<std::size_t>{0, 0, 0})) << "ranks come again";
}

}  // namespace
}  // namespace oomplan::diagnose
