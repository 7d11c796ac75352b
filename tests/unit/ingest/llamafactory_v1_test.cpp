// The dialect of LLaMA-Factory's second trainer.
#include "from_text.hpp"

namespace oomplan {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string run =
    "model: Qwen/Qwen3-0.6B\n"
    "model_class: llm\n"
    "kernel_config: {name: auto}\n"
    "train_dataset: data/v1_sft_demo.yaml\n"
    "micro_batch_size: 2\n"
    "cutoff_len: 1024\n";
const std::string lora = run + "peft_config: {name: lora, r: 16, target_modules: all}\n";
const std::string sharded = run + "dist_config: {name: fsdp2, dcp_path: null}\n";

std::vector<std::string> features_with(const std::string& config, const std::string& setting) {
  std::vector<std::string> out;
  for (const Unmodelled& gap : plan_with(config, {setting}).unmodelled) out.push_back(gap.feature);
  return out;
}

TEST(LlamaFactoryV1, OnOneGpuAllIsTrainedInFp32) {
  const TrainingPlan plan = plan_from(run);
  EXPECT_EQ(plan.dialect, "llamafactory_v1");
  EXPECT_THAT(plan.framework, HasSubstr("llamafactory_v1 0.9.6.dev0 on transformers"));
  EXPECT_THAT(plan.unmodelled, IsEmpty());
  ASSERT_EQ(plan.warnings.size(), 1U);
  EXPECT_EQ(plan.warnings.front().code, "ingest/assumed-trainer");
  EXPECT_EQ(plan.adapter.kind.value, Adapter::none);
  EXPECT_TRUE(plan.precision.trained_to_fp32.value);
  EXPECT_EQ(plan.precision.autocast.value, Autocast::none);
  EXPECT_EQ(plan.recipe.loss.value, Loss::weighted_logprob);
  EXPECT_EQ(plan.batch.sequence_length.value, 1024);
  EXPECT_EQ(plan.optimizer.name.value, "adamw_foreach");
  EXPECT_FALSE(plan.checkpointing.reentrant.value);
  EXPECT_TRUE(plan.recipe.use_cache.value);  // Which is undecided without checkpoints.
}

TEST(LlamaFactoryV1, PeftSaysTheMethod) {
  const TrainingPlan adapted = plan_from(lora);
  EXPECT_EQ(adapted.adapter.kind.value, Adapter::lora);
  EXPECT_EQ(adapted.adapter.rank.value, 16);
  EXPECT_EQ(adapted.adapter.dropout.value, 0.05);
  EXPECT_THAT(adapted.adapter.targets.value, ElementsAre("all-linear"));
  EXPECT_FALSE(adapted.precision.trained_to_fp32.value);
  const TrainingPlan frozen = plan_from(run + "peft_config: {name: freeze, freeze_trainable_layers: -3}\n");
  EXPECT_EQ(frozen.recipe.trained_layers.value, -3);
  EXPECT_TRUE(frozen.precision.trained_to_fp32.value);
  EXPECT_THAT(errors_with(run, {"peft_config.name=oft"}), Contains(HasSubstr("expected one of lora, freeze")));
}

TEST(LlamaFactoryV1, FourBitsAreComputedInFp16) {
  const TrainingPlan plan = plan_from(lora + "quant_config: {name: bnb, quantization_bit: 4}\n");
  EXPECT_EQ(plan.quantization.kind.value, Quantization::nf4);
  EXPECT_EQ(plan.quantization.compute_dtype.value, DType::fp16);
  EXPECT_EQ(plan.quantization.storage.value, QuantStorage::fp16);
  EXPECT_THAT(errors_from(run + "quant_config: {name: bnb}\n"), Contains(HasSubstr("without peft_config")));
}

TEST(LlamaFactoryV1, Fsdp2ActsOnSeveralGpusAlone) {
  EXPECT_EQ(plan_from(sharded).mesh.sharding.value, Sharding::none);
  EXPECT_EQ(plan_from(sharded).warnings.size(), 2U);
  const TrainingPlan eight = plan_with(sharded, {"world_size=8", "global_batch_size=64"});
  EXPECT_EQ(eight.mesh.sharding.value, Sharding::fsdp2);
  EXPECT_EQ(eight.mesh.fsdp_units.value, ShardUnits::llamafactory);
  EXPECT_EQ(eight.mesh.fsdp_param_dtype.value, MixedDType::bf16);
  EXPECT_EQ(eight.mesh.fsdp_reshard.value, Reshard::all);
  EXPECT_TRUE(eight.mesh.fsdp_loads_whole.value);
  EXPECT_TRUE(eight.mesh.fsdp_fp32_trained.value);
  EXPECT_FALSE(eight.precision.trained_to_fp32.value);
  EXPECT_EQ(eight.batch.gradient_accumulation_steps.value, 4);
  EXPECT_FALSE(plan_with(sharded, {"world_size=8", "init_config.name=init_on_meta"}).mesh.fsdp_loads_whole.value);
  EXPECT_EQ(plan_with(sharded, {"mp_replicate_size=2", "mp_shard_size=4"}).mesh.fsdp_replicas.value, 2);
  EXPECT_THAT(errors_with(sharded, {"world_size=8", "mp_shard_size=4"}), Contains(HasSubstr("its world of 8")));
  EXPECT_THAT(errors_with(sharded, {"world_size=8", "global_batch_size=24"}), Contains(HasSubstr("that 16 divides")));
}

TEST(LlamaFactoryV1, WhatIsNotPlayedHasItsName) {
  EXPECT_THAT(features_with(run + "flash_attn: flash_attention_2\n", "cp_size=2"),
              Contains("context parallel (Ulysses)"));
  EXPECT_THAT(features_with(run + "flash_attn: flash_attention_2\n", "batching_strategy=padding_free"),
              ElementsAre("a batch that is one row", "flash attention without mixed precision"));
  EXPECT_THAT(features_with(run, "kernel_config.name=liger_kernel"), Contains(HasSubstr("Liger")));
  EXPECT_THAT(features_with(run, "optim_config.name=muon"), Contains(HasSubstr("Muon")));
  EXPECT_THAT(features_with(run, "pref_loss=sigmoid"), Contains(HasSubstr("preference training")));
  EXPECT_THAT(features_with(run, "train_dataset=data/v1_dpo_demo.yaml"), Contains(HasSubstr("preference training")));
  EXPECT_THAT(features_with(sharded, "dist_config.name=fsdpturbo"), Contains("FSDP Turbo"));
  EXPECT_THAT(features_with(lora + "dist_config: {name: fsdp2}\nquant_config: {name: bnb}\n", "world_size=2"),
              Contains("quantized weights under fsdp2"));
  EXPECT_THAT(features_with(run, "world_size=2"), Contains(HasSubstr("DDP")));
}

TEST(LlamaFactoryV1, UnknownKeysHaveTheirNearest) {
  const TrainingPlan plan = plan_from(run + "micro_batch_sise: 4\n");
  EXPECT_THAT(plan.warnings, Contains(testing::Field(&Diagnostic::hint, HasSubstr("micro_batch_size"))));
}

TEST(LlamaFactoryV1, AnExportTrainsNothing) {
  EXPECT_THAT(errors_from(run + "peft_config: {name: lora, export_dir: out}\n"),
              Contains(HasSubstr("ingest/no-training")));
}

}  // namespace
}  // namespace oomplan
