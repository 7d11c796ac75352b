// accelerate's launcher config beside a config.
#include "from_text.hpp"

namespace oomplan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

IngestOptions launched_by(const std::string& text) {
  IngestOptions options;
  options.launch = {"a.yaml"};
  options.loader = [text](const std::string& path) { return parse_document(text, path, Syntax::yaml); };
  return options;
}

constexpr const char* sft = "model_name_or_path: a/b\nmax_length: 8\ntrainer: sft\n";
constexpr const char* ddp = "distributed_type: MULTI_GPU\nnum_processes: 8\nnum_machines: 2\n";

TEST(Launch, SaysTheWorldAndWhere) {
  const TrainingPlan plan = plan_from(sft, launched_by(ddp));
  EXPECT_EQ(plan.mesh.sharding.value, Sharding::ddp);
  EXPECT_EQ(plan.mesh.world_size.value, 8);
  EXPECT_EQ(plan.mesh.world_size.origin.where, (Location{"a.yaml", 2, 16}));
  EXPECT_EQ(plan.loader.ranks.value, 4);
  EXPECT_THAT(plan.unmodelled, IsEmpty());
}

TEST(Launch, OneProcessOfMultiGpuIsDdpAndOneOfNoIsNot) {
  const auto sharding = [](const std::string& text) { return plan_from(sft, launched_by(text)).mesh.sharding.value; };
  // accelerate's prepare_model wraps what several processes train.
  EXPECT_EQ(sharding("distributed_type: MULTI_GPU\nnum_processes: 1\n"), Sharding::none);
  EXPECT_EQ(sharding("distributed_type: 'NO'\nnum_processes: 4\n"), Sharding::none);
  EXPECT_EQ(sharding("distributed_type: NO\n"), Sharding::none);
}

TEST(Launch, ThatMachinesStartAsManyEachIsSaid) {
  const TrainingPlan plan =
      plan_from(sft, launched_by("distributed_type: MULTI_GPU\nnum_processes: 7\nnum_machines: 2\n"));
  EXPECT_EQ(plan.mesh.world_size.value, 6);
  EXPECT_THAT(plan.mesh.world_size.origin.derivation, HasSubstr("each of 2 machines starts 3"));
}

TEST(Launch, TheCommandLineGoesBeforeIt) {
  IngestOptions options = launched_by(ddp);
  options.overrides = {"world_size=2"};
  EXPECT_EQ(plan_from(sft, options).mesh.world_size.value, 2);
  options = launched_by("distributed_type: MULTI_GPU\nnum_processes: -1\n");
  options.overrides = {"world_size=2"};
  EXPECT_EQ(plan_from(sft, options).mesh.world_size.value, 2);
}

TEST(Launch, GpusOfTheCommandLineGoBeforeItAndThatIsSaid) {
  IngestOptions options = launched_by(ddp);
  options.world = {8, 1, "--gpu 8xh100"};
  const auto warned = [&] { return said(plan_from(sft, options).warnings); };
  EXPECT_THAT(warned(), IsEmpty()) << "as many in all";
  EXPECT_EQ(plan_from(sft, options).loader.ranks.value, 8);
  options.world = {8, 2, "--gpu 2x8xh100"};
  EXPECT_THAT(warned(), ElementsAre(HasSubstr("num_processes says 8 GPUs and --gpu 2x8xh100 says 16")));
  EXPECT_EQ(plan_from(sft, options).mesh.world_size.value, 16);
  options.overrides = {"plan.world_size=4"};
  EXPECT_THAT(warned(), IsEmpty());
  EXPECT_EQ(plan_from(sft, options).mesh.world_size.value, 4);
}

