// litgpt's dialect.
#include "from_text.hpp"

namespace oomplan {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string run =
    "checkpoint_dir: checkpoints/microsoft/phi-2\n"
    "precision: bf16-true\n"
    "train: {global_batch_size: 8, micro_batch_size: 2, max_seq_length: 512}\n";
const std::string lora = run + "lora_r: 16\nlora_query: true\nlora_value: false\nlora_mlp: true\n";

std::vector<std::string> features_of(const TrainingPlan& plan) {
  std::vector<std::string> out;
  for (const Unmodelled& gap : plan.unmodelled) out.push_back(gap.feature);
  return out;
}

TEST(Litgpt, ItsDefaultsNameTheirSource) {
  const TrainingPlan plan = plan_from(run);
  EXPECT_EQ(plan.dialect, "litgpt");
  EXPECT_EQ(plan.framework, "litgpt 0.5.13");
  EXPECT_THAT(plan.unmodelled, IsEmpty());
  ASSERT_EQ(plan.warnings.size(), 1U);  // No key says whether it is for finetune_full.
  EXPECT_EQ(plan.warnings.front().code, "ingest/assumed-trainer");
  EXPECT_EQ(plan.model.name.value, "litgpt.phi-2");
  EXPECT_EQ(plan.adapter.kind.value, Adapter::none);
  EXPECT_EQ(plan.recipe.loss.value, Loss::chunked_rows);
  EXPECT_THAT(plan.batch.sequence_length, is_from(512, "train.max_seq_length at 3:68"));
  EXPECT_EQ(plan.batch.gradient_accumulation_steps.value, 4);
  EXPECT_THAT(plan.batch.padding_mask,
              is_from(false, "default of litgpt 0.5.13: _sft_collate_fn, which sends no mask"));
}

TEST(Litgpt, AFolderMayEndInASlash) {
  EXPECT_EQ(plan_from("checkpoint_dir: a/phi-2//\n" + run.substr(run.find("precision"))).model.name.value,
            "litgpt.phi-2");
  EXPECT_EQ(plan_from("checkpoint_dir: phi-2\n" + run.substr(run.find("precision"))).model.name.value, "litgpt.phi-2");
}

TEST(Litgpt, AKeyOfLoraTellsTheScript) {
  const TrainingPlan plan = plan_from(lora);
  EXPECT_THAT(plan.warnings, IsEmpty());
  EXPECT_EQ(plan.adapter.kind.value, Adapter::lora);
  EXPECT_EQ(plan.adapter.rank.value, 16);
  EXPECT_EQ(plan.recipe.loss.value, Loss::chunked_head);
  EXPECT_THAT(plan.adapter.targets.value, ElementsAre("query", "mlp.fc", "mlp.fc_1", "mlp.fc_2", "mlp.proj"));
  EXPECT_THAT(plan_from(run + "lora_r: 8\n").adapter.targets.value, ElementsAre("query", "value"));
  EXPECT_THAT(errors_from(run + "lora_query: false\nlora_value: false\n"),
              Contains(HasSubstr("without a lora_ switch that is on nothing is trained")));
}

TEST(Litgpt, PrecisionIsTwoFacts) {
  const auto plan_in = [](const std::string& word) { return plan_with(run, {"precision=" + word}); };
  EXPECT_EQ(plan_in("bf16-true").precision.weights_dtype.value, WeightsDType::bf16);
  EXPECT_EQ(plan_in("bf16-true").precision.autocast.value, Autocast::none);
  EXPECT_EQ(plan_in("bf16-mixed").precision.weights_dtype.value, WeightsDType::fp32);
  EXPECT_EQ(plan_in("bf16-mixed").precision.autocast.value, Autocast::bf16);
  EXPECT_EQ(plan_in("\"32\"").precision.autocast.value, Autocast::none);
  EXPECT_THAT(features_of(plan_in("64-true")), ElementsAre("precision 64-true"));
}

TEST(Litgpt, QuantizationTakesThePagedOptimizer) {
  const TrainingPlan plan = plan_from(lora + "quantize: bnb.nf4-dq\noptimizer: AdamW\n");
  EXPECT_EQ(plan.quantization.kind.value, Quantization::nf4);
  EXPECT_TRUE(plan.quantization.double_quantization.value);
  EXPECT_EQ(plan.quantization.linear.value, QuantizedLinear::lightning);
  EXPECT_EQ(plan.optimizer.name.value, "paged_adamw_32bit");
  EXPECT_THAT(errors_from(lora + "quantize: bnb.nf8\n"), Contains(HasSubstr("bnb.nf4")));
  EXPECT_THAT(errors_from("checkpoint_dir: a/phi-2\nlora_r: 4\ntrain: {max_seq_length: 8}\nquantize: bnb.nf4\n"),
              Contains(HasSubstr("litgpt refuses quantization beside mixed precision")));
  EXPECT_THAT(errors_from(lora + "quantize: bnb.nf4\noptimizer: {class_path: torch.optim.SGD}\n"),
              Contains(HasSubstr("no other optimizer than AdamW")));
}

TEST(Litgpt, AnOptimizerIsAClassOrItsNameAlone) {
  const auto name_of = [](const std::string& text) { return plan_from(run + text).optimizer.name.value; };
  EXPECT_EQ(name_of("optimizer: AdamW\n"), "adamw_foreach");
  EXPECT_EQ(name_of("optimizer: {class_path: torch.optim.AdamW, init_args: {fused: true}}\n"), "adamw_fused");
  EXPECT_EQ(name_of("optimizer: {class_path: torch.optim.AdamW, init_args: {foreach: false}}\n"), "adamw_for_each");
  EXPECT_EQ(name_of("optimizer: {class_path: bitsandbytes.optim.AdamW8bit}\n"), "adamw_8bit");
  EXPECT_THAT(features_of(plan_from(run + "optimizer: {class_path: galore_torch.GaLoreAdamW8bit}\n")),
              ElementsAre("optimizer galore_torch.GaLoreAdamW8bit"));
  EXPECT_THAT(features_of(plan_from(run + "optimizer: {class_path: torch.optim.AdamW, init_args: {a: 1}}\n")),
              ElementsAre("an argument of another optimizer"));
}

TEST(Litgpt, WhatIsNotPlayedGivesNoEstimate) {
  const auto asks = [](const std::string& more) { return features_of(plan_from(run + more)); };
  EXPECT_THAT(asks("devices: 1\nnum_nodes: 1\n"), IsEmpty());
  EXPECT_THAT(asks("devices: 4\nlora_r: 4\n"), ElementsAre("litgpt's adapters on several GPUs"));
  EXPECT_THAT(errors_from(run + "devices: auto\n"), Contains(HasSubstr("devices is auto")));
  EXPECT_THAT(asks("num_nodes: 2\n"), ElementsAre("litgpt on several machines"));
  EXPECT_THAT(asks("resume: true\n"), ElementsAre("a run that is resumed"));
  EXPECT_THAT(asks("model_name: pythia-14m\n"), ElementsAre("litgpt's pretraining, which torch.compile changes,"));
}

TEST(Litgpt, OnSeveralGpusAWholeModelIsShardedByFsdp1) {
  const TrainingPlan plan = plan_from(
      "checkpoint_dir: a/phi-2\nprecision: bf16-true\ndevices: 4\n"
      "train: {max_seq_length: 8, micro_batch_size: 2, global_batch_size: 32}\n");
  EXPECT_EQ(plan.mesh.world_size.value, 4);
  EXPECT_EQ(plan.mesh.sharding.value, Sharding::fsdp1);
  EXPECT_TRUE(plan.mesh.fsdp_orig_params.value);
  EXPECT_EQ(plan.mesh.fsdp_param_dtype.value, MixedDType::bf16);
  EXPECT_TRUE(plan.checkpointing.on.value);
  EXPECT_EQ(plan.batch.gradient_accumulation_steps.value, 4);
}

TEST(Litgpt, TakesAsManyGpusAsTheCommandLineSays) {
  const std::string text =
      "checkpoint_dir: a/phi-2\nprecision: bf16-true\ntrain: {max_seq_length: 8, micro_batch_size: 2}\n";
  for (const char* devices : {"devices: auto\n", "devices: 1\n", ""}) {
    const TrainingPlan plan = plan_with(text + devices, {"world_size=4"});
    EXPECT_EQ(plan.mesh.sharding.value, Sharding::fsdp1) << devices;
    EXPECT_EQ(plan.batch.gradient_accumulation_steps.value, 2) << devices;
  }
  EXPECT_EQ(plan_with(text, {"world_size=4", "gradient_checkpointing=false"}).checkpointing.on.value, false);
  EXPECT_THAT(errors_with(lora + "quantize: bnb.nf4\n", {"world_size=4"}),
              Contains(HasSubstr("litgpt quantizes on one GPU alone")));
}

TEST(Litgpt, WhatItStopsAtIsRefused) {
  const auto refused = [](const std::string& text, const std::string& why) {
    EXPECT_THAT(errors_from(text), ElementsAre(HasSubstr(why))) << text;
  };
  const std::string head = "checkpoint_dir: a/phi-2\nprecision: bf16-true\n";
  refused(head + "train: {max_seq_length: 8, max_norm: 1.0}\n", "does not support train.max_norm");
  refused(head + "train: {max_seq_length: 8, micro_batch_size: 4, global_batch_size: 2}\n",
          "litgpt stops at a train.global_batch_size of less than train.micro_batch_size");
  refused(run + "devices: 0\n", "a positive number of devices");
  EXPECT_THAT(errors_from("precision: bf16-true\ntrain: {max_seq_length: 8}\nlora_r: 4\nlora_mlp: true\n"),
              ElementsAre(HasSubstr("checkpoint_dir is not given")));
  EXPECT_THAT(errors_from(head + "train: {micro_batch_size: 1}\n"),
              ElementsAre(HasSubstr("train.max_seq_length is not given, so rows are as long as the data")));
}

}  // namespace
}  // namespace oomplan
