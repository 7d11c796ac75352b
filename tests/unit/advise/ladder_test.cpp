// Every fix of rules/ladder against its own examples.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "facts.hpp"
#include "oomplan/advise/advise.hpp"
#include "oomplan/ingest/ingest.hpp"
#include "oomplan/ingest/keys.hpp"
#include "project.hpp"
#include "rung.hpp"

namespace oomplan::advise {
namespace {

const Ladder& ladder() {
  static const Ladder all = *Ladder::load();
  return all;
}

TrainingPlan plan_with(const std::vector<FactRule>& facts, const std::string& id) {
  TrainingPlan plan;
  for (const FactRule& rule : facts) EXPECT_TRUE(set_fact(plan, rule.fact, rule.value)) << id << ": " << rule.fact;
  return plan;
}

TEST(Ladder, Loads) {
  const Result<Ladder> all = Ladder::load();
  ASSERT_TRUE(all.ok()) << to_text(all.errors().front());
  EXPECT_GE(all->rungs().size(), 30U);
}

TEST(Ladder, FixesDoAsTheirExamplesSay) {
  for (const Rung& rung : ladder().rungs()) {
    for (const Example& example : rung.examples) {
      TrainingPlan plan = plan_with(example.before, rung.fix.id);
      EXPECT_EQ(objection(plan, rung), "") << rung.fix.id;
      const TrainingPlan before = plan;
      ASSERT_TRUE(take(plan, rung)) << rung.fix.id;
      for (const FactRule& rule : example.after) {
        TrainingPlan wanted = before;
        ASSERT_TRUE(set_fact(wanted, rule.fact, rule.value));
        EXPECT_EQ(fact_of(plan, rule.fact), fact_of(wanted, rule.fact)) << rung.fix.id << ": " << rule.fact;
      }
    }
  }
}

TEST(Ladder, NoFixGoesOnForever) {
  for (const Rung& rung : ladder().rungs()) {
    for (const Example& example : rung.examples) {
      TrainingPlan plan = plan_with(example.before, rung.fix.id);
      int times = 0;
      if (rung.packed_rows) continue;
      while (objection(plan, rung).empty() && times < 100 && take(plan, rung)) ++times;
      EXPECT_LT(times, 100) << rung.fix.id;
    }
  }
}

TEST(Ladder, IsDocumented) {
  std::ifstream file(project_folder() + "/docs/ladder.md");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  for (const std::string& id : ladder().ids()) EXPECT_NE(text.find("| `" + id + "` |"), text.npos) << id;
}

TEST(Ladder, ConflictsNameFixes) {
  const std::vector<std::string> ids = ladder().ids();
  for (const Rung& rung : ladder().rungs())
    for (const std::string& other : rung.conflicts) EXPECT_TRUE(std::ranges::count(ids, other)) << other;
}

TEST(Ladder, WhatCannotBePlayedIsSaidInWords) {
  for (const Rung& rung : ladder().rungs()) {
    bool said = !rung.how.empty();
    for (const std::string_view dialect : dialects()) said = said || !words_for_fix(rung.fix.id, dialect).empty();
    EXPECT_TRUE(rung.played || said) << rung.fix.id;
  }
}

TEST(Ladder, NeverOffersWhatIsNoFix) {
  for (const std::string& id : ladder().ids())
    for (const char* word : {"truncat", "drop-", "swap"}) EXPECT_EQ(id.find(word), id.npos) << id;
}

TEST(Ladder, LaunchersAreReadAsTheirFixesMean) {
  const std::string text =
      "model_name_or_path: meta-llama/Llama-3.1-8B\ndtype: bfloat16\nbf16: true\nmax_length: 512\n"
      "per_device_train_batch_size: 1\ngradient_checkpointing: true\ndataset_name: data\neval_strategy: \"no\"\n";
  const Document config = *parse_document(text, "config.yaml", Syntax::yaml);
  int launchers = 0;
  for (const Rung& rung : ladder().rungs()) {
    if (rung.launch.file.empty()) continue;
    ++launchers;
    const std::string launcher = rung.launch.text + "num_processes: 2\n";
    IngestOptions options{.trainer = "sft", .launch = {rung.launch.file}};
    options.loader = [&](const std::string& path) { return parse_document(launcher, path, Syntax::yaml); };
    const Result<TrainingPlan> plan = ingest(config, options);
    ASSERT_TRUE(plan.ok()) << rung.fix.id << ": " << to_text(plan.errors().front());
    EXPECT_TRUE(plan->unmodelled.empty()) << rung.fix.id << ": " << plan->unmodelled.front().feature;
    for (const Edit& edit : rung.edit) EXPECT_EQ(fact_of(*plan, edit.fact), edit.value->text) << rung.fix.id;
  }
  EXPECT_GE(launchers, 5);
}

TEST(Ladder, RefusesAFileThatIsWrong) {
  EXPECT_FALSE(Ladder::of("x", "title: a\n").ok());
  EXPECT_FALSE(Ladder::of("x", "nonsense: a\n").ok());
  EXPECT_FALSE(Ladder::of("x", "launch: {file: a.yaml}\n").ok());
  EXPECT_FALSE(Ladder::of("x", "[]").ok());
  EXPECT_FALSE(Ladder::of("x", "a: [").ok());
}

}  // namespace
}  // namespace oomplan::advise
