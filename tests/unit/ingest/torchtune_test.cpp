// torchtune's dialect.
#include "from_text.hpp"

namespace oomplan {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::string recipe =
    "tokenizer: {max_seq_len: 1024}\ncheckpointer: {model_type: LLAMA3}\nbatch_size: 2\n"
    "loss: {_component_: torchtune.modules.loss.CEWithChunkedOutputLoss}\n";
const std::string full = recipe + "model: {_component_: torchtune.models.llama3_1.llama3_1_8b}\n";
const std::string lora =
    recipe +
    "model: {_component_: torchtune.models.llama3_1.lora_llama3_1_8b, lora_attn_modules: [q_proj, output_proj]}\n";

std::string with_model(const std::string& more) {
  return recipe + "model: {_component_: torchtune.models.llama3_1.lora_llama3_1_8b, lora_attn_modules: [q_proj], " +
         more + "}\n";
}

std::vector<std::string> features_of(const TrainingPlan& plan) {
  std::vector<std::string> out;
  for (const Unmodelled& gap : plan.unmodelled) out.push_back(gap.feature);
  return out;
}

TEST(Torchtune, KeysOfItsOtherRecipesAreKnown) {
  const TrainingPlan plan = plan_from(full + "prompt: {system: null, user: a}\nlimit: 5\nuse_flex: true\n");
  EXPECT_THAT(plan.unmodelled, IsEmpty());
  ASSERT_EQ(plan.warnings.size(), 1U);
  EXPECT_EQ(plan.warnings.front().code, "ingest/assumed-trainer");
}

TEST(Torchtune, ItsDefaultsNameTheirSource) {
  const TrainingPlan plan = plan_from(full);
  EXPECT_EQ(plan.dialect, "torchtune");
  EXPECT_EQ(plan.framework, "torchtune 0.6.1");
  EXPECT_THAT(plan.unmodelled, IsEmpty());
  ASSERT_EQ(plan.warnings.size(), 1U);  // No key says whether it is for one GPU.
  EXPECT_EQ(plan.warnings.front().code, "ingest/assumed-trainer");
  EXPECT_THAT(plan.model.name, is_from("torchtune.models.llama3_1.llama3_1_8b", "model._component_ at 5:22"));
  EXPECT_EQ(plan.adapter.kind.value, Adapter::none);
  EXPECT_THAT(plan.batch.sequence_length, is_from(1024, "tokenizer.max_seq_len at 1:26"));
  EXPECT_THAT(plan.batch.padding_mask,
              is_from(false, "default of torchtune 0.6.1: padded_collate_sft, which sends no mask"));
  EXPECT_THAT(plan.precision.weights_dtype, is_from(WeightsDType::bf16, "default of torchtune 0.6.1: get_dtype"));
  EXPECT_EQ(plan.recipe.loss.value, Loss::chunked_output);
  EXPECT_FALSE(plan.optimizer.clip_gradients.value);
  EXPECT_FALSE(plan.optimizer.in_backward.value);
  EXPECT_FALSE(plan.optimizer.fp32_embedding_state.value);
}

TEST(Torchtune, TheBuildersNameSaysWhetherItAdapts) {
  const TrainingPlan plan = plan_from(lora);
  EXPECT_EQ(plan.adapter.kind.value, Adapter::lora);
  EXPECT_EQ(plan.adapter.rank.value, 8);
  EXPECT_EQ(plan.adapter.targets.value, (std::vector<std::string>{"q_proj", "output_proj"}));
  EXPECT_EQ(plan.adapter.dtype.value, AdapterDType::as_base);
  EXPECT_EQ(plan_from(with_model("apply_lora_to_mlp: True, apply_lora_to_output: True")).adapter.targets.value,
            (std::vector<std::string>{"q_proj", "w1", "w2", "w3", "output"}));
  EXPECT_THAT(errors_from(recipe + "model: {_component_: torchtune.models.llama3_1.lora_llama3_1_8b}\n"),
              ElementsAre(HasSubstr("model.lora_attn_modules is not given")));
}

TEST(Torchtune, WhatItsBuildersStopAtIsRefused) {
  const auto refused = [](const std::string& text, const std::string& why) {
    EXPECT_THAT(errors_from(text), ElementsAre(HasSubstr(why))) << text;
  };
  refused(recipe + "model: {_component_: meta-llama/Llama-3.1-8B, lora_attn_modules: [q_proj]}\n", "is no builder of");
  refused(recipe + "model: {_component_: torchtune.models.llama3_1.llama3_1_8b, lora_rank: 8}\n",
          "llama3_1_8b has no argument lora_rank");
  refused(recipe + "model: {_component_: torchtune.models.llama3_1.lora_llama3_1_8b, lora_attn_modules: []}\n",
          "stop at an empty lora_attn_modules");
  refused(recipe +
              "model: {_component_: torchtune.models.gemma.lora_gemma_2b, lora_attn_modules: [q_proj], "
              "apply_lora_to_output: true}\n",
          "builders of Gemma have no such argument");
  refused(with_model("lora_rank: 8") + "optimizer: {_component_: bitsandbytes.optim.AdamW8bit, foreach: false}\n",
          "bitsandbytes' optimizers have no such argument");
  refused(full + "clip_grad_norm: two\n", "expected a number, or inf");
}

TEST(Torchtune, WhatItReadsOtherwiseThanItStands) {
  const TrainingPlan plan =
      plan_from(recipe +
                "model: {_component_: torchtune.models.llama3_1.lora_llama3_1_8b, lora_attn_modules: [q_proj, w1]}\n"
                "optimizer_in_bwd: true\ngradient_accumulation_steps: 4\nclip_grad_norm: inf\n");
  EXPECT_EQ(plan.adapter.targets.value, (std::vector<std::string>{"q_proj"}));  // The MLP's have a switch of their own.
  EXPECT_FALSE(plan.optimizer.in_backward.value);                               // Its LoRA recipe does not read it.
  EXPECT_TRUE(plan.optimizer.clip_gradients.value);
}

TEST(Torchtune, RowsWithoutALimitAreAsLongAsTheData) {
  const std::string unlimited =
      "tokenizer: {max_seq_len: null}\ncheckpointer: {model_type: LLAMA3}\nbatch_size: 2\n"
      "model: {_component_: torchtune.models.llama3_1.llama3_1_8b}\n";
  EXPECT_THAT(errors_from(unlimited), ElementsAre(HasSubstr("so rows are as long as the data")));
  EXPECT_EQ(plan_with(unlimited, {"tokenizer.max_seq_len=512"}).batch.sequence_length.value, 512);
  EXPECT_EQ(plan_with(unlimited, {"sequence_length=512"}).batch.sequence_length.value, 512);
}

TEST(Torchtune, OptimizersAreComponents) {
  const auto name = [](const std::string& text) {
    return plan_from(full + "optimizer: {_component_: " + text + "}\n").optimizer.name.value;
  };
  EXPECT_EQ(name("torch.optim.AdamW"), "adamw_foreach");
  EXPECT_EQ(name("torch.optim.AdamW, fused: True"), "adamw_fused");
  EXPECT_EQ(name("torch.optim.AdamW, foreach: False"), "adamw_for_each");
  EXPECT_EQ(name("torch.optim.AdamW, fused: False"), "adamw_for_each");
  EXPECT_EQ(name("torch.optim.AdamW, fused: False, foreach: True"), "adamw_foreach");
  EXPECT_EQ(name("bitsandbytes.optim.PagedAdamW8bit"), "paged_adamw_8bit");
  EXPECT_EQ(name("bitsandbytes.optim.PagedAdamW"), "paged_adamw_32bit");
  EXPECT_THAT(features_of(plan_from(full + "optimizer: {_component_: torch.optim.Adagrad}\n")),
              ElementsAre("optimizer torch.optim.Adagrad"));
  EXPECT_THAT(errors_from(full + "optimizer: {_component_: bitsandbytes.optim.PagedAdamW8bit, fused: True}\n"),
              ElementsAre(HasSubstr("have no such argument")));
}

TEST(Torchtune, WhatIsNotPlayedIsUndecided) {
  const auto asks = [](const std::string& more) { return features_of(plan_from(full + more)); };
  EXPECT_THAT(asks("compile: True\n"), ElementsAre("torch.compile"));
  EXPECT_THAT(asks("compile: False\n"), IsEmpty());
  EXPECT_THAT(asks("dataset: {packed: True}\n"), ElementsAre(HasSubstr("packed rows")));
  EXPECT_THAT(asks("dtype: fp32\n"), ElementsAre(HasSubstr("RMSNorm")));
  EXPECT_THAT(asks("tensor_parallel_dim: 1\n"), IsEmpty());
  EXPECT_THAT(asks("tensor_parallel_dim: 2\n"), ElementsAre("tensor parallel by torchtune"));
  EXPECT_THAT(asks("kd_loss: {_component_: a.B}\n"), Contains("knowledge distillation by torchtune"));
  EXPECT_THAT(asks("quantizer: {_component_: torchtune.training.quantization.Int4WeightOnlyQATQuantizer}\n"),
              Contains("another quantizer"));
  EXPECT_THAT(features_of(plan_from(with_model("embed_dim: 64"))), ElementsAre("a model built of sizes"));
  EXPECT_THAT(features_of(plan_from(with_model("kv_groups: 64"))), ElementsAre("an argument of another model"));
}

TEST(Torchtune, QuantizedBasesAreTorchaos) {
  const TrainingPlan llama = plan_from(with_model("quantize_base: True, use_dora: True"));
  EXPECT_EQ(llama.quantization.kind.value, Quantization::nf4);
  EXPECT_EQ(llama.quantization.linear.value, QuantizedLinear::torchao);
  EXPECT_THAT(llama.quantization.skipped.value, IsEmpty());
  EXPECT_TRUE(llama.adapter.dora.value);
  EXPECT_THAT(llama.unmodelled, IsEmpty());
  const TrainingPlan qwen =
      plan_from(recipe +
                "model: {_component_: torchtune.models.qwen2.lora_qwen2_7b, lora_attn_modules: [q_proj, v_proj], "
                "apply_lora_to_mlp: True, quantize_base: True}\n");
  EXPECT_THAT(qwen.quantization.skipped.value, ElementsAre("k_proj", "output_proj"));
}

TEST(Torchtune, FakeQuantizationIsOfANewerRecipe) {
  const std::string quantizer =
      "quantizer: {_component_: torchtune.training.quantization.Int8DynActInt4WeightQATQuantizer}\n";
  const TrainingPlan plan =
      plan_with(full + quantizer, {"loss._component_=torchtune.modules.loss.LinearCrossEntropyLoss"});
  EXPECT_EQ(plan.quantization.fake_group.value, 256);
  EXPECT_THAT(plan.unmodelled, IsEmpty());
  EXPECT_THAT(features_of(plan_from(full + quantizer)), ElementsAre(HasSubstr("by torchtune 0.6.1")));
}

TEST(Torchtune, DatasetsMayBeAList) {
  EXPECT_THAT(features_of(plan_from(full + "dataset: [{_component_: a.b}, {_component_: a.c, packed: False}]\n")),
              IsEmpty());
  EXPECT_THAT(features_of(plan_from(full + "dataset: [{_component_: a.b}, {_component_: a.c, packed: True}]\n")),
              ElementsAre("packed rows of several datasets"));
}

TEST(Torchtune, SeveralRanksShareTheModel) {
  const TrainingPlan two = plan_with(full, {"plan.world_size=2"});
  EXPECT_THAT(two.unmodelled, IsEmpty());
  EXPECT_EQ(two.mesh.sharding.value, Sharding::fsdp2);
  EXPECT_EQ(two.mesh.fsdp_units.value, ShardUnits::blocks);
  EXPECT_TRUE(two.mesh.sync_each.value);
  EXPECT_THAT(two.warnings, IsEmpty());
  const TrainingPlan one = plan_from(full);
  EXPECT_EQ(one.mesh.sharding.value, Sharding::none);
  EXPECT_THAT(one.warnings, SizeIs(1));
}

TEST(Torchtune, KeysOfTheDistributedRecipesWantANumberOfGpus) {
  const std::string offload = full + "fsdp_cpu_offload: True\nfsdp_reshard_after_forward: False\n";
  EXPECT_THAT(errors_from(offload), ElementsAre(HasSubstr("number nothing says")));
  const TrainingPlan plan = plan_with(offload, {"plan.world_size=4"});
  EXPECT_EQ(plan.mesh.sharding.value, Sharding::fsdp2);
  EXPECT_TRUE(plan.mesh.fsdp_offload.value);
  EXPECT_EQ(plan.mesh.fsdp_reshard.value, Reshard::never);
}

TEST(Torchtune, ItsRootStaysWholeAfterItsReleaseAlone) {
  const TrainingPlan old = plan_with(full, {"plan.world_size=2"});
  EXPECT_THAT(old.mesh.fsdp_reshard, is_from(Reshard::all, "default of torchtune 0.6.1: shard_model"));
  std::string newer = full;
  newer.replace(newer.find("CEWithChunkedOutputLoss"), 23, "LinearCrossEntropyLoss");
  EXPECT_EQ(plan_with(newer, {"plan.world_size=2"}).mesh.fsdp_reshard.value, Reshard::automatic);
  const TrainingPlan asked = plan_with(newer + "fsdp_reshard_after_forward: True\n", {"plan.world_size=2"});
  EXPECT_EQ(asked.mesh.fsdp_reshard.value, Reshard::automatic);
}

TEST(Torchtune, ModulesMayBeUnitsByName) {
  const std::string asked = "custom_sharded_layers: [tok_embeddings, output]\nfsdp: {cpu_offload: True}\n";
  EXPECT_THAT(errors_from(full + asked), ElementsAre(HasSubstr("number nothing says")));
  const TrainingPlan plan = plan_with(full + asked, {"plan.world_size=2"});
  EXPECT_THAT(plan.unmodelled, IsEmpty());
  EXPECT_THAT(plan.mesh.fsdp_modules.value, ElementsAre("tok_embeddings", "output"));
  EXPECT_FALSE(plan.mesh.fsdp_offload.value);  // No recipe reads fsdp.cpu_offload.
}

TEST(Torchtune, ALossOfPreferencesIsDpo) {
  const auto pairs = [](std::string text) {
    return text.replace(text.find("modules.loss.CEWithChunkedOutputLoss"), 36, "rlhf.loss.DPOLoss, beta: 0.1");
  };
  const TrainingPlan adapted = plan_from(pairs(lora) + "clip_grad_norm: 1.0\n");
  EXPECT_THAT(adapted.unmodelled, IsEmpty());
  EXPECT_EQ(adapted.framework, "torchtune 0.6.1");
  EXPECT_EQ(adapted.recipe.kind.value, RecipeKind::raised_pairs);
  EXPECT_EQ(adapted.recipe.reference.value, Reference::adapter_off);
  EXPECT_EQ(adapted.recipe.loss.value, Loss::full_logits);
  EXPECT_FALSE(adapted.optimizer.clip_gradients.value);
  const std::string reference = "ref_checkpointer: {model_type: LLAMA3}\nclip_grad_norm: 1.0\n";
  const TrainingPlan whole = plan_from(pairs(full) + reference);
  EXPECT_THAT(whole.unmodelled, IsEmpty());
  EXPECT_EQ(whole.recipe.reference.value, Reference::model);
  EXPECT_TRUE(whole.optimizer.clip_gradients.value);
  EXPECT_THAT(features_of(plan_from(full + reference)), ElementsAre("a reference model"));
}

TEST(Torchtune, FakeQuantizationOfAnAdapterStops) {
  std::string newer = lora;
  newer.replace(newer.find("CEWithChunkedOutputLoss"), 23, "LinearCrossEntropyLoss");
  EXPECT_THAT(errors_from(newer + "quantizer: {_component_: "
                                  "torchtune.training.quantization.Int8DynActInt4WeightQATQuantizer}\n"),
              ElementsAre(HasSubstr("stops at that before training")));
}

TEST(Torchtune, ANewLossTellsANewerVersion) {
  const std::string linear = "loss: {_component_: torchtune.modules.loss.LinearCrossEntropyLoss}\n";
  const TrainingPlan newer =
      plan_from("tokenizer: {max_seq_len: 8}\ncheckpointer: {model_type: LLAMA3}\nbatch_size: 1\n" + linear +
                "model: {_component_: torchtune.models.qwen3.qwen3_8b_instruct}\n");
  EXPECT_EQ(newer.framework, "torchtune 0.7.0");
  EXPECT_EQ(newer.recipe.loss.value, Loss::linear_cross_entropy);
  EXPECT_THAT(newer.unmodelled, IsEmpty());
}

TEST(Torchtune, WhatItRefusesIsRefused) {
  EXPECT_THAT(
      errors_from(recipe + "model: {_component_: torchtune.models.llama3_2.lora_llama3_2_1b, lora_attn_modules: "
                           "[q_proj], apply_lora_to_output: True}\n"),
      ElementsAre(HasSubstr("adapts no head that is the embedding")));
  EXPECT_THAT(errors_from(full + "optimizer_in_bwd: True\ngradient_accumulation_steps: 2\n"), SizeIs(1));
  EXPECT_THAT(errors_from(full + "optimizer_in_bwd: True\nclip_grad_norm: 1.0\n"), SizeIs(1));
  EXPECT_THAT(errors_from(full + "enable_activation_offloading: True\n"), SizeIs(1));
  EXPECT_THAT(errors_from(full + "dtype: fp16\n"), SizeIs(1));
  EXPECT_THAT(errors_from(full + "tasks: [mmlu]\n"), ElementsAre(HasSubstr("evaluation trains nothing")));
  EXPECT_THAT(errors_from(full + "max_new_tokens: 8\n"), ElementsAre(HasSubstr("generation train nothing")));
  EXPECT_THAT(errors_from(full + "dtype: int8\n"), ElementsAre(HasSubstr("expected one of bf16, fp32, fp16")));
}

}  // namespace
}  // namespace oomplan
