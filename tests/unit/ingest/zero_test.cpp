// DeepSpeed's JSON, as transformers' integration and accelerate hand it on.
#include "from_text.hpp"
#include "oomplan/catalog/architecture.hpp"

namespace oomplan {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* sft = "model_name_or_path: a/b\nmax_length: 8\ntrainer: sft\n";

/// `json` under the trainer's own key.
IngestOptions with_json(const std::string& json) {
  IngestOptions options;
  options.overrides = {"plan.world_size=8"};
  options.loader = [json](const std::string& path) { return parse_document(json, path, Syntax::json); };
  return options;
}

TrainingPlan planned(const std::string& json, const std::string& more = {}) {
  return plan_from(std::string(sft) + "deepspeed: ds.json\n" + more, with_json(json));
}

std::string refusal(const std::string& json, const std::string& more = {}) {
  const auto plan = ingest(yaml(std::string(sft) + "deepspeed: ds.json\n" + more), with_json(json));
  return plan ? "" : plan.errors().front().message;
}

TEST(Zero, SaysTheSharesAndTakesThePlaceOfAutocast) {
  const TrainingPlan plan = planned(R"({"bf16": {"enabled": "auto"}, "zero_optimization": {"stage": 2,
      "overlap_comm": true, "reduce_bucket_size": 5e8, "round_robin_gradients": true,
      "offload_optimizer": {"device": "cpu"}}, "gradient_accumulation_steps": "auto"})");
  EXPECT_THAT(plan.unmodelled, IsEmpty());
  EXPECT_EQ(plan.mesh.sharding.value, Sharding::zero2);
  EXPECT_EQ(plan.mesh.zero_reduce_bucket.value, 500'000'000);
  EXPECT_TRUE(plan.mesh.zero_overlap.value);
  EXPECT_TRUE(plan.mesh.zero_round_robin.value);
  EXPECT_TRUE(plan.mesh.zero_offload_optimizer.value);
  EXPECT_EQ(plan.mesh.zero_dtype.value, MixedDType::bf16);
  EXPECT_EQ(plan.precision.autocast.value, Autocast::none);
}

TEST(Zero, SaysWhatIsPageLockedAndWhoSaves) {
  const MeshFacts mesh = planned(R"({"bf16": {"enabled": true}, "zero_optimization": {"stage": 3,
      "stage3_gather_16bit_weights_on_model_save": true, "offload_param": {"device": "cpu"},
      "offload_optimizer": {"device": "cpu", "pin_memory": true}}})")
                             .mesh;
  EXPECT_TRUE(mesh.zero_pin_optimizer.value);
  EXPECT_FALSE(mesh.zero_pin_params.value);
  EXPECT_TRUE(mesh.zero_gathers_to_save.value);
}

/// The places where a config's `deepspeed: ds/z.json` is looked for, of a file that is in none of them but `there`.
std::vector<std::string> looked_for(const std::string& config, const std::string& there, TrainingPlan& plan) {
  std::vector<std::string> out;
  IngestOptions options;
  options.overrides = {"plan.world_size=8"};
  options.loader = [&](const std::string& path) -> Result<Document> {
    out.push_back(path);
    if (path == there) return parse_document(R"({"zero_optimization": {"stage": 2}})", path, Syntax::json);
    return Diagnostic{Severity::error, "read/missing", "there is no such file", {path}, {}, {}};
  };
  const auto document = parse_document(std::string(sft) + "deepspeed: ds/z.json\n", config, Syntax::yaml);
  plan = *ingest(*document, options);
  return out;
}

TEST(Zero, WhatItsMonitorsReportIsKnown) {
  const TrainingPlan plan = planned(R"({"zero_optimization": {"stage": 2}, "comms_config": {"verbose": false},
      "monitor_config": {"enabled": true, "csv_monitor": {"enabled": false}}})");
  EXPECT_THAT(plan.unmodelled, IsEmpty());
  EXPECT_THAT(plan.warnings, IsEmpty());
}

