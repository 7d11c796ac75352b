// The walk against an exhaustive search: no cheaper set that fits is passed over.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <random>

#include "../estimate/plans.hpp"
#include "change.hpp"
#include "facts.hpp"
#include "floor.hpp"
#include "oomplan/advise/advise.hpp"
#include "oomplan/ingest/ingest.hpp"
#include "rounds.hpp"
#include "rung.hpp"

namespace oomplan::advise {
namespace {

const Ladder& ladder() {
  static const Ladder all = *Ladder::load();
  return all;
}

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(n)); }
  template <class T>
  T pick(std::initializer_list<T> values) {
    return *(values.begin() + below(static_cast<std::int64_t>(values.size())));
  }

 private:
  std::mt19937_64 engine_;
};

AdviceQuestion random_question(Dice& dice) {
  static const Architecture model = example::architecture(example::llama());
  const auto length = dice.pick({64, 300, 1024});  // one after the other: the order of arguments is each compiler's own
  TrainingPlan p = example::plan(dice.pick({1, 2, 3, 4, 6}), length);
  p.precision.weights_dtype.value = dice.pick({WeightsDType::fp32, WeightsDType::bf16});
  p.kernels.attention.value = dice.pick({Attention::eager, Attention::sdpa});
  p.optimizer.name.value = dice.pick<std::string>({"adamw_foreach", "adamw_fused", "adamw_8bit", "adafactor"});
  p.checkpointing.on.value = dice.below(3) == 0;
  if (dice.below(2) == 0) {
    p.adapter.kind.value = Adapter::lora;
    p.adapter.targets.value = {"all-linear"};
    p.adapter.dropout.value = dice.pick({0.0, 0.1});
    p.adapter.rank.value = dice.pick({8, 32});
  }
  Gpu gpu{.name = "card", .title = "card", .compute_capability = "9.0", .total = Bytes::gib(1)};
  const auto footprint = estimate(p, model, Detail::peaks);
  if (footprint) gpu.total = Bytes(footprint->peak.total.count() / 100 * (30 + dice.below(110)));
  AdviceQuestion question{.plan = p, .architecture = model, .gpu = gpu, .headroom = dice.pick({0.0, 0.05})};
  std::vector<std::string> ids;
  for (const Rung& rung : ladder().rungs())
    if (rung.played && !rung.packed_rows && rung.launch.file.empty()) ids.push_back(rung.fix.id);
  for (int i = 0; i < 4; ++i)
    question.allow.push_back(ids[static_cast<std::size_t>(dice.below(static_cast<std::int64_t>(ids.size())))]);
  if (dice.below(3) == 0) question.allow.emplace_back("expandable-segments");
  return question;
}

struct Held {
  bool fits = false;
  bool stranded = false;
};

/// In its own words, without the quick way round: every set is played whole.
Held held(const TrainingPlan& plan, const AdviceQuestion& question) {
  const auto footprint = estimate(plan, question.architecture, Detail::events);
  const auto settings = parse_alloc_conf(plan.runtime.alloc_conf.value, "");
  if (!footprint || !settings || undecided_on(plan, *footprint, question.gpu)) return {};
  const Fit held =
      fit(Reservation(footprint->events, *settings, {question.gpu.cublas_workspace, footprint->cublas_handles}),
          question.gpu, {}, {}, {}, question.headroom);
  const double total = static_cast<double>(question.gpu.total.count());
  const Bytes limit = question.gpu.total - Bytes(static_cast<std::int64_t>(std::ceil(total * question.headroom)));
  return {held.fits(), !held.fits() && footprint->peak.total <= limit};
}

/// {experiment, numerics, batch statistics, slower, effort}.
using Price = std::array<int, 5>;

class Exhaustive {
 public:
  explicit Exhaustive(const AdviceQuestion& question) : question_(question) {
    for (const Rung& rung : ladder().rungs())
      if (rung.played && std::ranges::count(question.allow, rung.fix.id)) rungs_.push_back(&rung);
  }

  std::optional<Price> cheapest() {
    go(0, question_.plan, {}, {});
    return best_;
  }

 private:
  void go(std::size_t i, const TrainingPlan& plan, const Price& price, const std::vector<const Rung*>& taken) {
    if (i == rungs_.size()) return look(plan, price);
    go(i + 1, plan, price, taken);
    const Rung& rung = *rungs_[i];
    if (rung.only_against_fragmentation && !held(plan, question_).stranded) return;
    for (const Rung* other : taken) {
      if (std::ranges::count(rung.conflicts, other->fix.id) || std::ranges::count(other->conflicts, rung.fix.id))
        return;
    }
    std::vector<const Rung*> more = taken;
    more.push_back(&rung);
    TrainingPlan changed = plan;
    Price dearer = price;
    for (int n = 0; n < rung.repeat && objection(changed, rung).empty() && take(changed, rung); ++n) {
      if (rung.fix.science != Science::none) ++dearer[3 - static_cast<std::size_t>(rung.fix.science)];
      dearer[3] += rung.fix.slower->most;
      dearer[4] += static_cast<int>(rung.fix.effort) + 1;
      go(i + 1, changed, dearer, more);
    }
  }

  void look(const TrainingPlan& plan, const Price& price) {
    if (best_ && *best_ <= price) return;
    if (held(plan, question_).fits) best_ = price;
  }

  const AdviceQuestion& question_;
  std::vector<const Rung*> rungs_{};
  std::optional<Price> best_{};
};

Price price_of(const Cost& cost) {
  return {cost.science[0], cost.science[1], cost.science[2], cost.slower, cost.effort};
}

