// torchtitan's dialect.
#include "from_text.hpp"

namespace oomplan {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string run =
    "model: {name: llama3, flavor: 8B}\n"
    "training: {local_batch_size: 2, seq_len: 8192}\n"
    "lr_scheduler: {warmup_steps: 200}\n"
    "metrics: {log_freq: 10}\n";

std::vector<std::string> features_with(const std::string& setting) {
  std::vector<std::string> out;
  for (const Unmodelled& gap : plan_with(run, {setting}).unmodelled) out.push_back(gap.feature);
  return out;
}

TEST(Torchtitan, ItsDefaultsNameTheirSource) {
  const TrainingPlan plan = plan_from(run);
  EXPECT_EQ(plan.dialect, "torchtitan");
  EXPECT_EQ(plan.framework, "torchtitan 0.2.2");
  EXPECT_THAT(plan.unmodelled, IsEmpty());
  ASSERT_EQ(plan.warnings.size(), 1U);  // No key says how many GPUs it is started on.
  EXPECT_EQ(plan.warnings.front().code, "ingest/assumed-trainer");
  EXPECT_EQ(plan.model.name.value, "torchtitan.llama3.8B");
  EXPECT_THAT(plan.batch.sequence_length, is_from(8192, "training.seq_len at 2:42"));
  EXPECT_EQ(plan.batch.micro_batch_size.value, 2);
  EXPECT_EQ(plan.recipe.loss.value, Loss::summed_logits);
  EXPECT_EQ(plan.precision.weights_dtype.value, WeightsDType::fp32);
  EXPECT_EQ(plan.precision.autocast.value, Autocast::bf16);
  EXPECT_EQ(plan.optimizer.name.value, "adamw_fused");
  EXPECT_THAT(plan.checkpointing.every,
              is_from(std::int64_t{2}, "default of torchtitan 0.2.2: job_config.ActivationCheckpoint"));
}

TEST(Torchtitan, CheckpointsAreOfLayersOrOfOps) {
  const auto with = [](const std::string& mode, const std::string& option) {
    return plan_with(run, {"activation_checkpoint.mode=" + mode,
                           "activation_checkpoint.selective_ac_option=\"" + option + "\""})
        .checkpointing;
  };
  EXPECT_FALSE(with("none", "op").on.value);
  EXPECT_EQ(with("full", "op").keeps.value, CheckpointKeeps::inputs);
  EXPECT_EQ(with("full", "4").every.value, 1);
  EXPECT_EQ(with("selective", "op").keeps.value, CheckpointKeeps::products);
  EXPECT_EQ(with("selective", "op").every.value, 1);
  EXPECT_EQ(with("selective", "4").every.value, 4);
  EXPECT_EQ(with("selective", "0").every.value, 1);
  EXPECT_FALSE(with("full", "2").early_stop.value);
  EXPECT_THAT(errors_from(run + "activation_checkpoint: {selective_ac_option: ops}\n"),
              Contains(HasSubstr("torchtitan stops at this activation_checkpoint.selective_ac_option")));
}

TEST(Torchtitan, RanksShardTheModel) {
  const auto on = [](const std::vector<std::string>& settings) { return plan_with(run, settings); };
  const TrainingPlan eight = on({"world_size=8", "training.global_batch_size=64"});
  EXPECT_EQ(eight.mesh.sharding.value, Sharding::fsdp2);
  EXPECT_EQ(eight.mesh.fsdp_units.value, ShardUnits::torchtitan);
  EXPECT_EQ(eight.mesh.fsdp_param_dtype.value, MixedDType::bf16);
  EXPECT_EQ(eight.mesh.fsdp_reduce_dtype.value, MixedDType::fp32);
  EXPECT_EQ(eight.precision.autocast.value, Autocast::none);
  EXPECT_EQ(eight.batch.gradient_accumulation_steps.value, 4);
  EXPECT_THAT(eight.warnings, IsEmpty());
  const TrainingPlan groups =
      on({"parallelism.data_parallel_replicate_degree=2", "parallelism.data_parallel_shard_degree=4"});
  EXPECT_EQ(groups.mesh.world_size.value, 8);
  EXPECT_EQ(groups.mesh.fsdp_replicas.value, 2);
  EXPECT_EQ(on({"world_size=8", "parallelism.fsdp_reshard_after_forward=always"}).mesh.fsdp_reshard.value,
            Reshard::all);
}

TEST(Torchtitan, RanksShareMatrices) {
  const TrainingPlan plan =
      plan_with(run, {"world_size=8", "parallelism.tensor_parallel_degree=4", "training.global_batch_size=16"});
  EXPECT_EQ(plan.mesh.tensor_parallel.value, 4);
  EXPECT_TRUE(plan.mesh.sequence_parallel.value);
  EXPECT_TRUE(plan.mesh.loss_parallel.value);
  EXPECT_EQ(plan.mesh.sharding.value, Sharding::fsdp2);
  EXPECT_EQ(plan.mesh.fsdp_replicas.value, 1);
  EXPECT_EQ(plan.batch.gradient_accumulation_steps.value, 4) << "two ranks of data, two rows each";
  const TrainingPlan alone = plan_with(
      run, {"world_size=4", "parallelism.tensor_parallel_degree=4", "parallelism.disable_loss_parallel=true"});
  EXPECT_EQ(alone.mesh.sharding.value, Sharding::none);
  EXPECT_FALSE(alone.mesh.loss_parallel.value);
  EXPECT_EQ(alone.precision.autocast.value, Autocast::none);
  EXPECT_THAT(errors_with(run, {"world_size=8", "parallelism.tensor_parallel_degree=3"}),
              Contains(HasSubstr("do not make a world of 8")));
}

TEST(Torchtitan, WhatItStopsAtIsRefused) {
  EXPECT_THAT(errors_with(run, {"training.global_batch_size=3"}),
              Contains(HasSubstr("torchtitan wants a training.global_batch_size that 2 divides")));
  EXPECT_THAT(errors_with(run, {"world_size=8", "parallelism.data_parallel_shard_degree=3"}),
              Contains(HasSubstr("do not make a world of 8")));
  EXPECT_THAT(errors_from(run + "validation: {enable: true, seq_len: 16384}\n"),
              Contains(HasSubstr("torchtitan stops at rows of 16384 tokens in validation")));
  EXPECT_THAT(errors_from(run + "optimizer: {name: Lion}\n"),
              Contains(HasSubstr("optimizer.name: expected one of Adam, AdamW, got \"Lion\"")));
  EXPECT_THAT(errors_from(run + "optimizer: {learning_rate: 1.0}\n"),
              Contains(HasSubstr("torchtitan 0.2.2 stops at the unknown key \"optimizer.learning_rate\"")));
}

TEST(Torchtitan, WhatIsNotPlayedIsNamed) {
  EXPECT_THAT(features_with("compile.enable=true"), ElementsAre("torch.compile of the blocks and of the loss"));
  EXPECT_THAT(features_with("parallelism.enable_async_tensor_parallel=true"), IsEmpty());
  EXPECT_THAT(plan_with(run, {"world_size=2", "parallelism.tensor_parallel_degree=2",
                              "parallelism.enable_async_tensor_parallel=true"})
                  .unmodelled.front()
                  .feature,
              "asynchronous tensor parallel");
  EXPECT_THAT(features_with("model.converters=[float8]"), ElementsAre("float8 training"));
  EXPECT_THAT(features_with("model.name=deepseek_v3"), ElementsAre("torchtitan's model deepseek_v3"));
  EXPECT_THAT(features_with("model.flavor=8B_flex"), ElementsAre("attention that torch.compile makes"));
  EXPECT_THAT(features_with("training.mixed_precision_param=float32"),
              ElementsAre("attention in fp32 by torch's math kernel"));
  const TrainingPlan loss = plan_with(run, {"compile.enable=true", "compile.components=[loss]"});
  ASSERT_EQ(loss.unmodelled.size(), 1U);
  EXPECT_EQ(loss.unmodelled.front().feature, "torch.compile of the loss alone");
}

}  // namespace
}  // namespace oomplan