// Runs are started from a repository's root, which the frameworks take a path from.
TEST(Zero, AFileIsLookedForAboveTheConfig) {
  TrainingPlan plan;
  EXPECT_THAT(looked_for("/a/b/c/x.yaml", "/a/ds/z.json", plan),
              testing::ElementsAre("ds/z.json", "/a/b/c/ds/z.json", "/a/b/ds/z.json", "/a/ds/z.json"));
  EXPECT_EQ(plan.mesh.sharding.value, Sharding::zero2);
  ASSERT_EQ(plan.warnings.size(), 1U);
  EXPECT_THAT(said(plan.warnings.front()), HasSubstr("ingest/assumed-file: deepspeed: read from /a/ds/z.json"));
  EXPECT_THAT(looked_for("b/x.yaml", "../ds/z.json", plan),
              testing::ElementsAre("ds/z.json", "b/ds/z.json", "ds/z.json", "../ds/z.json"));
  EXPECT_THAT(looked_for("b/x.yaml", "b/ds/z.json", plan), testing::ElementsAre("ds/z.json", "b/ds/z.json"));
  EXPECT_THAT(plan.warnings, IsEmpty());
  EXPECT_THAT(looked_for("a/x/./b/../c.yaml", "ds/z.json", plan), testing::ElementsAre("ds/z.json"));
  EXPECT_THAT(looked_for("a/./b/../c/x.yaml", "a/ds/z.json", plan), testing::Contains("a/ds/z.json"));
  EXPECT_THAT(looked_for("v1../x.yaml", "../ds/z.json", plan), testing::Contains("../ds/z.json"));
}

TEST(Zero, ItIsNotLookedForWithoutEnd) {
  TrainingPlan plan;
  EXPECT_EQ(looked_for("x.yaml", "", plan).size(), 9U);
  EXPECT_EQ(looked_for("/x.yaml", "", plan).size(), 2U) << "nothing is above the root";
  EXPECT_THAT(features(plan), testing::ElementsAre(HasSubstr("DeepSpeed, whose file cannot be read from here,")));
}

TEST(Zero, OverlapIsOnByDefaultAtStageThreeAlone) {
  EXPECT_FALSE(planned(R"({"zero_optimization": {"stage": 1}})").mesh.zero_overlap.value);
  EXPECT_TRUE(planned(R"({"zero_optimization": {"stage": 3}})").mesh.zero_overlap.value);
  EXPECT_FALSE(planned(R"({"zero_optimization": {"stage": 3, "overlap_comm": false}})").mesh.zero_overlap.value);
}

TEST(Zero, AutoWaitsForTheModel) {
  const TrainingPlan plan = planned(R"({"zero_optimization": {"stage": 3, "reduce_bucket_size": "auto",
      "stage3_prefetch_bucket_size": "auto", "stage3_param_persistence_threshold": "auto"}})");
  EXPECT_EQ(plan.mesh.zero_reduce_bucket.value, by_hidden_size);
  Architecture model;
  model.config = {{"hidden_size", std::int64_t{64}}};
  const auto resolved = with_model_defaults(plan, model);
  ASSERT_TRUE(resolved);
  EXPECT_EQ(resolved->mesh.zero_reduce_bucket.value, 4096);
  EXPECT_EQ(resolved->mesh.zero_prefetch.value, 3686);
  EXPECT_EQ(resolved->mesh.zero_persistence.value, 640);
}

TEST(Zero, AnOptimizerOfItsOwnIsOneGroup) {
  const TrainingPlan plan =
      planned(R"({"optimizer": {"type": "AdamW", "params": {"lr": "auto"}}, "zero_optimization": {"stage": 2}})");
  EXPECT_FALSE(plan.mesh.zero_decay_groups.value);
  EXPECT_EQ(plan.optimizer.name.value, "adamw_fused");
  EXPECT_TRUE(planned(R"({"zero_optimization": {"stage": 2}})").mesh.zero_decay_groups.value);
}

TEST(Zero, WhatTheTrainerRefusesIsRefused) {
  EXPECT_THAT(refusal(R"({"zero_optimization": {"stage": 2}, "gradient_accumulation_steps": 7})"),
              HasSubstr("refuses gradient_accumulation_steps 7"));
  EXPECT_THAT(refusal(R"({"zero_optimization": {"stage": 2}, "bf16": {"enabled": true}})", "bf16: false\n"),
              HasSubstr("bf16.enabled is true"));
  EXPECT_THAT(refusal(R"({"zero_optimization": {"stage": 4}})"), HasSubstr("no stage beyond 3"));
}

TEST(Zero, WhetherDeepSpeedsOptimizerTakesOverOnTheHostIsSaid) {
  EXPECT_TRUE(planned(R"({"zero_optimization": {"stage": 2}})").mesh.zero_replaces_optimizer.value);
  EXPECT_FALSE(planned(R"({"zero_force_ds_cpu_optimizer": false, "zero_optimization": {"stage": 2}})")
                   .mesh.zero_replaces_optimizer.value);
}

TEST(Zero, TheOldKeyOfOffloadTakesAnOptimizerOfDeepSpeeds) {
  const std::string old = R"("zero_optimization": {"stage": 2, "cpu_offload": )";
  EXPECT_THAT(refusal("{" + old + "true}}"), HasSubstr("DeepSpeed refuses the trainer's optimizer beside cpu_offload"));
  EXPECT_EQ(refusal("{" + old + "false}}"), "");
  EXPECT_EQ(refusal(R"({"optimizer": {"type": "AdamW"}, )" + old + "true}}"), "");
  EXPECT_EQ(refusal(R"({"zero_force_ds_cpu_optimizer": false, )" + old + "true}}"), "");
}

