#include <gmock/gmock.h>

#include <random>
#include <regex>

#include "oomplan/measure/measure.hpp"
#include "parquet_file.hpp"
#include "temporary.hpp"
#include "token_counts.hpp"

namespace oomplan::measure {
namespace {

TEST(Pieces, AreAsGpt2Cuts) {
  EXPECT_EQ(pieces_in(""), 0);
  EXPECT_EQ(pieces_in("Hello, world"), 3);
  EXPECT_EQ(pieces_in("don't"), 2);
  EXPECT_EQ(pieces_in("we 've"), 3);  // not short for anything after a space
  EXPECT_EQ(pieces_in("x1 22"), 3);
  EXPECT_EQ(pieces_in("a  b"), 3);
  EXPECT_EQ(pieces_in("a\n\nb"), 4);
  EXPECT_EQ(pieces_in("a \n"), 2);
  EXPECT_EQ(pieces_in("   "), 1);
}

TEST(Pieces, OfAsciiAreThoseOfTheExpression) {
  const std::regex gpt2("'s|'t|'re|'ve|'m|'ll|'d| ?[A-Za-z]+| ?[0-9]+| ?[^\\sA-Za-z0-9]+|\\s+(?!\\S)|\\s+");
  constexpr std::string_view letters = "abstdlmrev019  \n\t.,!'\"-";
  std::mt19937_64 random(3);
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (auto left = random() % 30; left > 0; --left) text += letters[random() % letters.size()];
    const auto count = std::distance(std::sregex_iterator(text.begin(), text.end(), gpt2), std::sregex_iterator());
    ASSERT_EQ(pieces_in(text), count) << testing::PrintToString(text);
  }
}

TEST(Pieces, BeyondAsciiJoinWhatTheyStandIn) {
  EXPECT_EQ(pieces_in("école"), 1);
  EXPECT_EQ(pieces_in("l’été, ça"), 3);  // GPT-2's are five
  EXPECT_EQ(pieces_in("a\u00a0b"), 3);
  EXPECT_EQ(pieces_in("中文 字"), 2);
}

TEST(Pieces, OfAnyBytesEnd) {
  EXPECT_EQ(pieces_in("\xf0"), 1);
  EXPECT_EQ(pieces_in("a\xe2"), 1);
  EXPECT_EQ(pieces_in(std::string(3, '\0')), 1);
}

Tokens tokens_of(const std::string& path) {
  const StreamReport report = stream({path}, {.tokens = true});
  EXPECT_TRUE(report.diagnostics.empty()) << to_text(report.diagnostics[0]);
  return report.tokens.value_or(Tokens{});
}

TEST(Tokens, OfTextAnywhereInAColumn) {
  const Temporary folder;
  const Tokens tokens =
      tokens_of(folder.file("chat.jsonl", R"({"messages": [{"role": "user", "content": "Hi there"}], "n": 3}
{"messages": [{"role": "user", "content": "Hi"}, {"role": "bot", "content": "Well, hello"}], "n": 4}
)"));
  ASSERT_EQ(tokens.columns.size(), 1);
  EXPECT_EQ(tokens.columns[0].name, "messages");
  EXPECT_TRUE(tokens.columns[0].text);
  EXPECT_EQ(tokens.columns[0].rows, 2);
  EXPECT_EQ(tokens.columns[0].pieces.longest, 6);
  EXPECT_EQ(tokens.columns[0].pieces.mean, 4.5);
  EXPECT_EQ(tokens.columns[0].bytes.longest, 20);
  EXPECT_EQ(tokens.text_pieces.longest, 6);
}

TEST(Tokens, OfListsOfWholeNumbersAreTheirLengths) {
  const Temporary folder;
  const Tokens json = tokens_of(folder.file(
      "ids.jsonl", "{\"input_ids\": [1, 2, 3]}\n{\"input_ids\": []}\n{\"input_ids\": [7]}\n{\"v\": [0.5]}\n"));
  ASSERT_EQ(json.columns.size(), 1);
  EXPECT_FALSE(json.columns[0].text);
  EXPECT_EQ(json.columns[0].rows, 2);
  EXPECT_EQ(json.columns[0].pieces.longest, 3);
  EXPECT_EQ(json.columns[0].pieces.mean, 2);
  EXPECT_EQ(json.text_bytes.longest, 0);
  write_parquet(*small_table(), folder / "small.parquet");
  const Tokens columns = tokens_of(folder / "small.parquet");
  ASSERT_EQ(columns.columns.size(), 2);
  EXPECT_EQ(columns.columns[0].name, "name");
  EXPECT_EQ(columns.columns[1].name, "tags");
  EXPECT_EQ(columns.columns[1].pieces.longest, 2);
}

TEST(Tokens, OfManyColumnsAreBounded) {
  const Temporary folder;
  std::string text = "{";
  for (int i = 0; i < 100; ++i) text += (i ? ", \"c" : "\"c") + std::to_string(i) + "\": \"x\"";
  const Tokens tokens = tokens_of(folder.file("wide.jsonl", text + "}\n"));
  EXPECT_EQ(tokens.columns.size(), 64);
  EXPECT_EQ(tokens.values_left_out, 36);
  EXPECT_EQ(tokens.text_pieces.longest, 100);
}

TEST(Tokens, OfBytesThatAreNoTextAreNone) {
  const Temporary folder;
  const StreamReport report = stream({folder.file("image", "\xff\xd8\xff")}, {.format = "opaque", .tokens = true});
  ASSERT_TRUE(report.tokens.has_value());
  EXPECT_TRUE(report.tokens->columns.empty());
}

}  // namespace
}  // namespace oomplan::measure
