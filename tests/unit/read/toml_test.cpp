#include <gtest/gtest.h>

#include "support.hpp"

namespace oomplan::read {
namespace {

TEST(Toml, KeepsTheFilesOrderAndPlaces) {
  EXPECT_EQ(toml("title = \"run\"  # name\n"
                 "\n"
                 "[model]\n"
                 "name = 'gpt2'\n"
                 "layers = [12, 24]\n"
                 "[data]\n"
                 "a = { y = 1, b.c = 2 }\n"),
            "mapping @1:1\n"
            "title @1:1: string 'run' @1:9\n"
            "model @3:2: mapping @3:1\n"
            "  name @4:1: string 'gpt2' @4:8\n"
            "  layers @5:1: sequence @5:10\n"
            "    - integer '12' @5:11\n"
            "    - integer '24' @5:15\n"
            "data @6:2: mapping @6:1\n"
            "  a @7:1: mapping @7:5\n"
            "    y @7:7: integer '1' @7:11\n"
            "    b @7:14: mapping @7:14\n"
            "      c @7:16: integer '2' @7:20\n");
}

TEST(Toml, CountsColumnsInBytes) {
  EXPECT_EQ(toml("a = [\"é日😀\", 2]\r\n\"é\" = 3"),
            "mapping @1:1\n"
            "a @1:1: sequence @1:5\n"
            "  - string 'é日😀' @1:6\n"
            "  - integer '2' @1:19\n"
            "é @2:1: integer '3' @2:8\n");
}

TEST(Toml, CountsColumnsInBytesFarIntoALongLine) {
  std::string text = "a = [";
  std::string expected = "mapping @1:1\na @1:1: sequence @1:5\n";
  for (int i = 0; i < 500; ++i) {
    expected += "  - string 'é€' @1:" + std::to_string(text.size() + 1) + "\n";
    text += "'é€', ";
  }
  EXPECT_EQ(toml(text + "]"), expected);
}

TEST(Toml, KeepsScalarsAsWritten) {
  EXPECT_EQ(
      toml("a = 1_000\nb = 0xFF\nc = 1e-5\nd = inf\ne = true\nf = 1979-05-27T07:32:00Z\ng = \"\"\"\nx\\\n  y\"\"\"\n"),
      "mapping @1:1\n"
      "a @1:1: integer '1_000' @1:5\n"
      "b @2:1: integer '0xFF' @2:5\n"
      "c @3:1: real '1e-5' @3:5\n"
      "d @4:1: real 'inf' @4:5\n"
      "e @5:1: boolean 'true' @5:5\n"
      "f @6:1: string '1979-05-27T07:32:00Z' @6:5\n"
      "g @7:1: string 'xy' @7:5\n");
}

TEST(Toml, ReadsArraysOfTables) {
  EXPECT_EQ(toml("[[run]]\nx = 1\n[[run]]\nx = 2\n[run.sub]\ny = 3\n"),
            "mapping @1:1\n"
            "run @1:3: sequence @1:1\n"
            "  - mapping @1:1\n"
            "    x @2:1: integer '1' @2:5\n"
            "  - mapping @3:1\n"
            "    x @4:1: integer '2' @4:5\n"
            "    sub @5:6: mapping @5:1\n"
            "      y @6:1: integer '3' @6:5\n");
}

TEST(TomlRefuses, AKeyGivenTwice) {
  EXPECT_EQ(toml("a = 1\nb = 2\na = 3\n"),
            "c:3:5: error: key-value pair: cannot redefine existing integer 'a' [read/duplicate-key]\n"
            "    a = 3\n"
            "        ^\n");
}

TEST(TomlRefuses, BrokenSyntax) {
  EXPECT_EQ(toml("a = \nb = 2\n"),
            "c:1:5: error: key-value pair: expected value, saw '\\n' [read/syntax]\n"
            "    a = \n"
            "        ^\n");
  EXPECT_EQ(toml("é: 1\n"),
            "c:1:1: error: root table: expected keys, tables, whitespace or comments, saw 'é' [read/syntax]\n"
            "    é: 1\n"
            "    ^\n");
  EXPECT_EQ(toml("\"é\" = zz\n"),
            "c:1:8: error: value: could not determine value type [read/syntax]\n"
            "    \"é\" = zz\n"
            "          ^\n");
}

TEST(TomlRefuses, NothingButComments) {
  EXPECT_EQ(first_line(toml("# nothing\n")), "c:1:1: error: the file holds nothing but comments [read/empty]");
}

// What the guard skips must not count: none of these nests.
TEST(TomlGuard, LooksNotIntoStringsAndComments) {
  const ReadBudget small{.depth = 3, .nodes = 12};
  EXPECT_EQ(first_line(toml("a = \"[[[[[[.....,,,,,,,,,,,,,\\\"[[[[\" # [[[[[[[,,,,,,,,,,,,,,,,\n"
                            "b = '[[[[[,,,,,,,,,,,,,,\\'\n"
                            "c = \"\"\"[[[[[[\"\"[[[[,,,,,,,,,,,,\\\"\"\"[[[[\"\"\"\"\n"
                            "d = '''[[[[,,,,,,,,,,,,''['''\n",
                            small)),
            "mapping @1:1");
}

TEST(TomlGuard, CountsAPointInANumberAsNothing) {
  EXPECT_EQ(first_line(toml("a = [1.5, 2.5, 3.5]\n[b]\nc = 1.5\n", {.nodes = 12})), "mapping @1:1");
}

}  // namespace
}  // namespace oomplan::read