TEST(Launch, MixedPrecisionCountsWhereTheTrainerAsksForNone) {
  const auto autocast = [](const std::string& config, const std::string& mixed) {
    return plan_from(config, launched_by(std::string(ddp) + "mixed_precision: '" + mixed + "'\n")).precision;
  };
  EXPECT_EQ(autocast(sft, "fp16").autocast.value, Autocast::bf16) << "TRL's own";
  EXPECT_EQ(autocast(std::string(sft) + "bf16: false\n", "no").autocast.value, Autocast::none);
  const PrecisionFacts launched = autocast(std::string(sft) + "bf16: false\n", "bf16");
  EXPECT_EQ(launched.autocast.value, Autocast::bf16);
  EXPECT_EQ(launched.autocast.origin.where.file, "a.yaml");
  EXPECT_TRUE(launched.outputs_to_fp32.value);
  const std::string axolotl =
      "base_model: a/b\nsequence_len: 64\nmicro_batch_size: 1\ngradient_accumulation_steps: 1\nbf16: false\nfp16: "
      "false\n";
  EXPECT_EQ(autocast(axolotl, "bf16").autocast.value, Autocast::none) << "Axolotl sets the variable itself";
}

TEST(Launch, AnotherWorldThanTheConfigsIsAConflict) {
  const std::string config = "model: a/b\nmicro_batch_size: 1\nsequence_length: 8\nworld_size: 4\nranks: 4\n";
  const auto plan = ingest(yaml(config), launched_by(ddp));
  ASSERT_FALSE(plan.ok());
  EXPECT_THAT(said(plan.errors().front()), HasSubstr("a.yaml:2:16: ingest/conflict: world_size is 8 here and 4 in"));
}

const std::string fsdp = "distributed_type: FSDP\nnum_processes: 8\nnum_machines: 2\nfsdp_config:\n";
const std::string wrapped = "  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP\n";

MeshFacts mesh_of(const std::string& launch) { return plan_from(sft, launched_by(launch)).mesh; }

TEST(Launch, Fsdp2IsAcceleratesUnits) {
  const TrainingPlan plan =
      plan_from(sft, launched_by("mixed_precision: bf16\n" + fsdp + wrapped + "  fsdp_version: 2\n"));
  EXPECT_EQ(plan.mesh.sharding.value, Sharding::fsdp2);
  EXPECT_EQ(plan.mesh.fsdp_units.value, ShardUnits::accelerate);
  EXPECT_EQ(plan.mesh.fsdp_reshard.value, Reshard::automatic);
  EXPECT_EQ(plan.mesh.fsdp_param_dtype.value, MixedDType::bf16);
  EXPECT_EQ(plan.mesh.fsdp_output_dtype.value, MixedDType::bf16);
  EXPECT_TRUE(plan.mesh.fsdp_fp32_trained.value);
  EXPECT_EQ(plan.precision.autocast.value, Autocast::none);
  EXPECT_FALSE(plan.precision.outputs_to_fp32.value);
  const std::string keeps = fsdp + wrapped + "  fsdp_version: 2\n  fsdp_reshard_after_forward: false\n";
  EXPECT_EQ(mesh_of(keeps).fsdp_reshard.value, Reshard::never);
}

TEST(Launch, Fsdp1HasItsStrategyItsPrefetchAndAutocast) {
  const TrainingPlan plan = plan_from(sft, launched_by("mixed_precision: bf16\n" + fsdp + wrapped));
  EXPECT_EQ(plan.mesh.sharding.value, Sharding::fsdp1);
  EXPECT_EQ(plan.mesh.fsdp_reshard.value, Reshard::automatic);
  EXPECT_EQ(plan.mesh.fsdp_prefetch.value, BackwardPrefetch::none) << "the launcher's default";
  EXPECT_TRUE(plan.mesh.fsdp_orig_params.value) << "the launcher's default";
  EXPECT_EQ(plan.precision.autocast.value, Autocast::bf16);
  const MeshFacts hybrid = mesh_of(fsdp + wrapped +
                                   "  fsdp_sharding_strategy: 5\n  fsdp_backward_prefetch: backward_post\n"
                                   "  fsdp_use_orig_params: false\n  fsdp_offload_params: true\n");
  EXPECT_EQ(hybrid.fsdp_reshard.value, Reshard::never);
  EXPECT_EQ(hybrid.fsdp_replicas.value, 2);
  EXPECT_EQ(hybrid.fsdp_prefetch.value, BackwardPrefetch::post);
  EXPECT_FALSE(hybrid.fsdp_orig_params.value);
  EXPECT_TRUE(hybrid.fsdp_offload.value);
}

