#include <gtest/gtest.h>

#include "support.hpp"

namespace oomplan::read {
namespace {

TEST(Json, KnowsWhereKeysAndValuesStand) {
  EXPECT_EQ(json("{\"a\": [1, -2.5e3, true, false, null],\r\n \"b\" : {}, \"é\":\t\"x\"}\n"),
            "mapping @1:1\n"
            "a @1:2: sequence @1:7\n"
            "  - integer '1' @1:8\n"
            "  - real '-2.5e3' @1:11\n"
            "  - boolean 'true' @1:19\n"
            "  - boolean 'false' @1:25\n"
            "  - null @1:32\n"
            "b @2:2: mapping @2:8\n"
            "é @2:12: string 'x' @2:18\n");
}

TEST(Json, ResolvesEscapesAndKeepsNumbersAsWritten) {
  EXPECT_EQ(json(R"(["a\"]\\", "\u00e9\ud83d\ude00", "", 12345678901234567890123, 1.10, 0, -0, 1E5])"),
            "sequence @1:1\n"
            "- string 'a\"]\\' @1:2\n"
            "- string 'é😀' @1:12\n"
            "- string @1:34\n"
            "- integer '12345678901234567890123' @1:38\n"
            "- real '1.10' @1:63\n"
            "- integer '0' @1:69\n"
            "- integer '-0' @1:72\n"
            "- real '1E5' @1:76\n");
}

TEST(Json, ReadsAScalarAlone) {
  EXPECT_EQ(json(" 42"), "integer '42' @1:2\n");
  EXPECT_EQ(json("\"s\"\n"), "string 's' @1:1\n");
  EXPECT_EQ(json("[]"), "sequence @1:1\n");
}

TEST(Json, AMergeKeyIsAnOrdinaryKey) {
  EXPECT_EQ(json(R"({"<<": {"a": 1}})"), "mapping @1:1\n<< @1:2: mapping @1:8\n  a @1:9: integer '1' @1:14\n");
}

TEST(JsonRefuses, AKeyGivenTwice) {
  EXPECT_EQ(json("{\"a\": 1,\n \"b\": {\"c\": 1, \"c\": 2},\n \"\\u0061\": 2}"),
            "c:2:16: error: key 'c' is given twice [read/duplicate-key]\n"
            "     \"b\": {\"c\": 1, \"c\": 2},\n"
            "                   ^\n"
            "hint: the first is at c:2:8; keep one of them\n"
            "c:3:2: error: key 'a' is given twice [read/duplicate-key]\n"
            "     \"\\u0061\": 2}\n"
            "     ^\n"
            "hint: the first is at c:1:2; keep one of them\n");
}

TEST(JsonRefuses, NumbersThatAreNone) {
  EXPECT_EQ(json("{\"lr\": NaN}"),
            "c:1:8: error: NaN is not JSON, which has only finite numbers [read/syntax]\n"
            "    {\"lr\": NaN}\n"
            "           ^\n");
  EXPECT_EQ(first_line(json("[1, nan]")), "c:1:5: error: nan is not JSON, which has only finite numbers [read/syntax]");
  EXPECT_EQ(first_line(json("[Infinity]")),
            "c:1:2: error: Infinity is not JSON, which has only finite numbers [read/syntax]");
  EXPECT_EQ(json("[-Infinity]"),
            "c:1:2: error: -Infinity is not JSON, which has only finite numbers [read/syntax]\n"
            "    [-Infinity]\n"
            "     ^\n");
  EXPECT_EQ(json("[0, 1e999]"),
            "c:1:5: error: the number is too large [read/syntax]\n"
            "    [0, 1e999]\n"
            "        ^\n");
}

TEST(JsonRefuses, PythonAndJavaScript) {
  EXPECT_EQ(first_line(json("[True]")), "c:1:2: error: True is Python; JSON writes true [read/syntax]");
  EXPECT_EQ(first_line(json("[False]")), "c:1:2: error: False is Python; JSON writes false [read/syntax]");
  EXPECT_EQ(first_line(json("[None]")), "c:1:2: error: None is Python; JSON writes null [read/syntax]");
  EXPECT_EQ(first_line(json("{'a': 1}")), "c:1:2: error: JSON strings stand in double quotes [read/syntax]");
  EXPECT_EQ(json("{\n  \"a\": 1, // why\n}"),
            "c:2:11: error: JSON has no comments [read/syntax]\n"
            "      \"a\": 1, // why\n"
            "              ^\n");
  EXPECT_EQ(first_line(json("[1 /* x */]")), "c:1:4: error: JSON has no comments [read/syntax]");
  EXPECT_EQ(json("[1, 2,\n]"),
            "c:2:1: error: a comma stands before the closing bracket [read/syntax]\n"
            "    ]\n"
            "    ^\n");
  EXPECT_EQ(first_line(json("{\"a\": 1,}")), "c:1:9: error: a comma stands before the closing bracket [read/syntax]");
}

TEST(JsonRefuses, BrokenSyntax) {
  EXPECT_EQ(json("{\"a\": 1\n \"b\": 2}"),
            "c:2:2: error: unexpected string literal; expected '}' [read/syntax]\n"
            "     \"b\": 2}\n"
            "     ^\n");
  EXPECT_EQ(first_line(json("{\"a\" 1}")), "c:1:6: error: unexpected number literal; expected ':' [read/syntax]");
  EXPECT_EQ(first_line(json("[1]]")), "c:1:4: error: unexpected ']'; expected end of input [read/syntax]");
  EXPECT_EQ(first_line(json("[01]")), "c:1:3: error: unexpected number literal; expected ']' [read/syntax]");
  EXPECT_EQ(first_line(json("[tru]")), "c:1:2: error: invalid literal [read/syntax]");
  EXPECT_EQ(
      first_line(json("[\"a\nb\"]")),
      "c:1:4: error: invalid string: control character U+000A (LF) must be escaped to \\u000A or \\n [read/syntax]");
  EXPECT_EQ(first_line(json("[\"\\x\"]")),
            "c:1:4: error: invalid string: forbidden character after backslash [read/syntax]");
  EXPECT_EQ(first_line(json("hello")), "c:1:1: error: invalid literal [read/syntax]");
}

TEST(JsonRefuses, AFileCutShort) {
  EXPECT_EQ(json("{\"a\": [1,\n"),
            "c:1:10: error: the file ends before the JSON does [read/syntax]\n"
            "    {\"a\": [1,\n"
            "             ^\n");
  for (const char* text : {"{", "[", "{\"a\"", "{\"a\":", "[1", "[1,", "\"a", "\"a\\", "tr", "-", "[\"\\u00"}) {
    EXPECT_NE(json(text).find("error: the file ends before the JSON does [read/syntax]"), std::string::npos)
        << text << "\n"
        << json(text);
  }
}

}  // namespace
}  // namespace oomplan::read
