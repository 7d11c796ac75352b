// FSDP as configs ask for it by their own keys.
#include "from_text.hpp"

namespace oomplan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* sft = "model_name_or_path: a/b\nmax_length: 8\ntrainer: sft\n";
constexpr const char* axolotl =
    "base_model: a/b\nsequence_len: 64\nmicro_batch_size: 1\ngradient_accumulation_steps: 1\nflash_attention: true\n";

IngestOptions over(const char* ranks) {
  IngestOptions options;
  options.overrides = {std::string("plan.world_size=") + ranks};
  return options;
}

TrainingPlan by_axolotl(const std::string& keys) { return plan_from(axolotl + keys, over("4")); }
TrainingPlan by_trainer(const std::string& keys) { return plan_from(sft + keys, over("4")); }

std::vector<std::string> errors_of(const std::string& config) {
  const auto plan = ingest(yaml(config), over("4"));
  return plan.ok() ? std::vector<std::string>() : said(plan.errors());
}

std::vector<std::string> axolotls_errors(const std::string& keys) { return errors_of(axolotl + keys); }
std::vector<std::string> trainers_errors(const std::string& keys) { return errors_of(sft + keys); }

TEST(OwnFsdp, EachRankLoadsAndTheFirstSavesWhereNothingIsSaid) {
  const MeshFacts usual = by_axolotl("fsdp_config: {version: 2}\n").mesh;
  EXPECT_FALSE(usual.fsdp_first_loads.value);
  EXPECT_TRUE(usual.fsdp_full_state.value);
  EXPECT_TRUE(usual.fsdp_pin.value);
  const MeshFacts said = by_axolotl(
                             "fsdp_config: {version: 2, cpu_ram_efficient_loading: true, "
                             "state_dict_type: SHARDED_STATE_DICT, cpu_offload_pin_memory: false}\n")
                             .mesh;
  EXPECT_TRUE(said.fsdp_first_loads.value);
  EXPECT_FALSE(said.fsdp_full_state.value);
  EXPECT_FALSE(said.fsdp_pin.value);
}

TEST(OwnFsdp, AxolotlsIsTheFirstVersionWhereNoneIsSaid) {
  const TrainingPlan plan = by_axolotl("fsdp: [full_shard, auto_wrap]\nfsdp_config: {fsdp_offload_params: true}\n");
  EXPECT_EQ(plan.mesh.sharding.value, Sharding::fsdp1);
  EXPECT_EQ(plan.mesh.fsdp_reshard.value, Reshard::automatic);
  EXPECT_EQ(plan.mesh.fsdp_prefetch.value, BackwardPrefetch::none);
  EXPECT_TRUE(plan.mesh.fsdp_orig_params.value) << "the Trainer's default";
  EXPECT_TRUE(plan.mesh.fsdp_offload.value);
  EXPECT_TRUE(plan.mesh.fsdp_fp32_trained.value);
  EXPECT_EQ(plan.precision.autocast.value, Autocast::bf16);
  EXPECT_THAT(plan.unmodelled, IsEmpty());
  EXPECT_FALSE(by_axolotl("fsdp_config: {use_orig_params: false}\n").mesh.fsdp_orig_params.value);
}

TEST(OwnFsdp, AxolotlDropsWhatItsSchemaLacks) {
  const MeshFacts mesh =
      by_axolotl("fsdp_config:\n  fsdp_sharding_strategy: SHARD_GRAD_OP\n  backward_prefetch: BACKWARD_PRE\n").mesh;
  EXPECT_EQ(mesh.fsdp_reshard.value, Reshard::automatic);
  EXPECT_EQ(mesh.fsdp_prefetch.value, BackwardPrefetch::none);
}

