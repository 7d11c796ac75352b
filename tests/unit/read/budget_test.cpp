// All input is hostile: what would cost too much is refused, at once, wherever in the text it is.
#include <gtest/gtest.h>

#include "support.hpp"

namespace oomplan::read {
namespace {

constexpr int mebi = 1 << 20;

std::string alias_bomb() {
  std::string out = "a: &a [x,x,x,x,x,x,x,x,x]\n";
  for (char name = 'b'; name <= 'g'; ++name) {
    const std::string alias = std::string("*") + static_cast<char>(name - 1);
    out += std::string(1, name) + ": &" + name + " [" + alias + repeated("," + alias, 8) + "]\n";
  }
  return out;
}

TEST(Budget, RefusesAliasesThatMultiply) {
  ASSERT_LT(alias_bomb().size(), 304U);
  EXPECT_EQ(yaml(alias_bomb()),
            "c:6:8: error: more than 100,000 keys and values once aliases are expanded [read/too-many-nodes]\n"
            "    f: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\n"
            "           ^\n");
}

TEST(Budget, RefusesMergesThatMultiply) {
  std::string text = "a: &a {k: 1, l: 2}\n";
  for (char name = 'b'; name <= 'z'; ++name) {
    const std::string alias = std::string("*") + static_cast<char>(name - 1);
    text += std::string(1, name) + ": &" + name + " {<<: [" + alias + "," + alias + "]}\n";
  }
  EXPECT_NE(yaml(text).find("[read/too-many-nodes]"), std::string::npos) << yaml(text);
}

TEST(Budget, RefusesALongScalarManyTimes) {
  const std::string text = "a: &a " + std::string(mebi, 'x') + "\nb: [" + repeated("*a,", 20) + "]\n";
  EXPECT_EQ(first_line(yaml(text)),
            "c:2:23: error: more than 8.00 MiB of text once aliases are expanded [read/too-large]");
}

TEST(Budget, CountsKeysAndValues) {
  const ReadBudget six{.nodes = 6};
  const ReadBudget five{.nodes = 5};
  EXPECT_EQ(first_line(yaml("a: 1\nb: [2]\n", six)), "mapping @1:1");
  EXPECT_EQ(first_line(json("{\"a\": 1, \"b\": [2]}", six)), "mapping @1:1");
  EXPECT_EQ(first_line(toml("a = 1\nb = [2]\n", six)), "mapping @1:1");
  EXPECT_EQ(yaml("a: 1\nb: [2]\n", five),
            "c:2:5: error: more than 5 keys and values [read/too-many-nodes]\n"
            "    b: [2]\n"
            "        ^\n");
  EXPECT_EQ(first_line(json("{\"a\": 1, \"b\": [2]}", five)),
            "c:1:16: error: more than 5 keys and values [read/too-many-nodes]");
  EXPECT_EQ(first_line(toml("a = 1\nb = [2]\n", five)),
            "c:2:6: error: more than 5 keys and values [read/too-many-nodes]");
}

TEST(Budget, LetsDepthGoToItsLimitAndNoFurther) {
  const std::string at_limit = std::string(64, '[') + std::string(64, ']');
  const std::string beyond = std::string(65, '[') + std::string(65, ']');
  EXPECT_EQ(first_line(yaml(at_limit)), "sequence @1:1");
  EXPECT_EQ(first_line(json(at_limit)), "sequence @1:1");
  EXPECT_EQ(first_line(toml("a = " + std::string(63, '[') + std::string(63, ']'))), "mapping @1:1");
  EXPECT_EQ(first_line(yaml(beyond)), "c:1:65: error: nested deeper than 64 levels [read/too-deep]");
  EXPECT_EQ(first_line(json(beyond)), "c:1:65: error: nested deeper than 64 levels [read/too-deep]");
  EXPECT_EQ(first_line(toml("a = " + at_limit)), "c:1:68: error: nested deeper than 64 levels [read/too-deep]");
}

TEST(Budget, NeverGoesDeeperThanTheStackIsSureToBear) {
  const ReadBudget greedy{.depth = 1 << 30};
  const std::string deep = std::string(400, '[') + std::string(400, ']');
  EXPECT_EQ(first_line(yaml(deep, greedy)), "c:1:257: error: nested deeper than 256 levels [read/too-deep]");
  EXPECT_EQ(first_line(json(deep, greedy)), "c:1:257: error: nested deeper than 256 levels [read/too-deep]");
  EXPECT_EQ(first_line(toml("a=" + deep, greedy)), "c:1:258: error: nested deeper than 256 levels [read/too-deep]");
}

TEST(Budget, CountsTheDepthBehindAnAlias) {
  const std::string text = "- &a " + std::string(40, '[') + std::string(40, ']') + "\n- " + std::string(40, '[') +
                           "*a" + std::string(40, ']') + "\n";
  EXPECT_EQ(first_line(yaml(text)),
            "c:2:43: error: nested deeper than 64 levels once aliases are expanded [read/too-deep]");
}

class Nested : public testing::TestWithParam<std::pair<Syntax, const char*>> {};

TEST_P(Nested, TenThousandLevelsAreRefused) {
  const auto [syntax, part] = GetParam();
  const std::string head = syntax == Syntax::toml ? "a" : "";
  EXPECT_NE(read_as(syntax, head + repeated(part, 10'000)).find("nested deeper than 64 levels [read/too-deep]"),
            std::string::npos);
  EXPECT_NE(read_as(syntax, head + repeated(part, 10'000) + " = 1").find("[read/too-deep]"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Syntaxes, Nested,
                         testing::Values(std::pair(Syntax::yaml, "["), std::pair(Syntax::yaml, "{a: "),
                                         std::pair(Syntax::yaml, "- "), std::pair(Syntax::yaml, "? "),
                                         std::pair(Syntax::yaml, "{["), std::pair(Syntax::yaml, "[a: "),
                                         std::pair(Syntax::json, "["), std::pair(Syntax::json, "{\"a\":"),
                                         std::pair(Syntax::toml, "={a"), std::pair(Syntax::toml, ".a"),
                                         std::pair(Syntax::toml, ".'a'")));

TEST(Budget, RefusesDeepTomlHeadersAndArrays) {
  EXPECT_NE(toml("a=" + repeated("[", 10'000)).find("[read/too-deep]"), std::string::npos);
  EXPECT_NE(toml("[a" + repeated(".a", 10'000) + "]").find("[read/too-deep]"), std::string::npos);
  EXPECT_NE(toml("[[a" + repeated(" . a", 10'000) + "]]").find("[read/too-deep]"), std::string::npos);
}

TEST(Budget, AddsUpTomlsHeaderKeyAndBrackets) {
  const std::string header = "[a" + repeated(".a", 29) + "]\n";
  const std::string key = "b" + repeated(".b", 29) + " = ";
  EXPECT_EQ(first_line(toml(header + key + "1")), "mapping @1:1");
  EXPECT_NE(toml(header + key + std::string(20, '[') + std::string(20, ']')).find("[read/too-deep]"),
            std::string::npos);
}

TEST(Budget, RefusesWideTextInEverySyntax) {
  EXPECT_NE(yaml(repeated("- 1\n", 200'000)).find("[read/too-many-nodes]"), std::string::npos);
  EXPECT_NE(json("[1" + repeated(",1", 200'000) + "]").find("[read/too-many-nodes]"), std::string::npos);
  EXPECT_NE(toml("a=[1" + repeated(",1", 200'000) + "]").find("[read/too-many-nodes]"), std::string::npos);
  EXPECT_NE(toml(repeated("[[a]]\n", 200'000)).find("[read/too-many-nodes]"), std::string::npos);
}

TEST(Budget, StopsAFlowCollectionBeforeItIsGigabytesOfTokens) {
  for (const char bracket : {'[', '{'}) {
    EXPECT_EQ(first_line(yaml("a: " + std::string(4 * mebi, bracket))),
              "c:1:67: error: nested deeper than 64 levels [read/too-deep]");
  }
}

TEST(Budget, LetsAFlowCollectionBeAsLongAsTheNodesAllow) {
  std::string text = "{\"k0\": 1";
  for (int i = 1; i < 49'000; ++i) text += ", \"k" + std::to_string(i) + "\": [\"a\"]";
  EXPECT_NE(yaml(text + "}").find("[read/too-many-nodes]"), std::string::npos);  // three nodes each
  text = "{\"k0\": 1";
  for (int i = 1; i < 49'000; ++i) text += ", \"k" + std::to_string(i) + "\": \"a\"";
  EXPECT_EQ(first_line(yaml(text + "}")), "mapping @1:1");
}

TEST(Budget, RefusesTextLongerThanItsBytes) {
  EXPECT_EQ(yaml("a: 1234567", {.bytes = 9}), "c: error: the file is larger than 9 B [read/too-large]\n");
  EXPECT_EQ(first_line(yaml("a: 123456", {.bytes = 9})), "mapping @1:1");
}

}  // namespace
}  // namespace oomplan::read
