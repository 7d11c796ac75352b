// Ranks that have some of a model's layers each: what each holds, in which order, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oomplan/estimate/ranks.hpp"
#include "pipeline/order.hpp"
#include "pipeline/parts.hpp"
#include "plans.hpp"

namespace oomplan {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kind = estimator::PipelineAction::Kind;

Architecture model(const std::string& layers = "8") {
  return example::architecture(example::llama({{"num_hidden_layers", layers}, {"vocab_size", "4096"}}));
}

TrainingPlan plan(std::int64_t ranks, PipelineSchedule schedule = PipelineSchedule::one_f_one_b,
                  std::int64_t micro_batches = 4) {
  TrainingPlan p = example::plan(2, 128);
  p.optimizer.name.value = "adamw_foreach";
  p.mesh = example::mesh(Sharding::none, ranks);
  p.mesh.pipeline_parallel.value = ranks;
  p.mesh.pipeline_schedule.value = schedule;
  p.mesh.pipeline_stages.value = has_many_stages(schedule) ? 2 : 1;
  p.mesh.pipeline_micro_batches.value = ranks > 1 ? micro_batches : 1;
  p.mesh.pipeline_outputs.value = true;
  return p;
}

Footprint rank(const TrainingPlan& p, std::int64_t number, const Architecture& architecture = model()) {
  const auto footprint = estimate_shard(p, architecture, number);
  if (footprint) return *footprint;
  ADD_FAILURE() << to_text(footprint.errors().front());
  return {};
}

Bytes held(const Footprint& footprint, Bucket bucket, Phase phase = Phase::forward) {
  return at(example::peak_of(footprint, phase, 2).by_bucket, bucket);
}

std::vector<std::string> errors(const TrainingPlan& p, const Architecture& architecture = model()) {
  std::vector<std::string> out;
  const auto footprint = estimate(p, architecture);
  if (footprint) return out;
  for (const Diagnostic& d : footprint.errors()) out.push_back(d.code + ": " + d.message);
  return out;
}

/// "F0 B0": of one stage.
std::string told(const std::vector<estimator::PipelineAction>& actions, std::int64_t stage) {
  std::string out;
  for (const auto& action : actions) {
    if (action.stage != stage) continue;
    out += (out.empty() ? "" : " ") + std::string(1, "FBIWUSR"[static_cast<std::size_t>(action.kind)]);
    const bool all = action.kind >= Kind::unshard;
    if (!all) out += std::to_string(action.micro_batch);
  }
  return out;
}

TEST(PipelineOrder, GPipeHasAllInFlight) {
  const estimator::PipelineShape shape{PipelineSchedule::gpipe, 2, 1, 3};
  EXPECT_EQ(told(pipeline_order(shape, 1), 1), "F0 F1 F2 B0 B1 B2 R");
}

TEST(PipelineOrder, OneForwardOneBackwardHasAsManyInFlightAsStagesFollow) {
  const estimator::PipelineShape shape{PipelineSchedule::one_f_one_b, 3, 1, 4};
  EXPECT_EQ(told(pipeline_order(shape, 0), 0), "F0 F1 F2 B0 F3 B1 B2 B3 R");
  EXPECT_EQ(told(pipeline_order(shape, 2), 2), "F0 B0 F1 B1 F2 B2 F3 B3 R");
}

TEST(PipelineOrder, ZeroBubblePutsWeightsOff) {
  const estimator::PipelineShape shape{PipelineSchedule::zero_bubble, 2, 1, 3};
  EXPECT_EQ(told(pipeline_order(shape, 0), 0), "U F0 F1 I0 W0 F2 I1 W1 I2 W2 R S");
  EXPECT_EQ(told(pipeline_order(shape, 1), 1), "U F0 I0 F1 I1 W0 F2 I2 W1 W2 R S");
}

TEST(PipelineOrder, EveryMicroBatchRunsOnceThroughEveryStage) {
  for (const auto schedule : {PipelineSchedule::gpipe, PipelineSchedule::one_f_one_b, PipelineSchedule::looped_bfs,
                              PipelineSchedule::interleaved, PipelineSchedule::zero_bubble, PipelineSchedule::zbv}) {
    for (const std::int64_t micro_batches : {4, 8, 12}) {
      const estimator::PipelineShape shape{schedule, 4, has_many_stages(schedule) ? 2 : 1, micro_batches};
      std::int64_t forwards = 0;
      std::int64_t weights = 0;
      for (std::int64_t r = 0; r < shape.ranks; ++r) {
        for (const auto& action : pipeline_order(shape, r)) {
          forwards += action.kind == Kind::forward ? 1 : 0;
          weights += action.kind == Kind::backward || action.kind == Kind::backward_weight ? 1 : 0;
        }
      }
      EXPECT_EQ(forwards, shape.stages() * micro_batches);
      EXPECT_EQ(weights, shape.stages() * micro_batches);
    }
  }
}

TEST(PipelineParts, LayersAreCutAsPythonRounds) {
  MeshFacts mesh = plan(4).mesh;
  EXPECT_THAT(pipeline_cuts(mesh, 10), ElementsAre(0, 2, 5, 8, 10));
  mesh.pipeline_layers.value = {"1", "4", "4", "1"};
  EXPECT_THAT(pipeline_cuts(mesh, 10), ElementsAre(0, 1, 5, 9, 10));
}

TEST(Pipeline, RanksHoldTheWholeModelTogether) {
  const Architecture architecture = model();
  const Footprint whole = example::played(plan(1), architecture);
  for (const auto schedule : {PipelineSchedule::one_f_one_b, PipelineSchedule::interleaved, PipelineSchedule::zbv}) {
    Bytes sum;
    for (std::int64_t r = 0; r < 2; ++r) sum += held(rank(plan(2, schedule), r), Bucket::weights);
    EXPECT_EQ(sum, held(whole, Bucket::weights));
  }
  EXPECT_EQ(rank(plan(2), 1).parameters, whole.parameters);
}

TEST(Pipeline, AWorldOfOneIsOneGpu) {
  TrainingPlan alone = plan(1);
  alone.mesh = {};
  EXPECT_EQ(example::events_of(plan(1), model()), example::events_of(alone, model()));
}

TEST(Pipeline, EarlierStagesHaveMoreMicroBatchesInFlight) {
  const TrainingPlan p = plan(4);
  EXPECT_GT(held(rank(p, 1), Bucket::activations), held(rank(p, 2), Bucket::activations));
  const TrainingPlan all = plan(4, PipelineSchedule::gpipe);
  EXPECT_EQ(held(rank(all, 1), Bucket::activations), held(rank(all, 2), Bucket::activations));
  EXPECT_GT(held(rank(all, 2), Bucket::activations), held(rank(p, 2), Bucket::activations));
}

TEST(Pipeline, MiddleStagesReceiveOfEveryMicroBatchActivationsAndGradients) {
  const Bytes each = Bytes(2 * 128 * 256 * 2);
  EXPECT_EQ(held(rank(plan(4), 1), Bucket::communication), each * 4 * 2);
  EXPECT_EQ(held(rank(plan(4), 0), Bucket::communication), each * 4);
}

TEST(Pipeline, OutputsThatNobodyAsksForAreNotKept) {
  TrainingPlan p = plan(2, PipelineSchedule::one_f_one_b, 8);
  const Bytes kept = rank(p, 1).peak.total;
  p.mesh.pipeline_outputs.value = false;
  EXPECT_GT(kept, rank(p, 1).peak.total);
}

TEST(Pipeline, TheKindThatHoldsMostComesFirstAndIsTheEstimate) {
  const TrainingPlan p = plan(4);
  const auto kinds = rank_kinds(p, model());
  ASSERT_TRUE(kinds);
  ASSERT_EQ(kinds->size(), 4U);
  EXPECT_EQ(kinds->front().name, "stage 3 (head)");
  EXPECT_EQ(example::played(p, model()).peak.total, rank(p, kinds->front().shard).peak.total);
  for (const RankKind& kind : *kinds)
    EXPECT_LE(rank(p, kind.shard).peak.total, rank(p, kinds->front().shard).peak.total);
}

TEST(Pipeline, GradientsAreSummedWholeUnderFsdp2UntilAllMicroBatchesAreThrough) {
  TrainingPlan p = plan(2);
  p.mesh.sharding.value = Sharding::fsdp2;
  p.mesh.world_size.value = 4;
  const Bytes whole = held(rank(plan(2), 1), Bucket::gradients, Phase::backward);
  EXPECT_GE(held(rank(p, 1), Bucket::gradients, Phase::backward), whole);
  EXPECT_LT(held(rank(p, 1), Bucket::optimizer), held(rank(plan(2), 1), Bucket::optimizer));
}

TEST(Pipeline, RefusesWhatTorchRefuses) {
  EXPECT_THAT(errors(plan(4, PipelineSchedule::one_f_one_b, 3)), Contains(HasSubstr("at least as many")));
  EXPECT_THAT(errors(plan(4, PipelineSchedule::interleaved, 9)), Contains(HasSubstr("multiple of its 2 rounds")));
  TrainingPlan one = plan(2, PipelineSchedule::zbv);
  one.mesh.pipeline_stages.value = 1;
  EXPECT_THAT(errors(one), Contains(HasSubstr("takes two stages")));
  EXPECT_THAT(errors(plan(16, PipelineSchedule::gpipe)), Contains(HasSubstr("8 layers for 16 stages")));
  TrainingPlan odd = plan(3);
  odd.mesh.world_size.value = 4;
  EXPECT_THAT(errors(odd), Contains(HasSubstr("no pipeline of 3")));
  TrainingPlan layers = plan(2);
  layers.mesh.pipeline_layers.value = {"3", "4"};
  EXPECT_THAT(errors(layers), Contains(HasSubstr("come to 7")));
}

TEST(Pipeline, IsUndecidedWhereItWasNotMeasured) {
  TrainingPlan p = plan(2);
  p.batch.gradient_accumulation_steps.value = 2;
  EXPECT_THAT(errors(p), Contains(HasSubstr("gradient accumulation over steps of the schedule")));
  p = plan(2, PipelineSchedule::zero_bubble);
  p.checkpointing.on.value = true;
  EXPECT_THAT(errors(p), Contains(HasSubstr("checkpoints with a parted backward")));
  p = plan(2);
  p.mesh.sharding.value = Sharding::zero1;
  EXPECT_THAT(errors(p), Contains(HasSubstr("zero1 under pipeline parallelism")));
  p = plan(2, PipelineSchedule::zero_bubble);
  p.mesh.world_size.value = 4;
  p.mesh.tensor_parallel.value = 2;
  EXPECT_THAT(errors(p), Contains(HasSubstr("tensor parallelism by this schedule under pipeline parallelism")));
  p = plan(1);
  p.mesh.pipeline_micro_batches.value = 4;
  EXPECT_THAT(errors(p), Contains(HasSubstr("needs pipeline_parallel above 1")));
  EXPECT_THAT(errors(plan(2), example::architecture(example::gpt2())), Contains(HasSubstr("gpt2")));
}

}  // namespace
}  // namespace oomplan
