// Characters and folds in front of the matcher: each piece of text becomes what the rules are written in, and knows
// where it was.
#include <gtest/gtest.h>

#include "escapes.hpp"
#include "unwrap.hpp"

namespace oomplan::diagnose {
namespace {

std::vector<std::string> texts(std::string_view line) {
  std::vector<std::string> out;
  for (const Piece& piece : unfolded(line)) out.push_back(piece.text);
  return out;
}

using Texts = std::vector<std::string>;

TEST(Plain, TurnsForeignBlanksQuotesAndDashesIntoAscii) {
  EXPECT_EQ(plain("out\u00a0of\tmemory\u3000now"), "out of memory now");
  EXPECT_EQ(plain("\ufeff\u201cCUDA\u201d isn\u2019t \u2013 \u200bfree"), "\"CUDA\" isn't - free");
  EXPECT_EQ(plain("Gr\u00f6\u00dfe \u2588\u2588"), "Gr\u00f6\u00dfe \u2588\u2588") << "letters and bars stay";
  EXPECT_EQ(plain("cut \xE2\x80"), "cut \xE2\x80");
}

TEST(Plain, TakesMarkdownsBackslashesOffButNoPaths) {
  EXPECT_EQ(without_markdown("torch\\_x \\[0\\]"), "torch_x [0]");
  EXPECT_EQ(without_markdown("C:\\_dir\\[a]"), "C:\\_dir\\[a]");
}

TEST(Plain, TakesTheSignsOfBoldWordsOffButNoOperators) {
  EXPECT_EQ(without_markdown("**RuntimeError: out of memory.** Tried"), "RuntimeError: out of memory. Tried");
  EXPECT_EQ(without_markdown("seen **once**, **twice**"), "seen once, twice");
  for (const char* text : {"f(**options), 2**30 and **more", "*****************", "** a note **", "a ** b ** c"})
    EXPECT_EQ(without_markdown(text), text);
}

TEST(ForeignBlanks, AreSeenOnlyWhereTheyAreTheRule) {
  EXPECT_TRUE(has_foreign_blanks("a\u00a0b\u00a0c\n"));
  EXPECT_TRUE(has_foreign_blanks("a\tb\tc\n"));
  EXPECT_FALSE(has_foreign_blanks("a b c d\te\n"));
}

TEST(Unfolded, LeavesAPlainLineAlone) {
  for (const char* line : {"RuntimeError: CUDA error: out of memory", "C:\\new\\torch\\nn\\x.py", "a & b < c # d", ""})
    EXPECT_EQ(texts(line), Texts{line});
}

TEST(Unfolded, TakesApartWhatLoggersFold) {
  EXPECT_EQ(texts(R"(err="a\nb \"c\"")"), (Texts{"err=\"a", "b \"c\"\""}));
  EXPECT_EQ(texts("x: a#012  b#011c"), (Texts{"x: a", "  b c"}));
  EXPECT_EQ(texts("a&nbsp;b<br>c &lt;d&gt; &#39;e&#x27;"), (Texts{"a b", "c <d> 'e'"}));
  EXPECT_EQ(texts(R"({"log":"{\"e\":\"a\\nb\"}"})").back(), "b\"}\"}") << "JSON in JSON";
  EXPECT_EQ(texts(R"(b'\xe2\x94\x82 a\nb')"), (Texts{"b'\u2502 a", "b'"}));
  EXPECT_EQ(texts(" 5%|# | 5/9 [00:01<00:02, 7.1it/s]Killed"), (Texts{" 5%|# | 5/9 [00:01<00:02, 7.1it/s]", "Killed"}));
}

TEST(Unfolded, TakesARsyslogLineApartButNoNumberOfAnIssue) {
  EXPECT_EQ(texts("train[77]: #012Traceback:#012  File \"a.py\"#012    x()#012#012E: boom#0120x7f: f"),
            (Texts{"train[77]:", "Traceback:", "  File \"a.py\"", "    x()", "E: boom", "0x7f: f"}));
  for (const char* line : {"see issue #012 CUDA out of memory", "(#012) fixed", "#011: a", "see #012", "pull #0123 b"})
    EXPECT_EQ(texts(line), Texts{line});
}

TEST(Unfolded, JoinsTheHalvesOfACharacter) {
  const std::string face = "\U0001F600";
  EXPECT_EQ(texts(R"(a="b \ud83d\ude00\nc")"), (Texts{"a=\"b " + face, "c\""}));
  EXPECT_EQ(messages_of_json(R"({"message": "b \ud83d\ude00\nc"})").front(), "b " + face + "\nc");
  EXPECT_EQ(texts(R"(a="b \ud83d\nc")"), (Texts{"a=\"b \uFFFD", "c\""})) << "a half alone";
}

TEST(Unfolded, KnowsWhereEachPieceWas) {
  const std::vector<Piece> pieces = unfolded(R"(x="one\ntwo")");
  ASSERT_EQ(pieces.size(), 2U);
  EXPECT_EQ(pieces[1].begin, 8U);
}

TEST(Unfolded, GivesEachFrameALine) {
  const Texts pieces =
      texts("Traceback (most recent call last): File \"a.py\", line 1, in f x() File \"b.py\", line 2, in g y()");
  ASSERT_EQ(pieces.size(), 3U);
  EXPECT_EQ(pieces[2], "File \"b.py\", line 2, in g y()");
}

TEST(Escapes, AreNoneWhereABackslashIsNotOfAWriter) {
  EXPECT_TRUE(is_escaped(R"(a\nb)"));
  EXPECT_FALSE(is_escaped(R"(D:\ai\nodes)"));
  EXPECT_FALSE(is_escaped(R"(C:\new\train)"));
  EXPECT_FALSE(is_escaped(R"(a \"b\")")) << "no line ends, nothing to take apart";
}

// Whatever a logger calls the member that says why; what a user wrote is none.
TEST(JsonLine, SaysWhatMembersOfAFailureSay) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(messages_of_json(R"({"msg":"failed","err":"it is full","level":"error"})"),
            (Texts{"failed", "it is full"}));
  EXPECT_EQ(messages_of_json(R"({"message":"failed","exception":{"type":"Oh","value":"it is full"}})"),
            (Texts{"failed", "it is full"}));
  EXPECT_EQ(messages_of_json(R"({"level":"warn","msg":"skipped","err":"it is full"})"), (Texts{"skipped"}));
  EXPECT_EQ(messages_of_json(R"({"msg":"rule","reason":"OOMKilled"})"), (Texts{"rule"}));
  EXPECT_EQ(messages_of_json(R"({"msg":"ended","exit_code":-9})"), (Texts{"ended", R"("exitCode":-9)"}));
  EXPECT_EQ(
      messages_of_json(R"({"msg":"ended","exitCode":137,"user":{"reasoning":"it is full"},"reason":"OOMKilled"})"),
      (Texts{"ended", R"("exitCode":137,"reason":"OOMKilled")"}));
  EXPECT_EQ(messages_of_json(R"({"msg":"asked","prompt":"it is full"})"), (Texts{"asked"}));
  EXPECT_EQ(messages_of_json(R"({"prompt":"it is full","response":"Then empty it."})"), (Texts{""}));
}

}  // namespace
}  // namespace oomplan::diagnose