TEST(OwnFsdp, AxolotlsSecondVersionIsItsOwn) {
  const TrainingPlan plan =
      by_axolotl("fsdp_version: 2\nfsdp_config: {transformer_layer_cls_to_wrap: LlamaDecoderLayer}\n");
  EXPECT_EQ(plan.mesh.sharding.value, Sharding::fsdp2);
  EXPECT_EQ(plan.mesh.fsdp_units.value, ShardUnits::adapters);
  EXPECT_EQ(plan.mesh.fsdp_reshard.value, Reshard::all);
  EXPECT_FALSE(plan.mesh.fsdp_fp32_trained.value);
  EXPECT_EQ(plan.precision.autocast.value, Autocast::none);
  EXPECT_THAT(plan.mesh.fsdp_classes.value, ElementsAre("LlamaDecoderLayer"));
  EXPECT_EQ(by_axolotl("fsdp_config: {version: 2, reshard_after_forward: false}\n").mesh.fsdp_reshard.value,
            Reshard::never);
}

TEST(OwnFsdp, AxolotlRaisesNothingAndTakesNoKernelsForTheFirst) {
  const std::string lora = "adapter: lora\nlora_r: 8\nlora_target_linear: true\n";
  const TrainingPlan first = by_axolotl(lora + "fsdp_config: {use_orig_params: false}\n");
  EXPECT_FALSE(first.kernels.lora_qkv.value);
  EXPECT_FALSE(first.precision.fp32_while_loading.value);
  EXPECT_TRUE(by_axolotl(lora + "fsdp_config: {fsdp_version: 2}\n").kernels.lora_qkv.value);
  const std::string sdpa =
      "base_model: a/b\nmicro_batch_size: 1\ngradient_accumulation_steps: 1\nsdp_attention: true\n";
  EXPECT_TRUE(plan_from(sdpa, over("4")).precision.fp32_norms.value);
  EXPECT_FALSE(plan_from(sdpa + "fsdp_config: {fsdp_version: 2}\n", over("4")).precision.fp32_norms.value);
}

TEST(OwnFsdp, AxolotlsGroupsAreTheWorld) {
  const TrainingPlan plan =
      plan_from(std::string(axolotl) + "fsdp_config: {version: 2}\ndp_shard_size: 4\ndp_replicate_size: 2\n", {});
  EXPECT_EQ(plan.mesh.world_size.value, 8);
  EXPECT_EQ(plan.mesh.fsdp_replicas.value, 2);
  EXPECT_THAT(axolotls_errors("fsdp_config: {use_orig_params: true}\ndp_shard_size: 4\n"),
              ElementsAre(HasSubstr("accelerate refuses groups of ranks under FSDP1")));
}

TEST(OwnFsdp, TheTrainersIsTheSecondVersionWhereNoneIsSaid) {
  const TrainingPlan plan = by_trainer("fsdp: full_shard auto_wrap\n");
  EXPECT_EQ(plan.mesh.sharding.value, Sharding::fsdp2);
  EXPECT_EQ(plan.mesh.fsdp_units.value, ShardUnits::accelerate);
  EXPECT_EQ(plan.mesh.fsdp_reshard.value, Reshard::automatic);
  EXPECT_TRUE(plan.mesh.fsdp_fp32_trained.value);
  EXPECT_THAT(plan.unmodelled, IsEmpty());
  const MeshFacts kept = by_trainer("fsdp: [shard_grad_op, offload]\n").mesh;
  EXPECT_EQ(kept.fsdp_reshard.value, Reshard::never);
  EXPECT_TRUE(kept.fsdp_offload.value);
}

// accelerate prefers its own strategy, which is FULL_SHARD (accelerator.py: prepare_model).
TEST(OwnFsdp, TheTrainersStrategySaysNothingOfTheFirstVersion) {
  const TrainingPlan plan =
      by_trainer("fsdp: shard_grad_op\nfsdp_config: {version: 1, backward_prefetch: backward_pre}\n");
  const MeshFacts& mesh = plan.mesh;
  EXPECT_THAT(said(plan.warnings), ElementsAre(HasSubstr("ingest/overruled: accelerate does not read shard_grad_op")));
  EXPECT_THAT(by_trainer("fsdp: full_shard\nfsdp_config: {version: 1}\n").warnings, IsEmpty());
  EXPECT_EQ(mesh.sharding.value, Sharding::fsdp1);
  EXPECT_EQ(mesh.fsdp_reshard.value, Reshard::automatic);
  EXPECT_EQ(mesh.fsdp_prefetch.value, BackwardPrefetch::pre);
}