TEST(Launch, TheFirstRankLoadsAndSavesByTheLaunchersDefaults) {
  const MeshFacts first = mesh_of(fsdp + wrapped);
  EXPECT_TRUE(first.fsdp_first_loads.value);
  EXPECT_TRUE(first.fsdp_full_state.value) << "of version 1";
  EXPECT_FALSE(mesh_of(fsdp + wrapped + "  fsdp_version: 2\n").fsdp_full_state.value);
  EXPECT_TRUE(
      mesh_of(fsdp + wrapped + "  fsdp_version: 2\n  fsdp_state_dict_type: FULL_STATE_DICT\n").fsdp_full_state.value);
  EXPECT_FALSE(mesh_of(fsdp + wrapped + "  fsdp_cpu_ram_efficient_loading: false\n").fsdp_first_loads.value);
}

TEST(Launch, ReplicasOfShardsAreThoseOfParallelismConfig) {
  const std::string fsdp2 = fsdp + wrapped + "  fsdp_version: 2\nparallelism_config:\n";
  EXPECT_EQ(mesh_of(fsdp2 + "  parallelism_config_dp_replicate_size: 2\n  parallelism_config_dp_shard_size: 4\n")
                .fsdp_replicas.value,
            2);
  const auto plan = ingest(yaml(sft), launched_by(fsdp2 + "  parallelism_config_dp_shard_size: 4\n"));
  ASSERT_FALSE(plan.ok());
  EXPECT_THAT(said(plan.errors().front()), HasSubstr("do not make num_processes"));
}

TEST(Launch, RanksThatShareRowsAreThoseOfParallelismConfig) {
  const std::string fsdp2 = fsdp + wrapped + "  fsdp_version: 2\nparallelism_config:\n";
  const MeshFacts all = mesh_of(fsdp2 + "  parallelism_config_cp_size: 8\n");
  EXPECT_EQ(all.context_parallel.value, 8);
  EXPECT_EQ(all.context_rotation.value, ContextRotation::allgather);
  const std::string two = fsdp2 + "  parallelism_config_dp_shard_size: 4\n  parallelism_config_cp_size: 2\n";
  const MeshFacts some = mesh_of(two + "  parallelism_config_cp_comm_strategy: alltoall\n");
  EXPECT_EQ(some.context_parallel.value, 2);
  EXPECT_EQ(some.fsdp_replicas.value, 1);
  EXPECT_EQ(some.context_rotation.value, ContextRotation::alltoall);
  const auto refused = [](const std::string& launch) {
    const auto plan = ingest(yaml(sft), launched_by(launch));
    return plan.ok() ? std::string() : said(plan.errors().front());
  };
  EXPECT_THAT(refused(two + "  parallelism_config_cp_comm_strategy: ring\n"), HasSubstr("allgather or alltoall"));
  EXPECT_THAT(refused(two + "  parallelism_config_cp_backend: ring\n"), HasSubstr("takes torch alone"));
  for (const char* size : {"two", "0", "-1", "2.5"})
    EXPECT_THAT(refused(fsdp2 + "  parallelism_config_cp_size: " + size + "\n"),
                HasSubstr("parallelism_config_cp_size: expected a positive integer"));
  EXPECT_THAT(refused(fsdp2 + "  parallelism_config_dp_replicate_size: 4\n  parallelism_config_cp_size: 2\n"),
              HasSubstr("beside a dp_replicate_size above 1"));
}

