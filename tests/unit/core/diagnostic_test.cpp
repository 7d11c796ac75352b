#include <gtest/gtest.h>

#include <string>

#include "oomplan/core/result.hpp"

namespace oomplan {
namespace {

Diagnostic typical() {
  return {Severity::error,         "ingest/bad-value",     "expected an integer",
          {"config.yaml", 12, 13}, "write a whole number", "  batch_size: two"};
}

TEST(DiagnosticText, ShowsPlaceMessageCodeCaretAndHint) {
  EXPECT_EQ(to_text(typical()),
            "config.yaml:12:13: error: expected an integer [ingest/bad-value]\n"
            "      batch_size: two\n"
            "                ^\n"
            "hint: write a whole number\n");
}

TEST(DiagnosticText, LeavesOutWhatIsNotThere) {
  EXPECT_EQ(to_text({.message = "m"}), "error: m\n");
  EXPECT_EQ(to_text({.severity = Severity::warning, .code = "a/b", .message = "m"}), "warning: m [a/b]\n");
  EXPECT_EQ(to_text({.severity = Severity::note, .message = "m", .where = {"f", 0, 0}}), "f: note: m\n");
  EXPECT_EQ(to_text({.message = "m", .where = {"f", 3, 0}}), "f:3: error: m\n");
  EXPECT_EQ(to_text({.message = "m", .where = {"", 3, 4}}), "line 3:4: error: m\n");
}

TEST(DiagnosticText, HasNoCaretWithoutColumn) {
  EXPECT_EQ(to_text({.message = "m", .where = {"f", 3, 0}, .excerpt = "abc"}), "f:3: error: m\n    abc\n");
}

TEST(DiagnosticText, CaretStandsUnderTheCharacterNotTheByte) {
  EXPECT_EQ(to_text({.message = "m", .where = {"f", 1, 7}, .excerpt = "é: ñx"}),
            "f:1:7: error: m\n"
            "    é: ñx\n"
            "        ^\n");
}

TEST(DiagnosticText, CaretStandsUnderATabbedLine) {
  EXPECT_EQ(to_text({.message = "m", .where = {"f", 1, 3}, .excerpt = "\t\tx"}),
            "f:1:3: error: m\n"
            "      x\n"
            "      ^\n");
}

TEST(DiagnosticText, CaretPastTheEndStandsBehindTheLine) {
  EXPECT_EQ(to_text({.message = "m", .where = {"f", 1, 900}, .excerpt = "ab"}),
            "f:1:900: error: m\n"
            "    ab\n"
            "      ^\n");
}

TEST(DiagnosticText, ShowsOnlyTheMiddleOfALongLine) {
  const std::string line = std::string(500, 'a') + "X" + std::string(500, 'b');
  EXPECT_EQ(to_text({.message = "m", .where = {"f", 1, 501}, .excerpt = line}),
            "f:1:501: error: m\n"
            "    ..." +
                std::string(50, 'a') + "X" + std::string(49, 'b') +
                "...\n"
                "    " +
                std::string(53, ' ') + "^\n");
}

TEST(DiagnosticText, ShowsTheBeginningAndTheEndOfALongLine) {
  const std::string line(300, 'a');
  EXPECT_EQ(to_text({.message = "m", .where = {"f", 1, 1}, .excerpt = line}),
            "f:1:1: error: m\n    " + std::string(100, 'a') + "...\n    ^\n");
  EXPECT_EQ(to_text({.message = "m", .where = {"f", 1, 300}, .excerpt = line}),
            "f:1:300: error: m\n    ..." + std::string(100, 'a') + "\n" + std::string(4 + 3 + 99, ' ') + "^\n");
}

TEST(DiagnosticText, CutsALongLineBetweenCharacters) {
  std::string line;
  for (int i = 0; i < 200; ++i) line += "€";
  const std::string text = to_text({.message = "m", .where = {"f", 1, 301}, .excerpt = line});
  EXPECT_EQ(text.find('?'), std::string::npos) << text;
}

TEST(DiagnosticText, NothingHostileReachesTheTerminal) {
  EXPECT_EQ(to_text({.message = "a\x1b[31mb\n", .where = {"f\r", 1, 2}, .hint = "\x07", .excerpt = "\x1b\xffz"}),
            "f?:1:2: error: a?[31mb?\n"
            "    ??z\n"
            "     ^\n"
            "hint: ?\n");
}

TEST(ResultTest, HoldsAValueOrErrors) {
  const Result<int> good = 4;
  EXPECT_TRUE(good.ok());
  EXPECT_EQ(*good, 4);
  const Result<int> bad = typical();
  EXPECT_FALSE(bad);
  ASSERT_EQ(bad.errors().size(), 1U);
  EXPECT_EQ(bad.errors()[0], typical());
}

}  // namespace
}  // namespace oomplan
