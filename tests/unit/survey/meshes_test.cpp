// Products of parallelisms: which there are, what they cost, and what they set.
#include "oomplan/survey/meshes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "oomplan/catalog/catalog.hpp"
#include "oomplan/ingest/ingest.hpp"
#include "oomplan/survey/survey.hpp"

namespace oomplan {
namespace {

TEST(MeshLayouts, AreOfAllGpusAndAllRows) {
  for (const MeshLayout& layout : mesh_layouts({.each = 8, .machines = 4}, 96, 32, "oomplan")) {
    const MeshShape& shape = layout.shape;
    EXPECT_EQ(shape.tensor * shape.pipeline * shape.data, 32) << title_of(shape);
    EXPECT_LE(shape.tensor, 8);
    EXPECT_GE(layout.rows(), 96) << title_of(shape);
    EXPECT_EQ(shape.data % shape.replicas, 0);
    const bool one_by_one = shape.pipeline > 1 && shape.schedule == PipelineSchedule::one_f_one_b;
    EXPECT_GE(layout.micro_batches, one_by_one ? shape.stages() : 1) << title_of(shape);
  }
}

TEST(MeshLayouts, OfTorchtitanShareByFsdpAlone) {
  for (const MeshLayout& layout : mesh_layouts({.each = 8}, 16, 32, "torchtitan")) {
    EXPECT_NE(layout.shape.sharding, Sharding::ddp);
    EXPECT_EQ(layout.shape.sequence, layout.shape.tensor > 1);
  }
}

TEST(MeshLayouts, SayWhatTheyAre) {
  MeshShape shape{.tensor = 8,
                  .sequence = true,
                  .loss = true,
                  .pipeline = 4,
                  .sharding = Sharding::fsdp2,
                  .kept = true,
                  .replicas = 2,
                  .data = 32};
  EXPECT_EQ(title_of(shape), "TP 8 SP LP x PP 4 1f1b x HSDP 2x16 kept");
  EXPECT_EQ(name_of(shape), "tp-8-sp-lp_pp-4-1f1b_hsdp-2x16-kept");
  EXPECT_EQ(title_of({}), "one GPU");
}

class MeshCosts : public testing::Test {
 protected:
  MeshCosts() {
    plan.batch.sequence_length.value = 100;
    plan.precision.weights_dtype.value = WeightsDType::bf16;
    gpu.speed = GpuSpeed{.operations = 100, .link = 10};
  }
  StepCost of(const MeshLayout& layout) {
    plan.mesh.sharding.value = layout.shape.sharding;
    return mesh_cost(layout, plan, model, gpu, world);
  }

