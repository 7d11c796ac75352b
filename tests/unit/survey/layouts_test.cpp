// layout_of against estimates of its own launcher config; step_cost against sums by hand.
#include "oomplan/survey/layouts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "oomplan/catalog/catalog.hpp"
#include "oomplan/core/text.hpp"
#include "oomplan/estimate/fit_check.hpp"

namespace oomplan {
namespace {

constexpr std::string_view config = "trainer: sft\nmodel_name_or_path: openai-community/gpt2\nmax_length: 256\n";

LayoutKind kind_named(std::string_view name) {
  const std::vector<LayoutKind> kinds = *layout_kinds();
  for (const LayoutKind& kind : kinds)
    if (kind.name == name) return kind;
  ADD_FAILURE() << name;
  return {};
}

class Asked {
 public:
  explicit Asked(const std::string& gpu, std::vector<std::string> overrides = {}) : gpu_(*find_gpu(gpu)) {
    options_.world = {world_.each, world_.machines, "--gpu"};
    options_.overrides = std::move(overrides);
    options_.dialect = "hf";
  }

  Layout layout(std::string_view kind, std::int64_t rows, bool checkpointing = false) const {
    return layout_of({document_, options_, model_, gpu_, world_, rows, 0.05}, kind_named(kind), checkpointing);
  }

  /// The layout's own files, estimated as --launch has it.
  CheckedFit estimated(const Layout& layout, std::int64_t micro_batch, std::int64_t accumulation) const {
    IngestOptions options = options_;
    options.launch = {"other.yaml"};
    options.loader = [&](const std::string&) {
      return parse_document(launch_file(layout.kind, world_), "other.yaml", Syntax::yaml);
    };
    options.overrides = {"per_device_train_batch_size=" + std::to_string(micro_batch),
                         "gradient_accumulation_steps=" + std::to_string(accumulation),
                         layout.checkpointing ? "gradient_checkpointing=true" : "gradient_checkpointing=false"};
    const TrainingPlan plan = *with_model_defaults(*ingest(document_, options), model_);
    return FitCheck(plan, model_).on(gpu_, limit_of(gpu_, 0.05));
  }

