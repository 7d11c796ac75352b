// Text that no syntax allows, and what a Document says about its own.
#include <gtest/gtest.h>

#include <string>

#include "support.hpp"

namespace oomplan::read {
namespace {

class EverySyntax : public testing::TestWithParam<Syntax> {
 protected:
  static std::string read(std::string text) { return read_as(GetParam(), std::move(text)); }
};

INSTANTIATE_TEST_SUITE_P(All, EverySyntax, testing::Values(Syntax::yaml, Syntax::json, Syntax::toml));

TEST_P(EverySyntax, RefusesEmptyText) {
  for (const char* text : {"", " ", "\n\n", "\t\r\n", "\xEF\xBB\xBF", "\xEF\xBB\xBF \n"}) {
    EXPECT_EQ(first_line(read(text)), "c:1:1: error: the file is empty [read/empty]") << text;
  }
}

TEST_P(EverySyntax, RefusesBytesThatAreNotUtf8) {
  EXPECT_EQ(read("\"a\"\n\"caf\xe9\"\n"),
            "c:2:5: error: byte 0xe9 is not UTF-8 [read/encoding]\n"
            "    \"caf?\"\n"
            "        ^\n"
            "hint: save the file as UTF-8\n");
}

TEST_P(EverySyntax, RefusesUtf16) {
  EXPECT_EQ(first_line(read(std::string("\xff\xfe{\0}\0", 6))),
            "c:1:1: error: the file is UTF-16, not UTF-8 [read/encoding]");
  EXPECT_EQ(first_line(read(std::string("\xfe\xff\0{\0}", 6))),
            "c:1:1: error: the file is UTF-16, not UTF-8 [read/encoding]");
}

TEST_P(EverySyntax, RefusesControlCharacters) {
  EXPECT_EQ(read(std::string("\"a\0\"", 4)),
            "c:1:3: error: a NUL byte is in the file, which no config has [read/binary]\n"
            "    \"a?\"\n"
            "      ^\n"
            "hint: is this the right file?\n");
  EXPECT_EQ(first_line(read("1\n2 \x04")),
            "c:2:3: error: the control character 0x04 is in the file, which no config has [read/binary]");
}

TEST_P(EverySyntax, RefusesTwoByteOrderMarks) {
  EXPECT_EQ(first_line(read("\xEF\xBB\xBF\xEF\xBB\xBF{}")),
            "c:1:1: error: the file begins with two byte order marks [read/encoding]");
}

TEST(ByteOrderMark, IsTakenOffAndRemembered) {
  const auto with = parse_document(
      "\xEF\xBB\xBF"
      "a: 1\n",
      "c", Syntax::yaml);
  ASSERT_TRUE(with);
  EXPECT_TRUE(with->byte_order_mark);
  EXPECT_EQ(with->text, "a: 1\n");
  EXPECT_EQ(with->root.entries[0].column, 1);
  EXPECT_EQ(with->root.entries[0].value.column, 4);
  const auto without = parse_document("a: 1\n", "c", Syntax::yaml);
  EXPECT_FALSE(without->byte_order_mark);
  EXPECT_EQ(first_line(json("\xEF\xBB\xBF{\"a\": 1}")),
            "c:1:1: error: Python's json refuses a file that begins with a byte order mark [read/encoding]");
  EXPECT_EQ(first_line(toml("\xEF\xBB\xBF"
                            "a = 1")),
            "mapping @1:1");
}

TEST(DocumentTest, GivesPlacesAndLines) {
  const auto document = parse_document("a: 1\r\n\r\nb: é", "dir/c.yaml", Syntax::yaml);
  ASSERT_TRUE(document);
  EXPECT_EQ(document->file, "dir/c.yaml");
  EXPECT_EQ(document->syntax, Syntax::yaml);
  EXPECT_EQ(document->at(document->root.entries[1]), (Location{"dir/c.yaml", 3, 1}));
  EXPECT_EQ(document->at(document->root.entries[1].value), (Location{"dir/c.yaml", 3, 4}));
  EXPECT_EQ(document->line(1), "a: 1");
  EXPECT_EQ(document->line(2), "");
  EXPECT_EQ(document->line(3), "b: é");
  EXPECT_EQ(document->line(4), "");
  EXPECT_EQ(document->line(0), "");
  EXPECT_EQ(document->line(-1), "");
}

// The three syntaxes must say the same of the same config.
TEST(Syntaxes, AgreeOnKindsAndTexts) {
  const auto values = [](std::string text) {
    for (std::size_t at = text.find(" @"); at != std::string::npos; at = text.find(" @")) {
      text.erase(at, text.find_first_of(":\n", text.find(':', at) + 1) - at);
    }
    return text;
  };
  const std::string expected = values(json(R"({"lr": 0.5, "n": [1, 2], "m": {"on": true, "s": "x y"}})"));
  EXPECT_EQ(values(yaml("lr: 0.5\nn: [1, 2]\nm:\n  'on': true\n  s: x y\n")), expected);
  EXPECT_EQ(values(toml("lr = 0.5\nn = [1, 2]\n[m]\non = true\ns = 'x y'\n")), expected);
}

}  // namespace
}  // namespace oomplan::read
