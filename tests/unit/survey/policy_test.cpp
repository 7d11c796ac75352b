#include <gtest/gtest.h>

#include "oomplan/survey/survey.hpp"

namespace oomplan {
namespace {

Result<Policy> policy(const std::string& text) {
  const auto document = parse_document(text, "policy.yaml", Syntax::yaml);
  return document ? read_policy(*document, {}) : document.errors();
}

TEST(ReadPolicy, ARuleHasTheRestFromTheTop) {
  const auto read = policy(
      "gpus: [24GiB]\nheadroom: 8%\nbudget: 1GiB\nrules:\n"
      "  - {configs: a/**, gpus: 80GiB}\n  - {configs: [b/*, c/*], headroom: 0, budget: 0}\n");
  ASSERT_TRUE(read);
  const GateRule& first = *rule_for(*read, "a/b/c.yaml");
  EXPECT_EQ(first.gpus.front().total, Bytes::gib(80));
  EXPECT_DOUBLE_EQ(first.headroom, 0.08);
  const GateRule& second = *rule_for(*read, "./c/x.yaml");
  EXPECT_EQ(second.gpus.front().total, Bytes::gib(24));
  EXPECT_DOUBLE_EQ(second.headroom, 0);
  EXPECT_EQ(second.budget, Bytes());
  EXPECT_EQ(rule_for(*read, "/else/where.yaml")->budget, Bytes::gib(1));
}

TEST(ReadPolicy, AHeadroomBelowOnePerCentHasItsSign) {
  for (const auto& [text, part] : {std::pair("0.05%", 0.0005), {"5", 0.05}, {"0", 0.0}, {"1", 0.01}, {"8.5", 0.085}}) {
    const auto read = policy(std::string("gpus: [24GiB]\nheadroom: ") + text + "\n");
    ASSERT_TRUE(read) << text;
    EXPECT_DOUBLE_EQ(read->rules.front().headroom, part) << text;
  }
}

TEST(ReadPolicy, IsForNobodyElse) {
  const auto read = policy("rules: [{configs: a/*, gpus: 24GiB}]\n");
  ASSERT_TRUE(read);
  EXPECT_DOUBLE_EQ(rule_for(*read, "a/x.yaml")->headroom, 0.05);
  EXPECT_EQ(rule_for(*read, "b/x.yaml"), nullptr);
}

TEST(ReadPolicy, RefusesWhatIsNone) {
  for (const char* text : {"[]", "a", "gpus: []", "gpus: {a: b}", "headroom: 5%", "gpus: 24GiB\nheadroom: 100%",
                           "gpus: 24GiB\nheadroom: -1", "gpus: 24GiB\nheadroom: 0.05", "gpus: 24GiB\nbudget: -1GiB",
                           "gpus: 24GiB\nrules: {}", "gpus: 24GiB\nrules: [a]", "rules: [{configs: a}]",
                           "gpus: 24GiB\nrules: [{gpus: 24GiB}]", "gpus: 24GiB\nallow_undecided: [[a]]", "gpus: ~",
                           "gpus: 24GiB\nallow_undecided: 'a['", "gpus: 24GiB\nrules: [{configs: '[a/b]'}]"}) {
    const auto read = policy(text);
    ASSERT_FALSE(read) << text;
    for (const Diagnostic& error : read.errors()) EXPECT_EQ(error.code, "survey/bad-policy") << text;
  }
}

}  // namespace
}  // namespace oomplan