TEST(Launch, FsdpsOwnCheckpointsAreThoseOfBlocks) {
  const std::string config = std::string(sft) + "gradient_checkpointing: false\n";
  const TrainingPlan plan =
      plan_from(config, launched_by(fsdp + wrapped + "  fsdp_version: 2\n  fsdp_activation_checkpointing: true\n"));
  EXPECT_TRUE(plan.checkpointing.on.value);
  EXPECT_TRUE(plan.checkpointing.wrapped.value);
  EXPECT_FALSE(plan.checkpointing.reentrant.value);
}

std::vector<std::string> gaps(const std::string& launch) {
  std::vector<std::string> out;
  for (const Unmodelled& one : plan_from(sft, launched_by(launch)).unmodelled) out.push_back(one.key);
  return out;
}

TEST(Launch, WhatIsNotPlayedIsNamedByItsKey) {
  EXPECT_THAT(gaps("distributed_type: DEEPSPEED\nnum_processes: 2\ndeepspeed_config:\n  zero_stage: 0\n"),
              ElementsAre("zero_optimization.stage"));
  EXPECT_THAT(gaps(fsdp + "  fsdp_version: 2\n"), ElementsAre("distributed_type")) << "one unit";
  EXPECT_THAT(gaps(fsdp + wrapped + "  fsdp_forward_prefetch: true\n"),
              ElementsAre("fsdp_config.fsdp_forward_prefetch"));
  EXPECT_THAT(gaps(fsdp + wrapped + "  fsdp_transformer_layer_cls_to_wrap: LlamaDecoderLayer\n"), IsEmpty());
  EXPECT_THAT(gaps(fsdp + wrapped + "  fsdp_transformer_layer_cls_to_wrap: LlamaMLP\n"), IsEmpty()) << "a fact";
  EXPECT_THAT(gaps(fsdp + wrapped + "  fsdp_sharding_strategy: NO_SHARD\n"),
              ElementsAre("fsdp_config.fsdp_sharding_strategy"));
  EXPECT_THAT(gaps("distributed_type: FSDP\nnum_processes: 2\nfsdp_config: {}\n"), ElementsAre("distributed_type"));
  EXPECT_THAT(gaps(std::string(ddp) + "mixed_precision: fp8\n"), ElementsAre("mixed_precision"));
  EXPECT_THAT(gaps(std::string(ddp) + "fsdp_config:\n  fsdp_offload_params: true\n"), IsEmpty()) << "as DDP has none";
}

TEST(Launch, AReferenceThatAllGpusShareIsUndecided) {
  const auto gaps_of = [&](const std::string& trainer, const std::string& more) {
    return features(plan_from("model_name_or_path: a/b\nmax_length: 8\ntrainer: " + trainer + "\n",
                              launched_by(fsdp + wrapped + more)));
  };
  const std::string off = "  fsdp_cpu_ram_efficient_loading: false\n";
  EXPECT_THAT(gaps_of("dpo", off), ElementsAre(HasSubstr("a reference that each rank spreads over all GPUs")));
  EXPECT_THAT(gaps_of("dpo", ""), IsEmpty()) << "on by accelerate's default";
  EXPECT_THAT(gaps_of("sft", off), IsEmpty());
}

TEST(Launch, BothKindsOfCheckpointingAreRefused) {
  const std::string launch =
      "distributed_type: FSDP\nnum_processes: 2\nfsdp_config:\n  fsdp_version: 2\n  fsdp_activation_checkpointing: "
      "true\n";
  const auto plan = ingest(yaml(sft), launched_by(launch));
  ASSERT_FALSE(plan.ok());
  EXPECT_THAT(said(plan.errors().front()), HasSubstr("ingest/conflict: transformers' Trainer refuses FSDP's own"));
}

