// What PyYAML's safe_load makes of a scalar, for it is what the frameworks call.
#include <gtest/gtest.h>

#include "support.hpp"
#include "yaml_scalar.hpp"

namespace oomplan::read {
namespace {

Node plain(std::string_view text) { return {.kind = resolve(text), .text = std::string(text)}; }
Node quoted(std::string_view text) { return {.kind = Node::Kind::string, .text = std::string(text)}; }

void expect_kind(Node::Kind kind, std::initializer_list<std::string_view> texts) {
  for (const std::string_view text : texts) EXPECT_EQ(word(resolve(text)), word(kind)) << text;
}

TEST(YamlKind, Null) { expect_kind(Node::Kind::null, {"", "~", "null", "Null", "NULL"}); }

TEST(YamlKind, Boolean) {
  expect_kind(Node::Kind::boolean,
              {"yes", "Yes", "YES", "no", "true", "True", "TRUE", "false", "on", "On", "off", "OFF"});
}

TEST(YamlKind, Integer) {
  expect_kind(Node::Kind::integer, {"0", "-0", "1", "+12", "-12", "1_000", "1_", "010", "0_7", "0x1F", "-0xff", "0b101",
                                    "1:30", "190:20:30", "-1:59", "99999999999999999999"});
}

TEST(YamlKind, Real) {
  expect_kind(Node::Kind::real, {"1.0", "-1.", "0.5", ".5", "1e0.0"[0] == '1' ? "1.0e+5" : "", "1.e-3", "1_0.5", ".inf",
                                 "-.Inf", "+.INF", ".nan", ".NaN", "1:30.5", "09.5"});
}

// The trap: 1e-5 is a string to YAML 1.1, and the learning rate is one in half of the configs.
TEST(YamlKind, String) {
  expect_kind(Node::Kind::string,
              {"1e-5", "1e5", "1.0e5", "-.5",        "+.5",   "._5", "08", "0o17", "0x",  "0b2",  "0:30",  "1:60",
               "1:",   "nan", "inf",   "NaN",        "-.nan", "+",   "-",  ".",    "y",   "n",    "Y",     "tRUE",
               "nULL", "12a", "1,000", "2001-01-01", "1.2.3", "=",   "_1", "+-1",  "--1", "bf16", "1.0e+", " 1"});
}

TEST(AsInteger, ReadsWhatPyYamlReads) {
  EXPECT_EQ(plain("12").as_integer(), 12);
  EXPECT_EQ(plain("-1_000").as_integer(), -1000);
  EXPECT_EQ(plain("010").as_integer(), 8);
  EXPECT_EQ(plain("-010").as_integer(), -8);
  EXPECT_EQ(plain("0x1F").as_integer(), 31);
  EXPECT_EQ(plain("0b101").as_integer(), 5);
  EXPECT_EQ(plain("1:30").as_integer(), 90);
  EXPECT_EQ(plain("-190:20:30").as_integer(), -685'230);
  EXPECT_EQ(plain("9223372036854775807").as_integer(), INT64_MAX);
  EXPECT_EQ(plain("-9223372036854775808").as_integer(), INT64_MIN);
  EXPECT_EQ(plain("-0x8000000000000000").as_integer(), INT64_MIN);
}

TEST(AsInteger, ReadsTomlsOctal) { EXPECT_EQ((Node{.kind = Node::Kind::integer, .text = "0o17"}).as_integer(), 15); }

TEST(AsInteger, ReadsAQuotedNumberAsIntDoes) {
  EXPECT_EQ(quoted("8").as_integer(), 8);
  EXPECT_EQ(quoted(" 8\n").as_integer(), 8);
  EXPECT_EQ(quoted("010").as_integer(), 10);
  EXPECT_EQ(quoted("08").as_integer(), 8);
}

TEST(AsInteger, RefusesEverythingElse) {
  for (const std::string_view text : {"", "~", "true", "1.0", "1e3", "9223372036854775808", "0x8000000000000000", "0x_",
                                      "0b_", "9999999999999999999:00", "abc", "1e-5"}) {
    EXPECT_EQ(plain(text).as_integer(), std::nullopt) << text;
  }
  for (const std::string_view text : {"0x10", "1:30", "8.0", "", " ", "--1"}) {
    EXPECT_EQ(quoted(text).as_integer(), std::nullopt) << text;
  }
  EXPECT_EQ((Node{.kind = Node::Kind::integer, .text = "0x-5"}).as_integer(), std::nullopt);
  EXPECT_EQ((Node{.kind = Node::Kind::mapping, .text = "5"}).as_integer(), std::nullopt);
}

TEST(AsNumber, ReadsIntegersRealsAndTheStringsThatAreNumbers) {
  EXPECT_EQ(plain("1e-5").as_number(), 1e-5);
  EXPECT_EQ(plain("2E5").as_number(), 2e5);
  EXPECT_EQ(plain("0.5").as_number(), 0.5);
  EXPECT_EQ(plain("-.5").as_number(), -0.5);
  EXPECT_EQ(plain("1_0.2_5").as_number(), 10.25);
  EXPECT_EQ(plain("3").as_number(), 3.0);
  EXPECT_EQ(plain("010").as_number(), 8.0);
  EXPECT_EQ(plain("1:30.5").as_number(), 90.5);
  EXPECT_EQ(plain("-1:30.5").as_number(), -90.5);
  EXPECT_EQ(plain("99999999999999999999").as_number(), 1e20);
  EXPECT_EQ(quoted(" 0.1 ").as_number(), 0.1);
}

TEST(AsNumber, GivesFiniteNumbersOnly) {
  for (const std::string_view text :
       {"", "~", "true", ".inf", "-.inf", ".nan", "1.0e+999", "inf", "nan", "abc", "0xffffffffffffffffffffff"}) {
    EXPECT_EQ(plain(text).as_number(), std::nullopt) << text;
  }
  EXPECT_EQ((Node{.kind = Node::Kind::real, .text = "inf"}).as_number(), std::nullopt);
}

TEST(AsBoolean, ReadsYamlsWordsQuotedOrNot) {
  for (const std::string_view text : {"true", "True", "yes", "YES", "on"}) EXPECT_EQ(plain(text).as_boolean(), true);
  for (const std::string_view text : {"false", "No", "off", "OFF"}) EXPECT_EQ(plain(text).as_boolean(), false);
  EXPECT_EQ(quoted("true").as_boolean(), true);
  EXPECT_EQ(quoted("fAlse").as_boolean(), false);
  for (const std::string_view text : {"", "~", "1", "0", "y", "truely", "tru", "auto"}) {
    EXPECT_EQ(plain(text).as_boolean(), std::nullopt) << text;
  }
}

TEST(Find, FindsTheValueOfAKey) {
  Node node{.kind = Node::Kind::mapping};
  node.entries.push_back({.key = "a", .value = plain("1")});
  node.entries.push_back({.key = "b", .value = plain("2")});
  ASSERT_NE(node.find("b"), nullptr);
  EXPECT_EQ(node.find("b")->text, "2");
  EXPECT_EQ(node.find("c"), nullptr);
  EXPECT_EQ(plain("a").find("a"), nullptr);
}

}  // namespace
}  // namespace oomplan::read