 private:
  Document document_ = *parse_document(std::string(config), "config.yaml", Syntax::yaml);
  IngestOptions options_{};
  Architecture model_ = *find_model("openai-community/gpt2");
  Gpu gpu_;
  LayoutWorld world_{.each = 4};
};

TEST(Layouts, TakeAllRowsAtOnceWhereTheyFit) {
  const Layout layout = Asked("40GiB").layout("ddp", 32);
  EXPECT_TRUE(layout.fits);
  EXPECT_EQ(layout.micro_batch, 8);
  EXPECT_EQ(layout.accumulation, 1);
}

TEST(Layouts, AreWhatTheirOwnFilesAreEstimatedAt) {
  const Asked asked("8GiB");
  for (const char* kind : {"ddp", "fsdp2", "fsdp2-keep", "zero2"}) {
    const Layout layout = asked.layout(kind, 4 * 64);
    ASSERT_TRUE(layout.undecided.empty()) << kind << layout.undecided.front().message;
    ASSERT_TRUE(layout.fits) << kind;
    EXPECT_EQ(layout.needed, asked.estimated(layout, layout.micro_batch, layout.accumulation).needed) << kind;
  }
}

TEST(Layouts, AccumulateAsFewAsFit) {
  const Asked asked("8GiB");
  for (const char* kind : {"ddp", "fsdp2"}) {
    const Layout layout = asked.layout(kind, 4 * 64);
    ASSERT_TRUE(layout.fits);
    EXPECT_GT(layout.accumulation, 1) << kind;
    EXPECT_GE(layout.micro_batch * layout.accumulation, 64);
    const std::int64_t fewer = layout.accumulation - 1;
    EXPECT_FALSE(asked.estimated(layout, (64 + fewer - 1) / fewer, fewer).fits) << kind;
  }
}

TEST(Layouts, AreUndecidedWhereTheConfigMakesAnother) {
  for (const char* said : {"plan.micro_batch_size=3", "plan.gradient_accumulation_steps=7",
                           "plan.gradient_checkpointing=true", "plan.sharding=zero2"}) {
    const Layout layout = Asked("40GiB", {said}).layout("ddp", 32);
    ASSERT_FALSE(layout.undecided.empty()) << said;
  }
}

// How the allocator rounds, 32 rows a micro-batch need more here than 31 or 33.
TEST(Layouts, TakeWhatWasFoundWhereFewerRowsNeedMore) {
  const Document document =
      *parse_document("trainer: sft\nmodel_name_or_path: meta-llama/Llama-3.2-1B\ndtype: bfloat16\nmax_length: 1024\n",
                      "c.yaml", Syntax::yaml);
  const Architecture model = *find_model("meta-llama/Llama-3.2-1B");
  const Gpu gpu = *find_gpu("rtx-3090");
  const LayoutWorld world{.each = 2};
  IngestOptions options;
  options.dialect = "hf";
  options.world = {world.each, world.machines, "--gpu"};
  const Layout layout = layout_of({document, options, model, gpu, world, 256, 0.05}, kind_named("ddp"), true);
  ASSERT_TRUE(layout.undecided.empty());
  EXPECT_TRUE(layout.fits) << layout.micro_batch;
}

TEST(Layouts, SayWhatOneRowNeedsWhereNotEvenThatFits) {
  const Layout layout = Asked("1GiB").layout("ddp", 32);
  EXPECT_FALSE(layout.fits);
  EXPECT_EQ(layout.micro_batch, 1);
  EXPECT_GT(layout.needed, Bytes::gib(1));
}

TEST(Layouts, AreForSoManyGpusAndMachines) {
  EXPECT_FALSE(is_for(kind_named("ddp"), {.each = 1}));
  EXPECT_TRUE(is_for(kind_named("one-gpu"), {.each = 1}));
  EXPECT_FALSE(is_for(kind_named("one-gpu"), {.each = 2}));
  EXPECT_FALSE(is_for(kind_named("hsdp"), {.each = 8}));
  EXPECT_TRUE(is_for(kind_named("hsdp"), {.each = 8, .machines = 2}));
  EXPECT_FALSE(is_for(kind_named("hsdp"), {.each = 1, .machines = 2}));
}

TEST(Layouts, HaveTheNumbersOfTheWorldInTheirFiles) {
  const std::string text = launch_file(kind_named("hsdp"), {.each = 8, .machines = 2});
  EXPECT_NE(text.find("num_processes: 16\n"), text.npos);
  EXPECT_NE(text.find("dp_shard_size: 8\n"), text.npos);
  EXPECT_NE(text.find("dp_replicate_size: 2\n"), text.npos);
  EXPECT_EQ(text.find('{'), text.npos);
}

TEST(Layouts, StandByTimeThenByBytesAndWhatDoesNotFitLast) {
  const auto made = [](std::string name, bool fits, double seconds, std::int64_t moved, bool twice = false) {
    Layout out{.kind = {.name = std::move(name)}, .checkpointing = twice, .micro_batch = 2, .fits = fits};
    out.cost = {Bytes(moved), seconds};
    return out;
  };
  Layout undecided = made("undecided", false, 0, 0);
  undecided.undecided = {{.code = "x", .message = "y"}};
  std::vector<Layout> layouts{undecided,
                              made("misfit", false, 0.1, 1),
                              made("slow", true, 3, 1),
                              made("twice", true, 2, 1, true),
                              made("moves", true, 2, 9),
                              made("best", true, 2, 5)};
  layouts[5].micro_batch = 4;  // Twice the rows in the same time.
  sort_layouts(layouts);
  std::vector<std::string> names;
  for (const Layout& layout : layouts) names.push_back(layout.kind.name);
  EXPECT_EQ(names, (std::vector<std::string>{"best", "moves", "twice", "slow", "misfit", "undecided"}));
}

class Cost : public testing::Test {
 protected:
  Cost() {
    plan.batch.micro_batch_size.value = 2;
    plan.batch.gradient_accumulation_steps.value = 3;
    plan.batch.sequence_length.value = 100;
    plan.mesh.fsdp_replicas.value = 1;
    plan.mesh.zero_dtype.value = MixedDType::bf16;
    gpu.speed = GpuSpeed{.operations = 100, .link = 10};
  }

  StepCost of(Sharding sharding, LayoutWorld world = {.each = 4}) {
    plan.mesh.sharding.value = sharding;
    return step_cost(plan, counted, gpu, world);
  }