  TrainingPlan plan{};
  Gpu gpu{};
  LayoutWorld world{.each = 8};
  MeshModel model{.parameters = {.all = 1'000'000, .trained = 1'000'000}, .layers = 10, .width = 50, .vocabulary = 200};
};

// Of the same layouts as step_cost, the same.
TEST_F(MeshCosts, AreThoseOfLayoutsWhereNothingElseIsShared) {
  plan.batch.micro_batch_size.value = 2;
  plan.batch.gradient_accumulation_steps.value = 3;
  plan.mesh.fsdp_replicas.value = 1;
  for (const Sharding sharding : {Sharding::ddp, Sharding::fsdp2}) {
    for (const bool kept : {false, true}) {
      if (kept && sharding == Sharding::ddp) continue;
      plan.mesh.fsdp_reshard.value = kept ? Reshard::never : Reshard::automatic;
      const StepCost mesh = of({{.sharding = sharding, .kept = kept, .data = 8}, false, 2, 3});
      const StepCost layout = step_cost(plan, model.parameters, gpu, world);
      EXPECT_EQ(mesh.moved, layout.moved);
      EXPECT_DOUBLE_EQ(*mesh.seconds, *layout.seconds);
    }
  }
}

TEST_F(MeshCosts, WaitForHiddenStates) {
  constexpr double hidden = 1 * 100 * 50 * 2;
  constexpr double reduced = 0.75 * (10 * 4 + 2) * 2 * hidden;
  const MeshLayout layout{{.tensor = 4, .sequence = true, .loss = true}, false, 1, 1};
  EXPECT_EQ(of(layout).moved, Bytes(static_cast<std::int64_t>(reduced)));
  EXPECT_NEAR(*of(layout).seconds, 100 * 6e6 / 4 / 40e12 + reduced / 8e9, 1e-12);
  MeshLayout again = layout;
  again.checkpointing = true;
  EXPECT_EQ(of(again).moved, Bytes(static_cast<std::int64_t>(0.75 * (10 * 6 + 2) * 2 * hidden)));
  MeshLayout whole = layout;
  whole.shape.loss = false;
  EXPECT_EQ(of(whole).moved, Bytes(static_cast<std::int64_t>(reduced + 0.75 * 100 * 200 * 2)));
}

TEST_F(MeshCosts, HaveBubbles) {
  constexpr double hidden = 1 * 100 * 50 * 2;
  const MeshLayout layout{{.pipeline = 5}, false, 1, 8};
  const double work = 8 * 100 * 6e6 / 5 / 40e12 + 2 * 8 * hidden / 8e9;
  EXPECT_NEAR(*of(layout).seconds, work * (1 + 4.0 / 8), 1e-12);
  const MeshLayout interleaved{
      {.pipeline = 5, .schedule = PipelineSchedule::interleaved, .stages_each = 2}, false, 1, 8};
  const double more = 8 * 100 * 6e6 / 5 / 40e12 + 4 * 8 * hidden / 8e9;
  EXPECT_NEAR(*of(interleaved).seconds, more * (1 + 4.0 / 16), 1e-12);
  // Ten layers in four stages: the slowest has three.
  EXPECT_NEAR(*of({{.pipeline = 4}, false, 1, 8}).seconds,
              (8 * 100 * 6e6 * 0.3 / 40e12 + 2 * 8 * hidden / 8e9) * (1 + 3.0 / 8), 1e-12);
}

TEST_F(MeshCosts, OfOneMicroBatchNoStagesBeatOneGpu) {
  const double alone = *of({{}, false, 1, 1}).seconds;
  for (const std::int64_t parts : {1, 2}) {
    const PipelineSchedule schedule = parts == 1 ? PipelineSchedule::gpipe : PipelineSchedule::interleaved;
    for (const std::int64_t stages : {2, 5}) {
      EXPECT_GE(*of({{.pipeline = stages, .schedule = schedule, .stages_each = parts}, false, 1, 1}).seconds, alone);
    }
  }
}

class MeshPlans : public testing::Test {
 protected:
  Meshes meshes(std::int64_t rows, double headroom = 0.05) {
    IngestOptions options;
    options.dialect = "oomplan";
    options.world = {world.each, world.machines, "--gpu"};
    const LayoutQuestion question{document, options, model, gpu, world, rows, headroom};
    return plan_meshes(question, *with_model_defaults(*ingest(document, options), model));
  }

  Document document = *parse_document(
      "model: meta-llama/Llama-3.2-1B\nmicro_batch_size: 1\nsequence_length: 2048\nweights_dtype: bf16\n",
      "oomplan.yaml", Syntax::yaml);
  Architecture model = *find_model("meta-llama/Llama-3.2-1B");
  Gpu gpu = *find_gpu("l40s");
  LayoutWorld world{.each = 4};
};

TEST_F(MeshPlans, ListEachMeshOnceTheQuickestFirst) {
  const Meshes found = meshes(32);
  std::vector<std::string> names;
  double last = 0;
  for (const Layout& layout : found.layouts) {
    if (!layout.undecided.empty()) break;
    EXPECT_TRUE(layout.fits) << layout.kind.title;
    EXPECT_GE(*layout.cost.seconds, last);
    last = *layout.cost.seconds;
    const MeshShape& shape = layout.mesh->shape;
    names.push_back(std::to_string(shape.tensor) + " " + std::to_string(shape.pipeline) + " " +
                    std::to_string(static_cast<int>(shape.sharding)) + " " + std::to_string(shape.replicas));
  }
  EXPECT_GT(names.size(), 2U);
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
  const MeshCounts& counts = found.counts;
  EXPECT_EQ(counts.considered,
            counts.too_large + counts.played + counts.undecided + counts.refused + counts.not_played);
}

TEST_F(MeshPlans, SayOneFigureWhereNothingFits) {
  gpu = *find_gpu("2GiB");
  const Meshes found = meshes(32);
  ASSERT_FALSE(found.layouts.empty());
  EXPECT_FALSE(found.layouts.front().fits);
}

TEST_F(MeshPlans, AreWhatTheirSettingsAreEstimatedAt) {
  const Meshes found = meshes(32);
  const Layout& first = found.layouts.front();
  IngestOptions options;
  options.dialect = "oomplan";
  options.overrides = first.settings;
  const LayoutQuestion question{document, options, model, gpu, world, 32, 0.05};
  EXPECT_EQ(needed_as_written(question, *first.mesh), first.needed);
}

}  // namespace
}  // namespace oomplan
