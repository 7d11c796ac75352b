// A fix, an action and a phase have one name each, declared once.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "rules.hpp"
#include "support.hpp"

namespace oomplan::diagnose {
namespace {

/// The first error of the program's rules with one file more.
std::string refusal(const std::string& path, const std::string& text) {
  const Result<Rulebook> rules = Rulebook::load({{path, text, path}});
  return rules ? std::string() : rules.errors().front().message;
}

TEST(Vocabulary, FixesAreTheLadders) {
  const Rules& rules = book().rules();
  EXPECT_GT(rules.fixes.size(), 30U);
  for (const std::string& action : rules.actions) EXPECT_FALSE(rules.is_fix(action)) << action;
  const CauseText* full = rules.find(Cause::vram_exhausted);
  ASSERT_NE(full, nullptr);
  for (const Fix& fix : full->to_do) EXPECT_EQ(fix.kind, Fix::Kind::ladder) << fix.id;
  for (const Fix& fix : rules.find(Cause::disk_full)->to_do) EXPECT_EQ(fix.kind, Fix::Kind::action) << fix.id;
}

TEST(Vocabulary, EachActionIsOfUse) {
  const Rules& rules = book().rules();
  const auto names = [](const std::vector<Fix>& fixes, const std::string& id) {
    return std::any_of(fixes.begin(), fixes.end(), [&](const Fix& fix) { return fix.id == id; });
  };
  for (const std::string& id : rules.actions) {
    const bool used =
        std::any_of(rules.causes.begin(), rules.causes.end(),
                    [&](const CauseText& t) { return names(t.to_do, id) || names(t.not_to_do, id); }) ||
        std::any_of(rules.advice.begin(), rules.advice.end(), [&](const AdviceText& t) { return names(t.to_do, id); });
    EXPECT_TRUE(used) << id;
  }
}

TEST(Vocabulary, RefusesWhatNothingDeclares) {
  EXPECT_TRUE(contains(refusal("causes/disk_full.yaml", "title: x\ndo: {smaller-loss: \"y\"}\n"),
                       "names \"smaller-loss\", which is neither a fix of rules/ladder nor an action"));
  EXPECT_TRUE(contains(refusal("causes/disk_full.yaml", "title: x\ndo_not: {smaller-loss: \"y\"}\n"), "smaller-loss"));
  for (const char* key : {"do: {nothing: \"y\"}", "do_not: {nothing: \"y\"}", "first: [nothing]",
                          "do_not_list: [nothing]", "already: {nothing: [x]}", "set: {nothing: [x 1]}"})
    EXPECT_TRUE(contains(refusal("advice/own.yaml", "when: {causes: [disk_full]}\n" + std::string(key) + "\n"),
                         "rules/advice/own.yaml names \"nothing\""))
        << key;
  EXPECT_TRUE(contains(refusal("advice/own.yaml", "when: {causes: [disk_full], phases: [optimizer]}\n"),
                       "the phase \"optimizer\""));
  EXPECT_TRUE(contains(refusal("advice/own.yaml", "when: {causes: [full_disk]}\n"), "the cause \"full_disk\""));
  EXPECT_TRUE(contains(refusal("alike/own.yaml", "ids: [nothing]\n"), "rules/alike names \"nothing\""));
  EXPECT_TRUE(contains(refusal("actions/own.yaml", "micro-batch: \"x\"\n"), "\"micro-batch\" is a fix"));
}

TEST(Vocabulary, RefusesAKeyThatNobodyReads) {
  EXPECT_TRUE(
      contains(refusal("causes/disk_full.yaml", "title: x\ndon't: {more-disk: \"y\"}\n"), "has no key \"don't\""));
  EXPECT_TRUE(contains(refusal("moments/own.yaml", "order: 1\nmeans: x\n"), "has no key \"means\""));
  EXPECT_TRUE(contains(refusal("launchers/own.yaml", "sings: [x]\n"), "has no key \"sings\""));
  EXPECT_TRUE(
      contains(refusal("advice/own.yaml", "when: {causes: [disk_full]}\nreplace: true\n"), "has no key \"replace\""));
  EXPECT_TRUE(contains(refusal("advice/own.yaml", "when: {cause: [disk_full]}\n"), "has no key \"cause\""));
  EXPECT_TRUE(contains(refusal("suggestions/own.yaml", "hint: [x]\n"), "has no key \"hint\""));
  EXPECT_TRUE(contains(refusal("wording/defines.yaml", "meaning: x\npart: [\"y\"]\n"), "has no key \"part\""));
  EXPECT_TRUE(contains(refusal("messages/own.yaml", "sentence: []\n"), "has no key \"sentence\""));
  EXPECT_TRUE(contains(refusal("alike/own.yaml", "id: [x]\n"), "has no key \"id\""));
}

TEST(Vocabulary, ASentenceHasANameOfItsOwn) {
  const std::string one = "  - {id: a, family: f, says: hint, text: \"frobnicate the memory\"}\n";
  EXPECT_EQ(refusal("messages/own.yaml", "sentences:\n" + one), "");
  EXPECT_TRUE(contains(refusal("messages/own.yaml", "sentences:\n" + one + one), "two sentences are called \"own/a\""));
}

TEST(Vocabulary, ASentenceInAnyLettersIsWrittenInSmallOnes) {
  const auto sentence = [](const std::string& rest) {
    return refusal("messages/own.yaml", "sentences:\n  - {id: a, family: f, says: hint, " + rest + "}\n");
  };
  EXPECT_EQ(sentence("letters: any, text: \"frobnicate {X:size} of memory\""), "");
  EXPECT_TRUE(contains(sentence("letters: any, text: \"Frobnicate the memory\""), "written in small ones"));
  EXPECT_TRUE(contains(sentence("letters: small, text: \"frobnicate the memory\""), "can only be any"));
}

TEST(Vocabulary, AnAnchorInAnyLettersHasFiveSpellings) {
  Sentence sentence;
  sentence.anchor = "out of memory";
  EXPECT_EQ(spellings(sentence), std::vector<std::string>{"out of memory"});
  sentence.letters = Letters::any;
  EXPECT_EQ(spellings(sentence), (std::vector<std::string>{"out of memory", "Out of memory", "Out Of Memory",
                                                           "Out of Memory", "OUT OF MEMORY"}));
}

TEST(Vocabulary, PhasesOfTheEstimatorHaveItsNames) {
  for (const Phase phase : {Phase::load, Phase::forward, Phase::loss, Phase::backward, Phase::optimizer_step,
                            Phase::evaluation, Phase::checkpoint_save}) {
    const MomentText* moment = book().rules().find_moment(name_of(phase));
    ASSERT_NE(moment, nullptr) << name_of(phase);
    EXPECT_EQ(moment->played, phase);
  }
  EXPECT_EQ(book().rules().find_moment("attention")->played, Phase::forward);
  EXPECT_FALSE(book().rules().find_moment("loader")->played);
  EXPECT_TRUE(contains(refusal("moments/own.yaml", "order: 3\npart_of: optimizer\n"), "plays no phase \"optimizer\""));
  EXPECT_TRUE(contains(refusal("moments/own.yaml", "meaning: x\n"), "`order`"));
}

}  // namespace
}  // namespace oomplan::diagnose
