#include "oomplan/arguments/arguments.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oomplan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;
using Kind = ParsedArguments::Kind;

struct Program {
  Program() {
    arguments.add_version("planner 1.2");
    plan.option("--gpu", gpus, "A GPU").repeatable().type_name("NAME");
    plan.option("CONFIG", config, "The config").required();
    plan.flag("--json", json, "JSON").needs(plan.option("--rows", rows, "How many").between(1, 10));
    other.hand_on();
  }

  ParsedArguments parse(std::vector<std::string> words) {
    words.insert(words.begin(), "planner");
    std::vector<char*> out;
    for (std::string& word : words) out.push_back(word.data());
    return arguments.parse(static_cast<int>(out.size()), out.data());
  }

  std::vector<std::string> gpus{};
  std::string config{};
  int rows = 0;
  bool json = false;
  Arguments arguments{"planner", "Plans.", {"Data", "Plan"}};
  ArgumentParser plan = arguments.parser().command("plan", "Plan a run").in("Plan").examples({"planner plan x.yml"});
  ArgumentParser other = arguments.parser().command("other", "Another program").in("Data");
};

TEST(Arguments, AreWrittenToWhereTheyWereDeclaredWith) {
  Program program;
  EXPECT_EQ(program.parse({"plan", "--gpu", "a", "x.yml", "--gpu", "b", "--rows", "3", "--json"}).kind, Kind::command);
  EXPECT_TRUE(program.plan.is_asked());
  EXPECT_FALSE(program.other.is_asked());
  EXPECT_THAT(program.gpus, ElementsAre("a", "b"));
  EXPECT_EQ(program.config, "x.yml");
  EXPECT_EQ(program.rows, 3);
  EXPECT_TRUE(program.json);
}

TEST(Arguments, WithAMistakeNameTheCommandAndWhatItHas) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"plan", "x.yml", "--rows", "11"}, {"plan", "x.yml", "--json"}, {"plan"}}) {
    Program program;
    const ParsedArguments parsed = program.parse(words);
    EXPECT_EQ(parsed.kind, Kind::misused);
    EXPECT_EQ(parsed.command, "planner plan");
    EXPECT_THAT(parsed.names, UnorderedElementsAre("--help", "--gpu", "--rows", "--json"));
    EXPECT_NE(parsed.text, "");
  }
}

TEST(Arguments, OfAnotherProgramAreHandedOn) {
  Program program;
  EXPECT_EQ(program.parse({"other", "--help", "x"}).kind, Kind::command);
  EXPECT_THAT(program.other.handed_on(), ElementsAre("--help", "x"));
}

TEST(Arguments, AskForHelpAndTheVersion) {
  EXPECT_THAT(Program().parse({"plan", "--help"}).text, HasSubstr("Usage: planner plan [OPTIONS] CONFIG"));
  EXPECT_EQ(Program().parse({"help", "plan"}).text, Program().parse({"plan", "--help"}).text);
  EXPECT_EQ(Program().parse({"help"}).text, Program().parse({"--help"}).text);
  EXPECT_EQ(Program().parse({"help", "nothing"}).kind, Kind::misused);
  EXPECT_THAT(Program().parse({"help", "plan"}).text, HasSubstr("\nExamples:\n  planner plan x.yml\n"));
  EXPECT_THAT(
      Program().parse({"help"}).text,
      HasSubstr("\nData:\n  other                 Another program\n\nPlan:\n  plan                  Plan a run\n"));
  EXPECT_EQ(Program().parse({"--version"}).text, "planner 1.2\n");
}

}  // namespace
}  // namespace oomplan
