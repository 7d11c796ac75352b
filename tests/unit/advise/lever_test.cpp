// lever_of against every fix by itself.
#include <gtest/gtest.h>

#include <algorithm>

#include "../estimate/plans.hpp"
#include "oomplan/advise/advise.hpp"
#include "rung.hpp"

namespace oomplan::advise {
namespace {

AdviceQuestion question_of(TrainingPlan plan) {
  Gpu gpu{.name = "card", .title = "card", .compute_capability = "9.0", .total = Bytes::gib(4)};
  return {.plan = std::move(plan), .architecture = example::architecture(example::llama()), .gpu = gpu};
}

TEST(Lever, SavesMostOfThoseThatKeepTheResults) {
  const Ladder ladder = *Ladder::load();
  TrainingPlan plan = example::plan(4, 1024);
  plan.recipe.loss.value = Loss::full_logits;
  const AdviceQuestion question = question_of(plan);
  const auto lever = lever_of(question, ladder);
  ASSERT_TRUE(lever);
  EXPECT_EQ(lever->fix.science, Science::none);
  EXPECT_EQ(lever->trial.fixes.size(), 1U);
  for (const Rung& rung : ladder.rungs()) {
    if (!rung.played || rung.fix.science != Science::none || !rung.move_from.empty()) continue;
    AdviceQuestion one = question;
    one.allow = {rung.fix.id};
    one.gpu.total = Bytes::mib(1);  // Nothing fits: each is tried by itself.
    const auto advice = find_advice(one, ladder);
    ASSERT_TRUE(advice);
    for (const Trial& trial : advice->tried) {
      const bool once = trial.fixes.front().times == 1;
      EXPECT_TRUE(!once || trial.needed >= lever->trial.needed - Bytes::mib(64)) << rung.fix.id;
    }
  }
}

TEST(Lever, IsNoneWhereNothingSavesAGoodDeal) {
  TrainingPlan plan = example::plan(1, 8);
  plan.recipe.loss.value = Loss::chunked_logprob;
  plan.checkpointing.on.value = true;
  plan.kernels.attention.value = Attention::flash_attention_2;
  plan.optimizer.name.value = "sgd";
  plan.optimizer.in_backward.value = true;
  EXPECT_FALSE(lever_of(question_of(plan), *Ladder::load()));
}

}  // namespace
}  // namespace oomplan::advise
