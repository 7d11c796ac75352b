#include <gtest/gtest.h>

#include "support.hpp"
#include "toml_scalar.hpp"

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

TEST(Toml, ReadsEveryString) {
  EXPECT_EQ(toml("a = \"\\b\\t\\n\\f\\r\\\"\\\\\\u00e9\\U0001F600\"\n"
                 "b = '\\u00e9 \"x\"'\n"
                 "c = \"\"\"\n"
                 "x \"\" y \\\n"
                 "\n"
                 "   z\"\"\"\"\"\n"
                 "d = '''\r\n"
                 "it's\r\n"
                 "'''''\n"
                 "e = \"\"\n"
                 "f = \"\"\"\"\"\"\n"),
            "mapping @1:1\n"
            "a @1:1: string '\b\t\n\f\r\"\\é😀' @1:5\n"
            "b @2:1: string '\\u00e9 \"x\"' @2:5\n"
            "c @3:1: string 'x \"\" y z\"\"' @3:5\n"
            "d @7:1: string 'it's\n''' @7:5\n"
            "e @10:1: string @10:5\n"
            "f @11:1: string @11:5\n");
}

TEST(Toml, ReadsDottedAndQuotedKeys) {
  EXPECT_EQ(toml("a . \"b.c\" . 'd' = 1\na.e = 2\n3.1 = 4\n\"\" = 5\n"),
            "mapping @1:1\n"
            "a @1:1: mapping @1:1\n"
            "  b.c @1:5: mapping @1:5\n"
            "    d @1:13: integer '1' @1:19\n"
            "  e @2:3: integer '2' @2:7\n"
            "3 @3:1: mapping @3:1\n"
            "  1 @3:3: integer '4' @3:7\n"
            " @4:1: integer '5' @4:6\n");
}

TEST(Toml, ASuperTableMayFollow) {
  EXPECT_EQ(toml("[a.b]\nx = 1\n[a]\ny = 2\n"),
            "mapping @1:1\n"
            "a @1:2: mapping @3:1\n"
            "  b @1:4: mapping @1:1\n"
            "    x @2:1: integer '1' @2:5\n"
            "  y @4:1: integer '2' @4:5\n");
}

TEST(Toml, ArraysSpanLinesAndEndWithAComma) {
  EXPECT_EQ(toml("a = [ # one\n  1, # two\n\n  [ ],\n]\n"),
            "mapping @1:1\n"
            "a @1:1: sequence @1:5\n"
            "  - integer '1' @2:3\n"
            "  - sequence @4:3\n");
}

TEST(TomlRefuses, AKeyGivenTwice) {
  EXPECT_EQ(toml("a = 1\nb = 2\na = 3\n"),
            "c:3:1: error: key 'a' is given twice [read/duplicate-key]\n"
            "    a = 3\n"
            "    ^\n"
            "hint: the first is at c:1:1; keep one of them\n");
  EXPECT_EQ(first_line(toml("a = {b = 1, b = 2}\n")), "c:1:13: error: key 'b' is given twice [read/duplicate-key]");
}

TEST(TomlRefuses, ATableGivenTwice) {
  for (const char* text :
       {"[a]\n[a]\n", "a = 1\n[a]\n", "a = 1\n[a.b]\n", "a = {}\n[a.b]\n", "a = []\n[[a]]\n", "[[a]]\n[a]\n",
        "[a]\n[[a]]\n", "[a.b]\n[[a]]\n", "a.b = 1\n[a]\n", "[a]\nb.c = 1\n[a.b]\n", "a = {}\na.b = 1\n",
        "[[a]]\n[[a.b]]\n[a.b]\n", "[a.b.c]\n[a]\nb.x = 1\n", "a = {b = {}, b.c = 1}\n", "[a]\nb = 1\nb.c = 1\n"}) {
    EXPECT_NE(toml(text).find("is given twice [read/duplicate-key]"), std::string::npos) << text << toml(text);
  }
}

TEST(TomlRefuses, BrokenLines) {
  EXPECT_EQ(toml("a = \nb = 2\n"),
            "c:1:5: error: a value must begin here [read/syntax]\n"
            "    a = \n"
            "        ^\n");
  EXPECT_EQ(toml("é: 1\n"),
            "c:1:1: error: a key must begin here: letters, digits, '_', '-', or a string in quotes [read/syntax]\n"
            "    é: 1\n"
            "    ^\n");
  const std::string no_value =
      "error: not a valid TOML value: strings are quoted, and numbers fit in 64 bits [read/syntax]";
  EXPECT_EQ(toml("\"é\" = zz\n"), "c:1:8: " + no_value +
                                      "\n"
                                      "    \"é\" = zz\n"
                                      "          ^\n");
  EXPECT_EQ(first_line(toml("a: 1\n")), "c:1:2: error: '=' must stand between a key and its value [read/syntax]");
  EXPECT_EQ(first_line(toml("a = 1 b = 2\n")), "c:1:7: error: the line must end here [read/syntax]");
  EXPECT_EQ(first_line(toml("a = 1\rb = 2\n")), "c:1:6: error: the line must end here [read/syntax]");
  EXPECT_EQ(first_line(toml("[a] x\n")), "c:1:5: error: the line must end here [read/syntax]");
  EXPECT_EQ(first_line(toml("[a\n")), "c:1:3: error: ']' must stand here [read/syntax]");
  EXPECT_EQ(first_line(toml("[[a]\n")), "c:1:4: error: ']]' must stand here [read/syntax]");
  EXPECT_EQ(first_line(toml("a = [1 2]\n")), "c:1:8: error: ',' or ']' must stand here [read/syntax]");
  EXPECT_EQ(first_line(toml("a = [,]\n")), "c:1:6: error: a value must begin here [read/syntax]");
  EXPECT_EQ(first_line(toml("a = {b = 1\n}\n")),
            "c:1:11: error: ',' or '}' must stand here: an inline table is one line [read/syntax]");
  EXPECT_EQ(first_line(toml("a = 9223372036854775808\n")), "c:1:5: " + no_value);
  EXPECT_EQ(first_line(toml("a = True\n")), "c:1:5: " + no_value);
}

