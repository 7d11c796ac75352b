// Regular expressions, against what Python's re says of the same.
#include "oomplan/core/pattern.hpp"

#include <gtest/gtest.h>

#include <string>

namespace oomplan {
namespace {

bool whole(std::string_view pattern, std::string_view name) {
  const auto parsed = Pattern::parse(pattern);
  EXPECT_TRUE(parsed) << pattern;
  Pattern::Budget budget;
  return parsed && parsed->matches_all(name, budget).value_or(false);
}
bool start(std::string_view pattern, std::string_view name) {
  const auto parsed = Pattern::parse(pattern);
  EXPECT_TRUE(parsed) << pattern;
  Pattern::Budget budget;
  return parsed && parsed->matches_start(name, budget).value_or(false);
}

TEST(Pattern, HoldsForNamesAsPythonsDo) {
  const std::string attention = R"(model.layers.[\d]+.(mlp|self_attn).(up|down|q|k)_proj)";
  EXPECT_TRUE(whole(attention, "model.layers.17.self_attn.q_proj"));
  EXPECT_FALSE(whole(attention, "model.layers.17.self_attn.o_proj"));
  EXPECT_FALSE(whole(attention, "model.layers.17.self_attn.q_proj.more"));
  EXPECT_TRUE(start(attention, "model.layers.17.self_attn.q_proj.more"));
  EXPECT_FALSE(start("layers", "model.layers"));
  EXPECT_TRUE(whole(R"(.*\.layers\.(3|7|11)\.self_attn\.(q|k)_proj|.*\.mlp\.up_proj)", "a.layers.11.self_attn.k_proj"));
  EXPECT_FALSE(whole(R"(.*\.layers\.(3|7|11)\.self_attn\.(q|k)_proj|.*\.mlp\.up_proj)", "a.layers.1.self_attn.k_proj"));
  EXPECT_TRUE(whole("a(_b.)?c", "ac"));
  EXPECT_TRUE(whole("a(?:_b.)?c", "a_bxc"));
  EXPECT_TRUE(whole("[^a-c]{2,3}", "xyz"));
  EXPECT_FALSE(whole("[^a-c]{2,3}", "xay"));
  EXPECT_FALSE(whole("[^a-c]{2}", "xyz"));
  EXPECT_TRUE(whole("^lm_head$", "lm_head"));
  EXPECT_TRUE(start(R"(^lm_head\.*)", "lm_head.weight"));
  EXPECT_TRUE(whole("", ""));
  EXPECT_TRUE(whole("(a|b*)*c", "abbac"));
}

TEST(Pattern, ReadsNothingElse) {
  for (const char* text : {"(", ")", "a**", "[", "[]", "a{2", "a{3,2}", "*", R"(\b)", R"(\1)", "(?=a)", "(?P<n>a)",
                           "\\", "[b-a]", R"([\.-9])", R"([\d-z])", "^*a", "a$+", "\xC3\xA9?"})
    EXPECT_FALSE(Pattern::parse(text)) << text;
  EXPECT_FALSE(Pattern::parse(std::string(100, '(') + std::string(100, ')')));
}

TEST(Pattern, GivesUpWhereThereAreTooManyWays) {
  const auto pattern = Pattern::parse("(a*)*(a*)*(a*)*b");
  ASSERT_TRUE(pattern);
  Pattern::Budget budget;
  EXPECT_FALSE(pattern->matches_all(std::string(64, 'a'), budget));
  EXPECT_FALSE(Pattern::parse("(x+x+)+y")->matches_all(std::string(3000, 'x'), budget));
  EXPECT_TRUE(Pattern::parse("x+")->matches_all("xx", budget).value_or(false));
}

TEST(Pattern, AllMatchesShareABudget) {
  Pattern::Budget budget{100};
  const auto pattern = Pattern::parse("(.*)(.*)z");
  int answered = 0;
  while (answered < 100 && pattern->matches_all("abc", budget)) ++answered;
  EXPECT_GT(answered, 0);
  EXPECT_LT(answered, 20);
  EXPECT_LT(budget.steps, 1);
}

TEST(Pattern, ANameIsNone) {
  EXPECT_TRUE(is_module_name("self_attn.q_proj"));
  EXPECT_TRUE(is_module_name("all-linear"));
  EXPECT_FALSE(is_module_name("q_proj|k_proj"));
}

}  // namespace
}  // namespace oomplan