TEST(Ddp, ItsKeysCountInAWorldOfSeveral) {
  const std::string keys =
      "ddp_bucket_cap_mb: 50\nddp_find_unused_parameters: true\n"
      "accelerator_config:\n  gradient_accumulation_kwargs: {sync_each_batch: true}\n";
  const TrainingPlan plan = plan_with(sft + keys, {"ranks=2"});
  EXPECT_EQ(plan.mesh.ddp_bucket_mib.value, 50);
  EXPECT_TRUE(plan.mesh.ddp_find_unused.value);
  EXPECT_TRUE(plan.mesh.sync_each.value);
  const std::string graph = std::string(sft) + "ddp_static_graph: true\n";
  EXPECT_THAT(plan_from(graph).unmodelled, IsEmpty());
  EXPECT_EQ(plan_with(graph, {"ranks=2"}).unmodelled.size(), 1U);
}

TEST(Ddp, TransformersAsksForUnusedParametersUnlessItCheckpointsAModelOfItsOwn) {
  const auto asks = [](const std::string& more) {
    return plan_with(sft + more, {"ranks=2"}).mesh.ddp_find_unused.value;
  };
  EXPECT_FALSE(asks(""));
  EXPECT_TRUE(asks("gradient_checkpointing: false\n"));
  EXPECT_TRUE(asks("use_peft: true\n"));
  const std::string axolotl =
      "base_model: a/b\nsequence_len: 64\nmicro_batch_size: 1\ngradient_accumulation_steps: 1\n";
  EXPECT_FALSE(plan_with(axolotl, {"ranks=2"}).mesh.ddp_find_unused.value);
}

// What each asks DDP for under an adapter, with its own checkpoints: transformers' Trainer takes peft's model for none
// of its own (transformers 5.23.0: trainer.py), Axolotl says false (core/builders/causal.py) and so does LLaMA-Factory
// (hparams/parser.py: get_train_args).
TEST(Ddp, EachFrameworkRunsLoraWithItsOwnCheckpoints) {
  const std::string axolotl =
      "base_model: a/b\nsequence_len: 64\nmicro_batch_size: 1\ngradient_accumulation_steps: 1\nadapter: lora\n"
      "lora_r: 8\nlora_alpha: 16\nlora_target_linear: true\ngradient_checkpointing: true\n";
  const std::string factory = "model_name_or_path: a/b\nstage: sft\ndo_train: true\ntemplate: qwen\n";
  struct Row {
    std::string config;
    bool finds_unused;
    bool checkpoints;
  };
  const std::vector<Row> rows{{"model_name_or_path: a/b\nblock_size: 8\ntrainer: trainer\n", true, false},
                              {sft + std::string("use_peft: true\n"), true, true},
                              {axolotl, false, true},
                              {factory, false, true},
                              {factory + "finetuning_type: lora\n", false, true},
                              {factory + "ddp_find_unused_parameters: null\n", false, true}};
  for (const Row& row : rows) {
    const TrainingPlan plan = plan_with(row.config, {"ranks=2", "plan.adapter=lora"});
    EXPECT_EQ(plan.mesh.ddp_find_unused.value, row.finds_unused) << row.config;
    EXPECT_EQ(plan.checkpointing.on.value, row.checkpoints) << row.config;
    EXPECT_FALSE(row.finds_unused && row.checkpoints && plan.checkpointing.reentrant.value)
        << "which DDP stops at: " << row.config;
  }
  const auto asks = [&](const std::string& more) {
    return plan_with(factory + more, {"ranks=2"}).mesh.ddp_find_unused.value;
  };
  EXPECT_TRUE(asks("ddp_find_unused_parameters: true\n"));
  EXPECT_TRUE(asks("finetuning_type: full\ndisable_gradient_checkpointing: true\n"))
      << "of other methods as the Trainer";
  EXPECT_FALSE(asks("finetuning_type: full\n"));
}

}  // namespace
}  // namespace oomplan