TEST(TomlRefuses, BrokenStrings) {
  EXPECT_EQ(first_line(toml("a = \"x\nb = 1\n")), "c:1:5: error: this quote is never closed [read/syntax]");
  EXPECT_EQ(first_line(toml("a = \"\"\"x\n")), "c:1:5: error: this quote is never closed [read/syntax]");
  EXPECT_EQ(first_line(toml("a = '''x''\n")), "c:1:5: error: this quote is never closed [read/syntax]");
  EXPECT_EQ(first_line(toml("a = \"\\q\"\n")), "c:1:7: error: this is no escape of TOML [read/syntax]");
  EXPECT_EQ(first_line(toml("a = \"\"\"x\\ y\"\"\"\n")), "c:1:9: error: this is no escape of TOML [read/syntax]");
  for (const char* escape : {"\\u12", "\\u12g4", "\\ud800", "\\U00110000", "\\U0000d800", "\\u+123"}) {
    EXPECT_EQ(first_line(toml("a = \"" + std::string(escape) + "\"\n")),
              "c:1:8: error: this is no character of Unicode [read/syntax]")
        << escape;
  }
  EXPECT_EQ(first_line(toml("a = \"x\x7f\"\n")),
            "c:1:7: error: this character must be written as an escape [read/syntax]");
  EXPECT_EQ(first_line(toml("\"\"\"a\"\"\" = 1\n")), "c:1:1: error: a key stands on one line [read/syntax]");
  EXPECT_EQ(first_line(toml("# x\ry\na = 1\n")),
            "c:1:4: error: this character cannot stand in a comment [read/syntax]");
}

TEST(TomlRefuses, NothingButComments) {
  EXPECT_EQ(first_line(toml("# nothing\n")), "c:1:1: error: the file holds nothing but comments [read/empty]");
}

void expect_kind(Node::Kind kind, std::initializer_list<std::string_view> words) {
  for (const std::string_view text : words) EXPECT_EQ(toml_kind(text), kind) << text;
}

TEST(TomlKind, KnowsEveryScalar) {
  expect_kind(Node::Kind::boolean, {"true", "false"});
  expect_kind(Node::Kind::integer, {"0", "-0", "+17", "1_000", "0xDEAD_beef", "0o17", "0b1_0", "9223372036854775807"});
  expect_kind(Node::Kind::real,
              {"1.0", "-0.5", "1e5", "1E+5", "6.6e-3_4", "1_0.0_1", "0e0", "inf", "+inf", "-nan", "1e06"});
  expect_kind(Node::Kind::string, {"1979-05-27", "07:32:00", "07:32:00.999", "1979-05-27T07:32:00Z", "2000-02-29",
                                   "1979-05-27 07:32:00.5-07:00", "1979-05-27t07:32:59z"});
}

TEST(TomlKind, RefusesEverythingElse) {
  for (const std::string_view text : {"",
                                      "+",
                                      "True",
                                      "tru",
                                      "01",
                                      "-01",
                                      "1_",
                                      "_1",
                                      "1__0",
                                      "0x",
                                      "0x_1",
                                      "-0x1",
                                      "0X1",
                                      "0o8",
                                      "1.",
                                      ".5",
                                      "1._0",
                                      "1e",
                                      "1e+",
                                      "1.e5",
                                      "01.5",
                                      "00e1",
                                      "Inf",
                                      "infinity",
                                      "1e5e5",
                                      "1.2.3",
                                      "9223372036854775808",
                                      "0xffffffffffffffff",
                                      "1979-13-01",
                                      "1979-02-29",
                                      "1979-5-27",
                                      "1979-05-27T",
                                      "1979-05-27T07:32",
                                      "24:00:00",
                                      "07:60:00",
                                      "07:32",
                                      "07:32:00.",
                                      "07:32:00Z",
                                      "1979-05-27Z",
                                      "1979-05-27T07:32:00+24:00",
                                      "1900-02-29"}) {
    EXPECT_EQ(toml_kind(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace oomplan::read
