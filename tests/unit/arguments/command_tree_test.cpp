#include "oomplan/arguments/command_tree.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oomplan/arguments/arguments.hpp"

namespace oomplan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

struct Program {
  Program() {
    plan.option("--gpu", gpu, "A GPU's name [or size]: 4090").type_name("NAME");
    plan.option("--html", html, "A page").type_name("FILE");
    plan.flag("-q,--quiet", quiet, "Little");
    plan.option("CONFIG", config, "The config").required();
    kind.option("KIND", word, "Which").among({"one", "two"});
  }

  std::string gpu{};
  std::string html{};
  std::string config{};
  std::string word{};
  bool quiet = false;
  Arguments arguments{"planner", "Plans.", {"Plan"}};
  ArgumentParser plan = arguments.parser().command("plan", "Plan a run, don't ask").in("Plan");
  ArgumentParser kind = arguments.parser().command("kind", "Of a kind").in("Plan");
  CommandOutline outline() const { return arguments.parser().outline(); }
};

const OptionOutline& option(const CommandOutline& command, const std::string& name) {
  for (const OptionOutline& one : command.options)
    if (one.names.back() == name) return one;
  throw std::runtime_error(name);
}

TEST(CommandTree, HasWhatWasDeclared) {
  const CommandOutline all = Program().outline();
  ASSERT_EQ(all.commands.size(), 2U);
  const CommandOutline& plan = all.commands.front();
  EXPECT_EQ(plan.name, "plan");
  EXPECT_EQ(plan.group, "Plan");
  EXPECT_EQ(option(plan, "--gpu").type, "NAME");
  EXPECT_FALSE(option(plan, "--gpu").takes_path);
  EXPECT_TRUE(option(plan, "--html").takes_path);
  EXPECT_THAT(option(plan, "--quiet").names, ElementsAre("-q", "--quiet"));
  EXPECT_EQ(option(plan, "--quiet").type, "");
  EXPECT_TRUE(option(plan, "CONFIG").is_word);
  EXPECT_TRUE(option(plan, "CONFIG").takes_path);
  EXPECT_THAT(option(all.commands.back(), "KIND").choices, ElementsAre("one", "two"));
}

TEST(CommandTree, IsQuotedForEachShell) {
  const CommandOutline all = Program().outline();
  EXPECT_THAT(completion_script(all, "bash"), HasSubstr("compgen -W 'one two'"));
  EXPECT_THAT(completion_script(all, "zsh"), HasSubstr("'plan:Plan a run, don'\\''t ask'"));
  EXPECT_THAT(completion_script(all, "zsh"), HasSubstr("--gpu[A GPU'\\''s name \\[or size\\]\\: 4090]:NAME: "));
  EXPECT_THAT(completion_script(all, "fish"), HasSubstr("-a plan -d 'Plan a run, don\\'t ask'"));
  EXPECT_THAT(completion_script(all, "fish"), HasSubstr("-l html -r -F"));
  EXPECT_EQ(completion_script(all, "tcsh"), "");
}

TEST(CommandTree, IsAManualPage) {
  CommandOutline all = Program().outline();
  all.commands.front().about = ".not a request \\n";
  const std::string page = manual_page(all, "1.2");
  EXPECT_THAT(page, HasSubstr(".TH PLANNER 1 \"\" \"planner 1.2\""));
  EXPECT_THAT(page, HasSubstr("\\fB\\-q\\fR, \\fB\\-\\-quiet\\fR"));
  EXPECT_THAT(page, HasSubstr("\n\\&.not a request \\en."));
  EXPECT_THAT(page, Not(HasSubstr("\n.not")));
}

}  // namespace
}  // namespace oomplan
