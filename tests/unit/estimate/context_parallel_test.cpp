// Ranks that share each row's tokens: what each holds, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "oomplan/estimate/ranks.hpp"
#include "plans.hpp"

namespace oomplan {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

Architecture model(const example::Keys& changes = {}) {
  example::Keys keys{{"num_attention_heads", "8"}, {"num_key_value_heads", "4"}, {"vocab_size", "4096"}};
  for (const auto& [key, value] : changes) keys[key] = value;
  return example::architecture(example::llama(keys));
}

TrainingPlan shared(std::int64_t ranks, std::int64_t world, std::int64_t length = 2048) {
  TrainingPlan p = example::plan(2, length);
  p.optimizer.name.value = "adamw_fused";
  p.mesh = example::mesh(Sharding::fsdp2, world);
  p.mesh.fsdp_units.value = ShardUnits::accelerate;
  p.mesh.context_parallel.value = ranks;
  p.batch.mask_sent.value = true;
  return p;
}

std::vector<std::string> errors(const TrainingPlan& p, const Architecture& architecture = model()) {
  std::vector<std::string> out;
  const auto footprint = estimate(p, architecture);
  if (footprint) return out;
  for (const Diagnostic& d : footprint.errors()) out.push_back(d.code + ": " + d.message);
  return out;
}

Bytes highest(const Footprint& footprint, Bucket bucket) {
  Bytes out(0);
  for (const PhasePeak& p : footprint.bucket_peaks) out = std::max(out, at(p.by_bucket, bucket));
  return out;
}

TEST(ContextParallel, EachRankHasItsPartOfEachRow) {
  const Architecture architecture = model();
  const Footprint whole = example::played(shared(1, 4), architecture);
  const Footprint half = example::played(shared(2, 4), architecture);
  const Footprint quarter = example::played(shared(4, 4), architecture);
  EXPECT_EQ(highest(half, Bucket::weights), highest(whole, Bucket::weights));
  EXPECT_EQ(highest(half, Bucket::optimizer), highest(whole, Bucket::optimizer));
  for (const Bucket bucket : {Bucket::logits_and_loss, Bucket::activations}) {
    const auto of_half = static_cast<double>(highest(half, bucket).count());
    EXPECT_NEAR(2 * static_cast<double>(highest(quarter, bucket).count()), of_half, 0.001 * of_half);
  }
  EXPECT_LT(half.peak.total, whole.peak.total);
  EXPECT_LT(quarter.peak.total, half.peak.total);
}

TEST(ContextParallel, OneRankARowIsNoContextParallelism) {
  const Architecture architecture = model();
  EXPECT_EQ(example::events_of(shared(1, 2), architecture), example::events_of(shared(0, 2), architecture));
}

TEST(ContextParallel, KeysAreGatheredOnceOrComeInEachStep) {
  const Architecture architecture = model();
  TrainingPlan p = shared(4, 4);
  const std::size_t gathered = example::events_of(p, architecture).size();
  p.mesh.context_rotation.value = ContextRotation::alltoall;
  EXPECT_GT(example::events_of(p, architecture).size(), gathered);
}

TEST(ContextParallel, RanksThatShareARowAreKindsOfTheirOwn) {
  const auto kinds = rank_kinds(shared(4, 8), model());
  ASSERT_TRUE(kinds.ok());
  std::int64_t ranks = 0;
  std::vector<std::string> names;
  for (const RankKind& kind : *kinds) {
    ranks += kind.count;
    names.push_back(kind.name);
  }
  EXPECT_EQ(ranks, 8);
  EXPECT_THAT(names, Contains("parts 1 to 2 of each row"));
  const Footprint worst = example::played(shared(4, 8), model());
  EXPECT_EQ(estimate_shard(shared(4, 8), model(), kinds->front().shard, Detail::peaks)->peak.total, worst.peak.total);
}

TEST(ContextParallel, WhatTheFrameworksRefuseIsRefused) {
  EXPECT_THAT(errors(shared(3, 4)),
              Contains(HasSubstr("estimate/bad-mesh: context_parallel: 4 ranks make no group of 3")));
  EXPECT_THAT(errors(shared(4, 4, 1020)),
              Contains(HasSubstr("stops at rows of 1020 tokens, which do not make 8 equal")));
  TrainingPlan p = shared(2, 4);
  p.kernels.attention.value = Attention::flash_attention_2;
  EXPECT_THAT(errors(p), Contains(HasSubstr("refuses context parallelism with flash_attention_2 attention")));
  EXPECT_THAT(errors(shared(std::numeric_limits<std::int64_t>::max(), 4)), Contains(HasSubstr("estimate/bad-mesh")));
}

TEST(ContextParallel, WhatWasNotMeasuredIsUndecidedByName) {
  const auto undecided = [](auto&& change, const char* what) {
    TrainingPlan p = shared(2, 4);
    change(p);
    EXPECT_THAT(errors(p), Contains(HasSubstr(std::string("estimate/unmodelled: ") + what))) << what;
  };
  undecided([](TrainingPlan& p) { p.mesh.sharding.value = Sharding::ddp; }, "ddp under context parallelism");
  undecided([](TrainingPlan& p) { p.mesh.fsdp_units.value = ShardUnits::blocks; }, "other units");
  undecided([](TrainingPlan& p) { p.precision.weights_dtype.value = WeightsDType::fp32; }, "attention in fp32");
  undecided([](TrainingPlan& p) { p.evaluation.evaluates.value = true; }, "evaluation");
  undecided([](TrainingPlan& p) { p.batch.completion_length.value = 100; }, "labels of completions alone");
  undecided([](TrainingPlan& p) { p.recipe.loss.value = Loss::summed_logits; }, "the loss summed_logits");
  undecided([](TrainingPlan& p) { p.mesh.fsdp_offload.value = true; }, "offload of shards");
  Architecture unmeasured = model();
  unmeasured.context_parallel = false;
  EXPECT_THAT(errors(shared(2, 4), unmeasured), Contains(HasSubstr("llama under context parallelism")));
}

}  // namespace
}  // namespace oomplan