// What the search does not play is bounded by this alone.
TEST(Floor, WhatAFixDoesNotRelieveStays) {
  Dice dice(11);
  int held = 0;
  for (int round = 0; round < 40; ++round) {
    const AdviceQuestion question = random_question(dice);
    const Moments before = moments_of(question.plan, question.architecture);
    for (std::size_t i = 0; i < ladder().rungs().size(); ++i) {
      const Rung& rung = ladder().rungs()[i];
      const Changing changing = change_by({{static_cast<int>(i), 1}}, question, ladder());
      if (!rung.played || !changing.change) continue;
      const Moments after = moments_of(changing.change->plan, question.architecture);
      if (after.held.empty()) continue;
      EXPECT_LE(fullest(left_by(rung, before)), fullest(after)) << rung.fix.id;
      ++held;
    }
  }
  EXPECT_GT(held, 200);
}

TEST(Floor, OfTheWeightsOnlyWhatIsTrained) {
  Moments moments{.held = {ByBucket{}}, .trained = Bytes::mib(1)};
  at(moments.held[0], Bucket::weights) = Bytes::mib(10);
  at(moments.held[0], Bucket::activations) = Bytes::mib(5);
  Rung rung;
  rung.fix.relieves = {Bucket::weights, Bucket::activations};
  EXPECT_EQ(fullest(left_by(rung, moments)), Bytes(0));
  rung.only_trained_weights = true;
  EXPECT_EQ(fullest(left_by(rung, moments)), Bytes::mib(9));
  EXPECT_EQ(fullest(left_by(rung, left_by(rung, moments))), Bytes::mib(9));
}

TEST(Walk, PassesOverNoCheaperSet) {
  Dice dice(6);
  std::map<std::string, int> seen;
  constexpr int rounds = rounds_of(400);
  for (int i = 0; i < rounds && !HasFailure(); ++i) {
    const AdviceQuestion question = random_question(dice);
    const Result<Advice> advice = find_advice(question, ladder());
    if (!advice) continue;
    const std::optional<Price> best = Exhaustive(question).cheapest();
    ASSERT_TRUE(advice->whole);
    if (advice->now.fits) {
      EXPECT_EQ(best, Price{}) << i;
    } else {
      EXPECT_EQ(advice->found.has_value(), best.has_value()) << i;
      if (advice->found && best) {
        EXPECT_EQ(price_of(advice->found->cost), *best) << i;
      }
    }
    ++seen[advice->now.fits ? "fits" : advice->found ? "found" : "nothing"];
    if (advice->now.fragmentation) ++seen["fragmented"];
    for (const Taken& taken : advice->found.value_or(Trial{}).fixes) ++seen[taken.id];
  }
  for (const auto& [what, count] : seen) std::printf("%s: %d\n", what.c_str(), count);
  EXPECT_GT(seen["found"], rounds * 3 / 20);
  EXPECT_GT(seen["nothing"], rounds / 40);
}

TEST(Walk, StepsEndInWhatWasFound) {
  Dice dice(7);
  for (int i = 0; i < 100; ++i) {
    const Result<Advice> advice = find_advice(random_question(dice), ladder());
    if (!advice || !advice->found) continue;
    ASSERT_FALSE(advice->steps.empty());
    EXPECT_EQ(advice->steps.back().fixes, advice->found->fixes);
    EXPECT_EQ(advice->steps.back().needed, advice->found->needed);
    EXPECT_TRUE(advice->steps.back().fits);
  }
}

// Of a search that gives up at once: another way to a set that fits, each of whose fixes it needs.
TEST(Walk, GoesDownWhereTheSearchGivesUp) {
  Dice dice(8);
  int fit = 0, found = 0, lower = 0;
  constexpr int rounds = rounds_of(150);
  for (int i = 0; i < rounds; ++i) {
    AdviceQuestion question = random_question(dice);
    const Result<Advice> whole = find_advice(question, ladder());
    question.most_sets = 0;
    const Result<Advice> advice = find_advice(question, ladder());
    if (!advice || advice->now.fits) continue;
    ASSERT_FALSE(advice->whole);
    fit += whole->found ? 1 : 0;
    found += advice->found ? 1 : 0;
    if (!advice->found) {
      if (!advice->lowest) continue;
      ++lower;
      EXPECT_FALSE(advice->lowest->fits);
      EXPECT_LT(advice->lowest->needed, advice->now.needed) << i;
      continue;
    }
    EXPECT_TRUE(whole->found.has_value()) << i << ": the search of all sets found none";
    EXPECT_FALSE(advice->lowest);
    EXPECT_TRUE(advice->found->fits);
    EXPECT_GE(advice->found->cost, whole->found->cost) << i;
    for (const Taken& taken : advice->found->fixes) {
      AdviceQuestion less = question;
      less.allow.clear();
      for (const Taken& other : advice->found->fixes)
        if (other != taken) less.allow.push_back(other.id);
      if (taken.times == 1 && !less.allow.empty()) {
        less.most_sets = 5'000;
        const Result<Advice> without = find_advice(less, ladder());
        EXPECT_FALSE(without && without->found) << i << ": it fits without " << taken.id;
      }
    }
  }
  std::printf("fit: %d, found: %d, lower: %d\n", fit, found, lower);
  EXPECT_GE(found, fit * 9 / 10);
  EXPECT_GT(found, rounds / 6);
  EXPECT_GT(lower, rounds / 4);
}

}  // namespace
}  // namespace oomplan::advise
