// What Axolotl trains and how: preferences, rewards, pretraining, and what of a model is trained.
#include "from_text.hpp"

namespace oomplan {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string full = "base_model: a/b\nmicro_batch_size: 2\ngradient_accumulation_steps: 4\n";
const std::string off = "lora_qkv_kernel: false\nlora_o_kernel: false\nlora_mlp_kernel: false\n";
const std::string qlora = full + "adapter: qlora\nload_in_4bit: true\nlora_r: 16\nlora_target_linear: true\n" + off;

TEST(Axolotl, PreferencesAreThoseOfTheTrlThatItPins) {
  const std::string lora = full + off + "adapter: lora\nlora_r: 8\nlora_target_linear: true\n";
  const TrainingPlan dpo = plan_from(lora + "rl: dpo\nsequence_len: 500\n");
  EXPECT_THAT(features(dpo), IsEmpty());
  EXPECT_EQ(dpo.recipe.kind.value, RecipeKind::dpo);
  EXPECT_EQ(dpo.recipe.reference.value, Reference::adapter_off);
  EXPECT_EQ(dpo.recipe.loss.value, Loss::full_logits);
  EXPECT_TRUE(dpo.kernels.patched_log_softmax.value);
  EXPECT_EQ(dpo.batch.sequence_length.value, 500) << "TRL's collator rounds nothing up";
  EXPECT_EQ(dpo.adapter.dtype.value, AdapterDType::fp32);
  EXPECT_EQ(plan_from(qlora + "rl: kto\nremove_unused_columns: false\n").adapter.dtype.value, AdapterDType::bf16);
  EXPECT_EQ(plan_from(qlora + "rl: orpo\n").adapter.dtype.value, AdapterDType::fp32);
  EXPECT_EQ(plan_from(full + "rl: ipo\n").recipe.reference.value, Reference::model);
  EXPECT_TRUE(plan_from(full + "rl: ipo\ngradient_checkpointing:\n").checkpointing.on.value);
  EXPECT_FALSE(plan_from(full + "rl: ipo\n").checkpointing.on.value);
  EXPECT_FALSE(plan_from(lora + "rl: simpo\ncpo_alpha: 0\n").recipe.second_term.value);
  EXPECT_THAT(errors_from(lora + "rl: simpo\nwarmup_ratio: 0.1\n"), ElementsAre(HasSubstr("rl: simpo")));
}

TEST(Axolotl, LoraMayBeginWithADecomposition) {
  const std::string lora = full + off + "adapter: lora\nlora_r: 8\nlora_target_linear: true\npeft_init_lora_weights: ";
  const auto init = [&](const std::string& how) { return plan_from(lora + how).adapter.init.value; };
  EXPECT_EQ(init("pissa_niter_4\n"), AdapterInit::pissa_niter);
  EXPECT_EQ(init("olora\n"), AdapterInit::olora);
  for (const char* how : {"true\n", "false\n", "gaussian\n", "orthogonal\n", "null\n"}) {
    EXPECT_EQ(init(how), AdapterInit::plain);
    EXPECT_THAT(features(plan_from(lora + how)), IsEmpty());
  }
  for (const char* how : {"pissa\n", "loftq\n", "eva\n", "corda\n"})
    EXPECT_THAT(features(plan_from(lora + how)), ElementsAre(HasSubstr("initialised in this way")));
  EXPECT_THAT(features(plan_from(qlora + "peft_init_lora_weights: orthogonal\n")),
              ElementsAre(HasSubstr("orthogonal LoRA over quantized weights")));
}

TEST(Axolotl, ModelsOfRewardsHaveAHeadOfTheirOwn) {
  const TrainingPlan plan = plan_from(full + "reward_model: true\nmodel_type: AutoModelForSequenceClassification\n");
  EXPECT_EQ(plan.recipe.kind.value, RecipeKind::reward);
  EXPECT_THAT(features(plan), IsEmpty());
  EXPECT_THAT(features(plan_from(full + "reward_model: true\n")), IsEmpty()) << "the class is Axolotl's default there";
  EXPECT_THAT(errors_from(full + "reward_model: true\nmodel_type: LlamaForCausalLM\n"),
              ElementsAre(HasSubstr("wants a model of scores")));
}

TEST(Axolotl, PretrainingPacksARowOfAllItsSequences) {
  const std::string stream = full + "pretraining_dataset: [{path: a/b}]\nmax_steps: 10\nsequence_len: 1000\n";
  const std::string packed = stream + "sample_packing: true\n";
  const TrainingPlan plan = plan_from(packed + "attn_implementation: flash_attention_2\n");
  EXPECT_THAT(features(plan), IsEmpty());
  EXPECT_EQ(plan.batch.micro_batch_size.value, 1);
  EXPECT_EQ(plan.batch.sequence_length.value, 2000) << "rounded to sequence_len, not to 64";
  EXPECT_EQ(plan.loader.rows_as.value, RowsAs::stream);
  EXPECT_THAT(features(plan_from(packed)), ElementsAre(HasSubstr("packed pretraining without flash attention")));
  EXPECT_EQ(plan_from(stream).batch.sequence_length.value, 1024);
}

TEST(Axolotl, EntropyAwareLossIsItsOwn) {
  EXPECT_EQ(plan_from(full + "use_eaft: true\n").recipe.loss.value, Loss::masked_entropy_aware);
  EXPECT_THAT(features(plan_from(full + "use_eaft: true\neaft_k: 20\n")), IsEmpty());
  EXPECT_THAT(features(plan_from(full + "use_eaft: true\neaft_k: 50\n")), ElementsAre(HasSubstr("twenty logits")));
  const std::string cut = "plugins: [axolotl.integrations.cut_cross_entropy.CutCrossEntropyPlugin]\n";
  EXPECT_THAT(features(plan_from(full + cut + "use_eaft: true\n")), ElementsAre(HasSubstr("beside another")));
}

TEST(Axolotl, ExpertsAreQuantizedWithTheRest) {
  const std::string named = full + off + "lora_r: 8\nlora_target_modules: [q_proj]\nquantize_moe_experts: true\n";
  const TrainingPlan plan = plan_from(named + "adapter: qlora\nload_in_4bit: true\n");
  EXPECT_THAT(features(plan), IsEmpty());
  EXPECT_TRUE(plan.quantization.experts.value);
  const TrainingPlan eight = plan_from(named + "adapter: lora\nload_in_8bit: true\n");
  EXPECT_THAT(features(eight), IsEmpty());
  EXPECT_TRUE(eight.quantization.experts.value);
  EXPECT_THAT(errors_from(qlora + "quantize_moe_experts: true\n"), ElementsAre(HasSubstr("lora_target_linear")));
  EXPECT_TRUE(plan_from(full + "fused_attn_kernel: true\n").kernels.fused_norm_rope.value);
}

TEST(Axolotl, NoQuantizationByNvfp4IsFaked) {
  EXPECT_THAT(errors_from(full + "qat: {weight_dtype: nvfp4, activation_dtype: nvfp4, group_size: 16}\n"),
              Contains(HasSubstr("NVFP4WeightOnlyConfig")));
  EXPECT_THAT(features(plan_from(full + "qat: {weight_dtype: mxfp4, activation_dtype: mxfp4}\n")),
              ElementsAre("qat: QAT"));
}

TEST(Axolotl, AKernelThatXformersIsBuiltWithoutChangesNothing) {
  EXPECT_THAT(features(plan_from(full + "flash_attn_fuse_mlp: true\n")), IsEmpty());
  EXPECT_THAT(errors_from(qlora + "flash_attn_fuse_mlp: true\n"), ElementsAre(HasSubstr("beside LoRA")));
}

TEST(Axolotl, CodeThatComesWithAModelHasAnAttentionOfItsOwn) {
  for (const std::string asked : {"attn_implementation: xformers\n", "xformers_attention: true\n"}) {
    EXPECT_THAT(features(plan_from(full + asked)), ElementsAre(EndsWith(": xformers attention")));
    EXPECT_THAT(features(plan_from(full + asked + "trust_remote_code: true\n")),
                ElementsAre(EndsWith(": xformers attention in code that comes with the model")));
  }
}

TEST(Axolotl, UnfrozenParametersAreExpressionsWhoseDotsAreDots) {
  const TrainingPlan plan =
      plan_from(full + "unfrozen_parameters: ['^lm_head.weight$', 'layers.4[4-9].+x', 'a.b[:32000]', 'c[12]']\n");
  EXPECT_THAT(features(plan), IsEmpty());
  EXPECT_THAT(plan.recipe.trained.value, ElementsAre("^lm_head\\.weight$", "layers\\.4[4-9].+x", "a\\.b", "c"));
  EXPECT_FALSE(plan.checkpointing.reentrant.value);
}

TEST(Axolotl, AnExpressionOfTargetsDecidesWhichKernelsTakeOver) {
  const std::string lora = full + "adapter: lora\nlora_r: 8\n";
  const std::string qkv = "lora_target_modules: 'model.layers.[\\d]+.(mlp|self_attn).(up|gate|q|k|v)_proj'\n";
  const TrainingPlan plan = plan_from(lora + qkv);
  EXPECT_THAT(features(plan), IsEmpty());
  EXPECT_TRUE(plan.kernels.lora_qkv.value);
  EXPECT_FALSE(plan.kernels.lora_o.value);
  EXPECT_FALSE(plan.kernels.lora_mlp.value) << "down_proj has no adapter";
  EXPECT_THAT(features(plan_from(lora + "lora_target_modules: '(?=a)b'\n")),
              ElementsAre("lora_targets: LoRA targets by a regular expression"));
}

}  // namespace
}  // namespace oomplan