std::string launched(const std::string& accelerate, const std::string& config) {
  IngestOptions options;
  options.launch = {"a.yaml"};
  options.loader = [&](const std::string& path) { return parse_document(accelerate, path, Syntax::yaml); };
  const auto plan = ingest(yaml(config), options);
  return plan ? "" : plan.errors().front().message;
}

TEST(Zero, MixedPrecisionOfTheLauncherAloneIsRefused) {
  const std::string two = "distributed_type: DEEPSPEED\nnum_processes: 2\ndeepspeed_config: {zero_stage: 2}\n";
  const std::string own = "model_name_or_path: a/b\nblock_size: 8\ntrainer: trainer\n";
  for (const char* mixed : {"mixed_precision: bf16\n", "mixed_precision: fp16\n"}) {
    EXPECT_THAT(launched(two + mixed, own), HasSubstr("refuses mixed_precision of a launcher with DeepSpeed")) << mixed;
  }
  EXPECT_EQ(launched(two + "mixed_precision: bf16\n", own + "bf16: true\n"), "");
  EXPECT_EQ(launched(two + "mixed_precision: bf16\n", sft), "") << "TRL's own is bf16";
  EXPECT_EQ(launched(two + "mixed_precision: 'no'\n", own), "");
}

TEST(Zero, EvaluationBeforeTheSecondStepIsUndecidedAtStageThree) {
  const std::string evaluates = "eval_strategy: steps\n";
  const auto gaps = [&](const char* stage, const std::string& more) {
    return features(planned(std::string(R"({"zero_optimization": {"stage": )") + stage + "}}", evaluates + more));
  };
  const auto early = Contains(HasSubstr("evaluation before the second step"));
  EXPECT_THAT(gaps("3", "eval_steps: 1\n"), early);
  EXPECT_THAT(gaps("3", "eval_on_start: true\neval_steps: 50\n"), early);
  EXPECT_THAT(gaps("3", "eval_on_start: false\neval_steps: 2\n"), IsEmpty());
  EXPECT_THAT(gaps("2", "eval_steps: 1\n"), IsEmpty());
  EXPECT_THAT(gaps("3", "eval_steps: 1.0\n"), early);
  EXPECT_THAT(gaps("3", "logging_steps: 1\n"), early) << "which eval_steps is where it is not given";
  EXPECT_THAT(gaps("3", "eval_steps: 0\nlogging_steps: 1\n"), early);
  EXPECT_THAT(gaps("3", "eval_steps: 2\nlogging_steps: 1\n"), IsEmpty());
  EXPECT_THAT(gaps("3", "eval_steps: 1\neval_delay: 2\n"), IsEmpty());
  EXPECT_THAT(gaps("3", "eval_steps: 1\neval_delay: 1\n"), early);
  EXPECT_THAT(features(planned(R"({"zero_optimization": {"stage": 3}})", "eval_strategy: epoch\neval_steps: 1\n")),
              IsEmpty());
}

TEST(Zero, ALauncherOfSeveralProcessesSaysTheWorldAlone) {
  IngestOptions options;
  options.launch = {"a.yaml"};
  options.loader = [](const std::string& path) {
    return path == "a.yaml" ? parse_document("distributed_type: MULTI_GPU\nnum_processes: 4\n", path, Syntax::yaml)
                            : parse_document(R"({"zero_optimization": {"stage": 1}})", path, Syntax::json);
  };
  const TrainingPlan plan = plan_from(std::string(sft) + "deepspeed: ds.json\n", options);
  EXPECT_EQ(plan.mesh.sharding.value, Sharding::zero1);
  EXPECT_EQ(plan.mesh.world_size.value, 4);
}

TEST(Zero, AnUnknownKeyIsNamedAndWhatIsNotPlayedToo) {
  const TrainingPlan plan =
      planned(R"({"zero_optimization": {"stage": 2, "zero_hpz_partition_size": 8}, "no_such_key": 1})");
  ASSERT_EQ(plan.unmodelled.size(), 1U);
  EXPECT_EQ(plan.unmodelled.front().key, "zero_optimization.zero_hpz_partition_size");
  EXPECT_EQ(plan.warnings.size(), 1U);
  EXPECT_THAT(refusal(R"({"zero_optimization": {"stage": 2, "reduce_bucket": 1}})"),
              HasSubstr("\"zero_optimization.reduce_bucket\", which DeepSpeed refuses"));
  EXPECT_THAT(features(planned(R"({"bf16": {"enabled": "auto"}})")),
              Contains("zero_optimization: DeepSpeed without ZeRO"));
}

}  // namespace
}  // namespace oomplan