  TrainingPlan plan{};
  Gpu gpu{};
  Counted counted{.all = 1'000'000, .trained = 1'000'000};
};

TEST_F(Cost, MovesWhatEachLayoutDoes) {
  constexpr double gradients = 0.75 * 2e6;  // Of four ranks three parts come from others.
  const auto moved = [&](Sharding sharding) { return static_cast<double>(of(sharding).moved.count()); };
  EXPECT_EQ(moved(Sharding::none), 0);
  EXPECT_EQ(moved(Sharding::ddp), 2 * gradients);
  EXPECT_EQ(moved(Sharding::zero2), (3 * 2 + 1) * gradients);
  EXPECT_EQ(moved(Sharding::zero3), 3 * (2 + 1) * gradients);
  EXPECT_EQ(moved(Sharding::fsdp2), (3 * 2 + 1) * gradients);
  plan.mesh.fsdp_reshard.value = Reshard::never;
  EXPECT_EQ(moved(Sharding::fsdp2), (3 + 1) * gradients);
}

TEST_F(Cost, GathersFrozenWeightsToo) {
  counted.trained = 0;
  EXPECT_EQ(of(Sharding::ddp).moved, Bytes());
  EXPECT_EQ(of(Sharding::fsdp2).moved, Bytes(9'000'000));
  plan.quantization.kind.value = Quantization::nf4;
  EXPECT_EQ(of(Sharding::fsdp2).moved, Bytes());  // Bytes are whole on each rank.
  plan.quantization.storage.value = QuantStorage::bf16;
  EXPECT_EQ(of(Sharding::fsdp2).moved, Bytes(2'250'000));
}

TEST_F(Cost, MovesWhatIsTrainedInItsDtype) {
  plan.precision.weights_dtype.value = WeightsDType::fp32;
  EXPECT_EQ(of(Sharding::ddp).moved, Bytes(6'000'000));
  plan.mesh.fsdp_param_dtype.value = plan.mesh.fsdp_reduce_dtype.value = MixedDType::bf16;
  EXPECT_EQ(of(Sharding::fsdp2).moved, Bytes(10'500'000));
  plan.precision.weights_dtype.value = WeightsDType::bf16;
  plan.adapter.kind.value = Adapter::lora;
  plan.adapter.dtype.value = AdapterDType::fp32;
  counted.trained = 1000;
  EXPECT_EQ(of(Sharding::ddp).moved, Bytes(6000));
}

TEST_F(Cost, ComputesAgainWithCheckpointing) {
  // 600 tokens, 6 operations for each and a parameter, of 40 % of 100e12 a second.
  EXPECT_NEAR(*of(Sharding::none).seconds, 600 * 6e6 / 40e12, 1e-12);
  plan.checkpointing.on.value = true;
  EXPECT_NEAR(*of(Sharding::none).seconds, 600 * 8e6 / 40e12, 1e-12);
}

TEST_F(Cost, IsTheLargerOfComputingAndMovingWhereTheyOverlap) {
  const double moving = 2 * 0.75 * 2e6 / 8e9;
  EXPECT_NEAR(*of(Sharding::ddp).seconds, moving, 1e-12);
  const double apart = 7 * 0.75 * 2e6 / 8e9 + 600 * 6e6 / 40e12;
  EXPECT_NEAR(*of(Sharding::zero2).seconds, apart, 1e-12);
}

TEST_F(Cost, TakesTheNetworkBetweenMachines) {
  const LayoutWorld two{.each = 2, .machines = 2, .network = 1};
  EXPECT_NEAR(*of(Sharding::ddp, two).seconds, 2 * 0.75 * 2e6 / (2 * 0.8e9), 1e-12);  // Both GPUs have a card of it.
  plan.mesh.fsdp_replicas.value = 2;  // Shards within a machine, reduced between the two.
  const double within = 0.5 * 7 * 2e6 / 8e9;
  const double between = 0.5 * 2 * 1e6 / 0.8e9;
  EXPECT_NEAR(*of(Sharding::fsdp2, two).seconds, within + between, 1e-12);
}

TEST_F(Cost, SaysNoTimeOfCardsAndModelsThatItDoesNotKnow) {
  counted.mixture = true;
  EXPECT_FALSE(of(Sharding::ddp).seconds);
  counted.mixture = false;
  plan.recipe.kind.value = RecipeKind::dpo;
  EXPECT_FALSE(of(Sharding::ddp).seconds);
  plan.recipe.kind.value = RecipeKind::supervised;
  EXPECT_TRUE(of(Sharding::ddp).seconds);
  gpu.speed.reset();
  EXPECT_FALSE(of(Sharding::ddp).seconds);
}

}  // namespace
}  // namespace oomplan