TEST(OwnFsdp, WhatFrameworksRefuse) {
  EXPECT_THAT(axolotls_errors("fsdp: [full_shard]\n"), ElementsAre(HasSubstr("stops at fsdp without fsdp_config")));
  EXPECT_THAT(axolotls_errors("fsdp_config: {reshard_after_forward: true}\n"),
              ElementsAre(HasSubstr("takes the name of a strategy")));
  EXPECT_THAT(trainers_errors("fsdp: true\nfsdp_config: {version: 1, reshard_after_forward: false}\n"),
              ElementsAre(HasSubstr("takes the name of a strategy")));
  EXPECT_THAT(trainers_errors("fsdp: true\nfsdp_config: {version: 1, reshard_after_forward: null}\n"), IsEmpty());
  EXPECT_THAT(axolotls_errors("gradient_checkpointing: true\nfsdp_config: {activation_checkpointing: true}\n"),
              ElementsAre(HasSubstr("refuses FSDP's own activation checkpointing")));
  EXPECT_THAT(axolotls_errors("optimizer: adamw_8bit\nfsdp_version: 2\nfsdp_config: {offload_params: false}\n"),
              ElementsAre(HasSubstr("refuses it beside FSDP2")));
  EXPECT_THAT(trainers_errors("fsdp: hybrid_shard\n"), ElementsAre(HasSubstr("for FSDP1 alone")));
  EXPECT_THAT(trainers_errors("fsdp: everything\n"), ElementsAre(HasSubstr("does not know: everything")));
}

TEST(OwnFsdp, TheWorldHasToBeSaid) {
  const auto plan = ingest(yaml(std::string(sft) + "fsdp: full_shard\n"), {});
  ASSERT_FALSE(plan.ok());
  EXPECT_THAT(said(plan.errors()), ElementsAre(HasSubstr("ingest/missing-fact: FSDP shards over GPUs")));
}

TEST(OwnFsdp, ALauncherOfProcessesAloneSaysTheWorld) {
  IngestOptions options;
  options.launch = {"a.yaml"};
  options.loader = [](const std::string& path) {
    return parse_document("distributed_type: MULTI_GPU\nnum_processes: 8\n", path, Syntax::yaml);
  };
  const TrainingPlan plan = plan_from(std::string(sft) + "fsdp: full_shard\n", options);
  EXPECT_EQ(plan.mesh.sharding.value, Sharding::fsdp2);
  EXPECT_EQ(plan.mesh.world_size.value, 8);
}

TEST(OwnFsdp, AFileMayHoldItsConfig) {
  IngestOptions options = over("4");
  options.loader = [](const std::string& path) {
    return parse_document("{\"version\": 1, \"secret\": 2}", path, Syntax::json);
  };
  const TrainingPlan plan = plan_from(std::string(sft) + "fsdp: full_shard\nfsdp_config: f.json\n", options);
  EXPECT_EQ(plan.mesh.sharding.value, Sharding::fsdp1);
  EXPECT_THAT(plan.warnings, IsEmpty());
}

TEST(OwnFsdp, TheTrainersReferenceIsSpreadOverAllGpusUnlessWeightsComeByOne) {
  const auto gaps = [](const std::string& more) {
    return features(plan_from("model_name_or_path: a/b\nmax_length: 8\ntrainer: dpo\nfsdp: true\n" + more, over("4")));
  };
  const auto spread =
      ElementsAre(HasSubstr("a reference that each rank spreads over all GPUs, as "
                            "fsdp_config.cpu_ram_efficient_loading is not true"));
  EXPECT_THAT(gaps("fsdp_config: {version: 2}\n"), spread);
  EXPECT_THAT(gaps("fsdp_config: {version: 2, cpu_ram_efficient_loading: false}\n"), spread);
  EXPECT_THAT(gaps("fsdp_config: {version: 2, cpu_ram_efficient_loading: true}\n"), IsEmpty());
}

}  // namespace
}  // namespace oomplan
