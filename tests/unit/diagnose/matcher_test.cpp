#include "matcher.hpp"

#include <gtest/gtest.h>

#include "program.hpp"

namespace oomplan::diagnose {
namespace {

Attempt matched(const std::string& pattern, const std::string& text) {
  const Compiled compiled = compile(pattern);
  EXPECT_EQ(compiled.error, "");
  return match_at(compiled.program, text, 0);
}

std::string value(const Attempt& attempt, const std::string& name) {
  if (!attempt.match) return "no match";
  for (const Reading& reading : attempt.match->facts)
    if (reading.name == name) return reading.text + "=" + std::to_string(reading.integer);
  return "none";
}

TEST(Matcher, ReadsTypedHoles) {
  EXPECT_EQ(value(matched("used {x:size} of", "used 1.50 GiB of"), "x"), "1.50 GiB=1610612736");
  EXPECT_EQ(value(matched("used {x:size}", "used 201. GiB"), "x"), "201. GiB=215822106624");
  EXPECT_EQ(value(matched("used {x:size}.", "used 64Gi."), "x"), "64Gi=68719476736");
  EXPECT_EQ(value(matched("rss:{x:size}", "rss:26184840kB"), "x"), "26184840kB=26813276160");
  EXPECT_EQ(value(matched("all {x:bytes} b", "all 1,600,000,000 b"), "x"), "1,600,000,000=1600000000");
  EXPECT_EQ(value(matched("({x:kibibytes} >", "(8 >"), "x"), "8=8192");
  EXPECT_EQ(value(matched("code {x:integer}", "code -9"), "x"), "-9=-9");
  EXPECT_EQ(value(matched("signal {x:signal}", "signal Bus error"), "x"), "SIGBUS=0");
  EXPECT_EQ(value(matched("used {x:size}", "used 5 things"), "x"), "no match");
}

TEST(Matcher, ReadsTheDeviceThatWasARawCharacter) {
  EXPECT_EQ(value(matched("GPU {x:device} has", "GPU 3 has"), "x"), "3=3");
  EXPECT_EQ(value(matched("GPU {x:device} has", std::string("GPU \x01 has")), "x"), "1=1");
  EXPECT_EQ(value(matched("GPU {x:device} has", std::string("GPU \0 has", 9)), "x"), "0=0");
  EXPECT_EQ(value(matched("GPU {x:device} has", "GPU  has"), "x"), "=0");
}

TEST(Matcher, TakesAlternativesOptionsAndRepetitions) {
  EXPECT_TRUE(matched("<<a|bb>>c", "bbc").match);
  EXPECT_FALSE(matched("<<a|bb>>c", "abbc").match);
  EXPECT_TRUE(matched("a<<b>>?c", "ac").match);
  EXPECT_TRUE(matched("a<<b >>*c", "ab b b c").match);
  EXPECT_EQ(value(matched("a<< (x{n:integer})>>?.", "a (x7)."), "n"), "7=7");
}

TEST(Matcher, TakesAnyLettersWhereItMay) {
  const Compiled compiled = compile("failed to allocate {x:size}<< of {:word}>>? memory");
  const auto any = [&](const std::string& text) { return match_around(compiled.program, text, 4, Letters::any); };
  EXPECT_EQ(value(any("OOPS FAILED TO ALLOCATE 1 GiB MEMORY"), "x"), "1 GiB=1073741824");
  EXPECT_TRUE(any("oh: Failed to Allocate 1 GiB of Frob Memory").match);
  EXPECT_TRUE(any("oh: Failed To\nALLO\nCATE 1 GiB memory").match);
  EXPECT_FALSE(match_around(compiled.program, "oh: Failed to allocate 1 GiB memory", 4).match);
  EXPECT_FALSE(any("oh: Failed to allocate 1 GiB menory").match);
}

TEST(Matcher, ReadsOnAcrossBrokenLines) {
  EXPECT_EQ(value(matched("Tried to allocate {x:size}.", "Tried to allo\ncate 12.\n50 GiB."), "x"),
            "12. 50 GiB=13421772800");
  EXPECT_TRUE(matched("is free", "is\nfree").match);
}

TEST(Matcher, SaysWhenTheNextLineMightGoOn) {
  EXPECT_TRUE(matched("one two", "one").wants_more);
  EXPECT_FALSE(matched("one two", "one three").wants_more);
  const Attempt optional = matched("one<< two>>?", "one");
  EXPECT_TRUE(optional.match && optional.wants_more);
}

// Gaps are bounded and steps are counted: a text made to backtrack ends all the same.
TEST(Matcher, EndsOnHostileText) {
  std::string text = "a ";
  for (int i = 0; i < 20'000; ++i) text += "b c ";
  EXPECT_FALSE(matched("a {x:text} b {y:text} c {z:text} d", text).match);
}

TEST(Compile, RefusesWhatIsNoTemplate) {
  EXPECT_NE(compile("a {x} b").error, "");
  EXPECT_NE(compile("a {x:colour} b").error, "");
  EXPECT_NE(compile("a <<b").error, "");
}

}  // namespace
}  // namespace oomplan::diagnose
