// Hugging Face's dialect: transformers' Trainer and TRL's SFT.
#include <limits>
#include <tuple>

#include "from_text.hpp"
#include "oomplan/plan/trainer.hpp"

namespace oomplan {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string sft = "trainer: sft\nmodel_name_or_path: a/b\n";
const std::string plain = "trainer: trainer\nmodel_name_or_path: a/b\nblock_size: 512\n";

TEST(Hf, TrlDefaults) {
  const TrainingPlan plan = plan_from("model_name_or_path: a/b\nuse_peft: true\n");
  EXPECT_EQ(plan.dialect, "hf");
  EXPECT_EQ(plan.framework, "trl 1.16.0 on transformers 5.23.0");
  EXPECT_THAT(plan.model.name, is_from("a/b", "model_name_or_path at 1:21"));
  EXPECT_THAT(plan.batch.micro_batch_size, is_from(8, "default of transformers 5.23.0: TrainingArguments"));
  EXPECT_THAT(plan.batch.sequence_length, is_from(1024, "default of trl 1.16.0: SFTConfig"));
  EXPECT_THAT(plan.precision.weights_dtype, is_from(WeightsDType::fp32, "default of trl 1.16.0: ModelConfig"));
  EXPECT_THAT(plan.precision.autocast, is_from(Autocast::bf16, "default of trl 1.16.0: _BaseConfig"));
  EXPECT_THAT(plan.checkpointing.on, is_from(true, "default of trl 1.16.0: _BaseConfig"));
  EXPECT_THAT(plan.checkpointing.reentrant,
              is_from(false, "default of transformers 5.23.0: activation_checkpointing_enable"));
  EXPECT_THAT(plan.optimizer.name, is_from("adamw_fused", "default of transformers 5.23.0: TrainingArguments"));
  EXPECT_THAT(plan.optimizer.clip_gradients, is_from(true, "default of transformers 5.23.0: TrainingArguments"));
  EXPECT_THAT(plan.kernels.attention,
              is_from(Attention::sdpa, "default of transformers 5.23.0: PreTrainedModel.from_pretrained"));
  EXPECT_THAT(plan.recipe.loss, is_from(Loss::chunked_logprob, "default of trl 1.16.0: add_fused_lm_head"));
  EXPECT_THAT(plan.recipe.outputs_kept, is_from(false, "default of trl 1.16.0: SFTTrainer.compute_loss"));
  EXPECT_THAT(plan.precision.outputs_to_fp32, is_from(true, "default of accelerate 1.15.0: prepare_model"));
  EXPECT_THAT(plan.recipe.use_cache, is_from(false, "default of trl 1.16.0: SFTTrainer.compute_loss"));
  EXPECT_THAT(plan.batch.padding_mask, is_from(true, "assumed: rows of a batch differ in length and are padded"));
}

TEST(Hf, KeysOfAlignmentHandbooksScriptsAreKnown) {
  const TrainingPlan plan = plan_from(sft + "chat_template: '{{ a }}'\ndataset_mixture: {datasets: [{id: a}]}\n" +
                                      "dataset_mixer: {a: 1.0}\ndataset_splits: [train]\nhub_model_revision: v1\n");
  EXPECT_THAT(plan.unmodelled, IsEmpty());
  EXPECT_THAT(plan.warnings, IsEmpty());
}

TEST(Hf, TrlAdapterDefaults) {
  const TrainingPlan plan = plan_from("model_name_or_path: a/b\nuse_peft: true\n");
  EXPECT_THAT(plan.adapter.kind, is_from(Adapter::lora, "use_peft at 2:11"));
  EXPECT_THAT(plan.adapter.rank, is_from(16, "default of trl 1.16.0: ModelConfig"));
  EXPECT_THAT(plan.adapter.dropout, is_from(0.05, "default of trl 1.16.0: ModelConfig"));
  EXPECT_THAT(plan.adapter.targets, is_from(std::vector<std::string>{"peft-default"},
                                            "default of peft 0.21.2: target modules by model_type"));
  EXPECT_THAT(plan.adapter.dtype,
              is_from(AdapterDType::fp32, "default of peft 0.21.2: get_peft_model(autocast_adapter_dtype=True)"));
  EXPECT_THAT(plan.quantization.kind, is_from(Quantization::none, "default of trl 1.16.0: ModelConfig"));
}

TEST(Hf, QloraInTrlHasBf16AdaptersAndNoUpcast) {
  const TrainingPlan plan = plan_from(sft + "use_peft: true\nload_in_4bit: true\ndtype: bfloat16\n");
  EXPECT_THAT(plan.quantization.kind, is_from(Quantization::nf4, "load_in_4bit at 4:15"));
  EXPECT_THAT(plan.quantization.double_quantization, is_from(false, "default of trl 1.16.0: ModelConfig"));
  EXPECT_THAT(plan.quantization.compute_dtype, is_from(DType::bf16, "dtype at 5:8"));
  EXPECT_THAT(plan.adapter.dtype, is_from(AdapterDType::bf16, "default of trl 1.16.0: SFTTrainer"));
  EXPECT_THAT(plan.quantization.kbit_upcast, is_from(false, "default of trl 1.16.0: SFTTrainer"));
}

TEST(Hf, PlainTrainerDefaults) {
  const TrainingPlan plan = plan_from(plain);
  EXPECT_EQ(plan.framework, "transformers 5.23.0");
  EXPECT_THAT(plan.batch.sequence_length, is_from(512, "block_size at 3:13"));
  EXPECT_THAT(plan.batch.padding_mask, is_from(false, "block_size at 3:13"));
  EXPECT_THAT(plan.precision.weights_dtype,
              is_from(WeightsDType::checkpoint, "default of transformers 5.23.0: PreTrainedModel.from_pretrained"));
  EXPECT_THAT(plan.precision.autocast, is_from(Autocast::none, "default of transformers 5.23.0: TrainingArguments"));
  EXPECT_THAT(plan.checkpointing.on, is_from(false, "default of transformers 5.23.0: TrainingArguments"));
  EXPECT_THAT(plan.recipe.loss, is_from(Loss::full_logits, "default of transformers 5.23.0: ForCausalLMLoss"));
  EXPECT_THAT(plan.recipe.outputs_kept, is_from(false, "default of transformers 5.23.0: Trainer.compute_loss"));
  EXPECT_THAT(plan.recipe.use_cache, is_from(false, "default of transformers 5.23.0: TrainingArguments"));
}

TEST(Hf, PlainTrainerHasNoLengthOfItsOwn) {
  EXPECT_THAT(errors_from("trainer: trainer\nmodel_name_or_path: a\n"),
              ElementsAre("c.yaml: ingest/missing-fact: transformers' Trainer has no sequence length of its own "
                          "(give block_size, max_seq_length or model_max_length, or --set sequence_length=…)"));
  EXPECT_EQ(plan_with("trainer: trainer\nmodel_name_or_path: a\n", {"sequence_length=77"}).batch.sequence_length.value,
            77);
}

TEST(Hf, ModelMaxLengthIsTheLengthOfAlpacasScripts) {
  const TrainingPlan plan = plan_from("model_name_or_path: a\nmodel_max_length: 77\nper_device_train_batch_size: 1\n");
  EXPECT_EQ(plan.framework, "transformers 5.23.0");
  EXPECT_THAT(plan.batch.sequence_length, is_from(77, "model_max_length at 2:19"));
  EXPECT_TRUE(plan.batch.padding_mask.value);
  EXPECT_THAT(errors_from(sft + "model_max_length: 77\n"),
              ElementsAre(HasSubstr("ingest/unused-key: model_max_length")));
}

TEST(Hf, NoLimitIsNoLength) {
  EXPECT_THAT(errors_from(sft + "max_length:\n"),
              ElementsAre("c.yaml: ingest/missing-fact: max_length is null, so rows are as long as the data "
                          "(give max_length, or --set sequence_length=…)"));
}

TEST(Hf, PackedRowsAreOneRow) {
  const std::string packed = sft + "per_device_train_batch_size: 4\nmax_length: 100\npacking: true\n";
  const TrainingPlan plan = plan_from(packed);
  EXPECT_THAT(plan.batch.micro_batch_size, is_from(1, "packing at 5:10"));
  EXPECT_EQ(plan.batch.sequence_length.value, 400);
  EXPECT_EQ(plan.batch.sequence_length.origin.derivation,
            "times the 4 rows of per_device_train_batch_size, packed into one");
  EXPECT_TRUE(plan.batch.padding_mask.value);
  EXPECT_FALSE(plan_from(packed + "attn_implementation: flash_attention_2\n").batch.padding_mask.value);
}

TEST(Hf, APackedSizeOfTheCommandLineStaysVisible) {
  const TrainingPlan plan = plan_with(sft + "packing: true\n", {"per_device_train_batch_size=2"});
  EXPECT_EQ(plan.batch.micro_batch_size.origin.derivation,
            "which packs the 2 rows of --set per_device_train_batch_size=2 into one");
  const std::string huge = "1000000000000";
  EXPECT_EQ(plan_from(sft + "packing: true\nmax_length: " + huge + "\nper_device_train_batch_size: " + huge + "\n")
                .batch.sequence_length.value,
            std::numeric_limits<std::int64_t>::max());
}

TEST(Hf, WrappedRowsStayRows) {
  const TrainingPlan plan =
      plan_from(sft + "per_device_train_batch_size: 4\npacking: true\npacking_strategy: wrapped\n");
  EXPECT_EQ(plan.batch.micro_batch_size.value, 4);
  EXPECT_THAT(plan.batch.padding_mask, is_from(false, "packing at 4:10"));
}

TEST(Hf, OneRowNeedsNoPadding) {
  EXPECT_THAT(plan_from(sft + "per_device_train_batch_size: 1\n").batch.padding_mask,
              is_from(false, "assumed: a batch of one row needs no padding"));
}

TEST(Hf, LengthsArePaddedToTheMultiple) {
  const TrainingPlan plan = plan_from(sft + "max_length: 100\npad_to_multiple_of: 64\n");
  EXPECT_THAT(plan.batch.sequence_length, is_from(128, "max_length at 3:13"));
  EXPECT_EQ(plan.batch.sequence_length.origin.written, "100");
  EXPECT_EQ(plan.batch.sequence_length.origin.derivation, "padded up to a multiple of 64");
  EXPECT_EQ(plan_from(sft + "max_length: 100\npad_to_multiple_of: auto\n").batch.sequence_length.value, 100);
}

TEST(Hf, WhatPadsARowHasNoLabel) {
  const auto labelled = [](const std::string& keys) { return plan_from(sft + keys).batch.completion_length; };
  const std::string padded = "max_length: 100\npad_to_multiple_of: 64\n";
  EXPECT_EQ(labelled(padded).value, 99);
  EXPECT_EQ(labelled("max_length: 128\npad_to_multiple_of: 64\n").value, 0);
  EXPECT_EQ(labelled(padded + "packing: true\n").value, 0);
  EXPECT_EQ(plan_from("trainer: kto\nmodel_name_or_path: a/b\n" + padded).batch.completion_length.value, 99);
}

TEST(Hf, WhatSftLeavesOutOfItsLossIsUnknown) {
  const auto labelled = [](const std::string& keys) {
    return plan_from(sft + "max_length: 100\n" + keys).batch.completion_length;
  };
  const std::string padded = "pad_to_multiple_of: 64\n";
  for (const std::string keys :
       {"assistant_only_loss: true\n", "completion_only_loss: true\npad_to_multiple_of: 64\n"}) {
    EXPECT_EQ(labelled(keys).value, 99) << keys;
    EXPECT_EQ(labelled(keys).origin.kind, Origin::Kind::assumed) << keys;
  }
  EXPECT_EQ(labelled("completion_only_loss: false\n").value, 0);
  EXPECT_NE(labelled(padded).origin.kind, Origin::Kind::assumed);
}

TEST(Hf, PaddingToAMultipleNeedsAMask) {
  const std::string one = sft + "per_device_train_batch_size: 1\npad_to_multiple_of: 64\n";
  EXPECT_THAT(plan_from(one).batch.padding_mask, is_from(true, "pad_to_multiple_of at 4:21"));
  const std::string wrapped = one + "packing: true\npacking_strategy: wrapped\n";
  EXPECT_TRUE(plan_from(wrapped + "max_length: 100\n").batch.padding_mask.value);
  EXPECT_FALSE(plan_from(wrapped + "max_length: 128\n").batch.padding_mask.value);
}

TEST(Hf, PackedRowsArePaddedTogether) {
  const TrainingPlan plan = plan_from(sft +
                                      "max_length: 100\npacking: true\npad_to_multiple_of: 64\n"
                                      "per_device_train_batch_size: 3\nper_device_eval_batch_size: 1\n"
                                      "eval_strategy: epoch\n");
  EXPECT_EQ(plan.batch.sequence_length.value, 320);
  EXPECT_EQ(plan.evaluation.length.value, 128);
}

TEST(Hf, NewNamesWinOverOld) {
  const TrainingPlan plan = plan_from(sft +
                                      "gradient_checkpointing: true\nactivation_checkpointing: false\n"
                                      "gradient_checkpointing_kwargs: {use_reentrant: true}\n");
  EXPECT_THAT(plan.checkpointing.on, is_from(false, "activation_checkpointing at 4:27"));
  EXPECT_THAT(plan.checkpointing.reentrant, is_from(true, "gradient_checkpointing_kwargs.use_reentrant at 5:48"));
}

TEST(Hf, ModelInitKwargsWin) {
  const TrainingPlan plan =
      plan_from(sft + "dtype: float32\nmodel_init_kwargs:\n  dtype: bfloat16\n  attn_implementation: eager\n");
  EXPECT_EQ(plan.precision.weights_dtype.value, WeightsDType::bf16);
  EXPECT_EQ(plan.kernels.attention.value, Attention::eager);
}

TEST(Hf, DtypeNullIsAuto) {
  EXPECT_EQ(plan_from(sft + "dtype:\n").precision.weights_dtype.value, WeightsDType::checkpoint);
}

TEST(Hf, Precision) {
  EXPECT_EQ(plan_from(sft + "fp16: true\n").precision.autocast.value, Autocast::fp16);
  EXPECT_EQ(plan_from(sft + "bf16: false\n").precision.autocast.value, Autocast::none);
  EXPECT_FALSE(plan_from(sft + "bf16: false\n").precision.outputs_to_fp32.value);
  EXPECT_THAT(errors_from(sft + "fp16: true\nbf16: true\n"),
              ElementsAre("c.yaml:3:7: ingest/conflict: fp16 and bf16 are both true: TrainingArguments takes one of "
                          "them"));
}

TEST(Hf, OptimizersByTheirNames) {
  const auto optimizer = [](const std::string& lines) { return plan_from(sft + lines).optimizer.name.value; };
  EXPECT_EQ(optimizer("optim: adamw_torch\n"), "adamw_foreach");
  EXPECT_EQ(optimizer("optim: adamw_bnb_8bit\n"), "adamw_8bit");
  EXPECT_EQ(optimizer("optim: paged_adamw_32bit\n"), "paged_adamw_32bit");
  EXPECT_EQ(optimizer("optim: sgd\n"), "sgd");
  EXPECT_EQ(optimizer("optim: sgd\noptim_args: momentum=0.9\n"), "sgd_momentum");
  EXPECT_EQ(optimizer("optim: sgd\noptim_args: dampening=0, momentum=0.5\n"), "sgd_momentum");
  EXPECT_EQ(optimizer("optim: sgd\noptim_args: momentum=0\n"), "sgd");
  EXPECT_EQ(optimizer("optim: sgd\noptim_args: momentum_dtype=float32\n"), "sgd");
  EXPECT_EQ(optimizer("optim: paged_lion_8bit\n"), "paged_lion_8bit");
  const TrainingPlan galore = plan_from(sft + "optim: galore_adamw\n");
  EXPECT_EQ(galore.optimizer.name.value, "galore_adamw");
  EXPECT_THAT(features(galore), ElementsAre("optim: optimizer galore_adamw"));
  EXPECT_THAT(errors_from(sft + "optim: adamw_tosch\n"),
              ElementsAre("c.yaml:3:8: ingest/bad-value: optim: expected an optimizer that transformers names, found "
                          "\"adamw_tosch\"; did you mean adamw_torch?"));
}

TEST(Hf, ZeroNormClipsNothing) {
  EXPECT_THAT(plan_from(sft + "max_grad_norm: 0.0\n").optimizer.clip_gradients,
              is_from(false, "max_grad_norm at 3:16"));
}

TEST(Hf, ReadsWeightsOf8Bits) {
  const TrainingPlan plan = plan_from(sft + "use_peft: true\nload_in_8bit: true\n");
  EXPECT_THAT(plan.quantization.kind, is_from(Quantization::int8, "load_in_8bit at 4:15"));
  EXPECT_EQ(plan.adapter.dtype.value, AdapterDType::bf16);
  EXPECT_THAT(
      errors_from(sft + "use_peft: true\nload_in_8bit: true\nload_in_4bit: true\n"),
      ElementsAre("c.yaml:5:15: ingest/refused: load_in_4bit: TRL stops at both; one of them quantizes the model"));
}

TEST(Hf, WhatIsNotPlayedIsNamed) {
  const TrainingPlan plan = plan_from(sft +
                                      "deepspeed: ds.json\ntorch_compile: true\n"
                                      "num_generations: 8\nattn_implementation: flex_attention\nloss_type: sigmoid\n"
                                      "gradient_checkpointing_kwargs: {selective: true}\nlora_task_type: SEQ_CLS\n");
  EXPECT_THAT(
      features(plan),
      ElementsAre("torch_compile: torch.compile", "num_generations: preference, RL or distillation training",
                  "attn_implementation: attention implementation", "loss_type: preference or RL training",
                  "gradient_checkpointing_kwargs.selective: selective activation checkpointing",
                  "lora_task_type: LoRA task type", "deepspeed: DeepSpeed, whose file cannot be read from here,"));
}

TEST(Hf, AnotherScriptsKeyTellsWhateverItsValue) {
  const auto one = [](const std::string& line) { return features(plan_from(sft + line)); };
  const auto named = [](const std::string& key) {
    return ElementsAre(key + ": preference, RL or distillation training");
  };
  EXPECT_THAT(one("reward_funcs: [accuracy_reward]\n"), named("reward_funcs"));
  EXPECT_THAT(one("reward_model_name_or_path: a/b\n"), named("reward_model_name_or_path"));
  EXPECT_THAT(one("max_prompt_length: 512\n"), named("max_prompt_length"));
  EXPECT_THAT(one("max_target_length: 0\n"), named("max_target_length"));
  EXPECT_THAT(one("use_vllm: false\n"), named("use_vllm"));
  EXPECT_THAT(one("num_generations: 0\n"), named("num_generations"));
  EXPECT_THAT(one("beta: 0.1\n"), named("beta"));
  EXPECT_THAT(one("beta: 0.0\nuse_vllm:\n"), IsEmpty());
}

TEST(Hf, NoiseIsAddedWhateverItsSize) {
  EXPECT_TRUE(plan_from(sft + "neftune_noise_alpha: 5\n").recipe.neftune.value);
  EXPECT_TRUE(plan_from(sft + "neftune_noise_alpha: 0\n").recipe.neftune.value);
  EXPECT_FALSE(plan_from(sft + "neftune_noise_alpha:\n").recipe.neftune.value);
  EXPECT_FALSE(plan_from(sft).recipe.neftune.value);
}

TEST(Hf, ATemplateOfAnotherTokenizerMayResize) {
  const auto one = [](const std::string& value) { return features(plan_from(sft + "chat_template_path: " + value)); };
  const auto named = ElementsAre(HasSubstr("chat_template_path: a template's tokenizer"));
  EXPECT_THAT(one("Qwen/Qwen3-0.6B\n"), named);
  EXPECT_THAT(one("./template\n"), named);
  EXPECT_THAT(one("template.jinja\n"), IsEmpty());
  EXPECT_THAT(one("templates/chat.j2\n"), IsEmpty());
  EXPECT_THAT(one("\n"), IsEmpty());
}

TEST(Hf, AnotherHeadOrConfigIsAnotherModel) {
  EXPECT_THAT(features(plan_from(plain + "task_name: mrpc\n")), ElementsAre("task_name: a classification head"));
  EXPECT_THAT(features(plan_from(plain + "config_name: b/c\n")), ElementsAre("config_name: a model of another config"));
}

TEST(Hf, WhatIsSwitchedOffIsNot) {
  const TrainingPlan plan = plan_from(
      sft +
      "deepspeed:\nfsdp: []\ntorch_compile: false\nuse_liger_kernel: 'False'\nload_in_8bit: no\n"
      "neftune_noise_alpha: 0\nlora_modules_to_save: []\nparallelism_config: {}\nlabel_smoothing_factor: 0.0\n"
      "loss_type: nll\nlora_task_type: CAUSAL_LM\n");
  EXPECT_THAT(features(plan), IsEmpty());
  EXPECT_THAT(plan.warnings, IsEmpty());
}

TEST(Hf, KeysWithoutEffectAreKnown) {
  const TrainingPlan plan =
      plan_from(sft +
                "learning_rate: 1e-4\nwarmup_steps: 0.1\ndataset_name: x\nlora_alpha: 32\n"
                "env: {A: b}\nreport_to: none\nfsdp_config: {version: 2}\nauto_find_batch_size: true\n"
                "accelerator_config: {split_batches: true}\n");
  EXPECT_THAT(plan.warnings, IsEmpty());
  EXPECT_THAT(features(plan), IsEmpty());
}

TEST(Hf, WhatTransformersNoLongerHasIsRefused) {
  EXPECT_THAT(errors_from(sft + "warmup_ratio: 0.1\nevaluation_strategy:\nmax_length: 8\n"),
              ElementsAre("c.yaml:3:15: ingest/refused: warmup_ratio: transformers 5.23.0 has no such argument; a "
                          "warmup_steps below 1 is the ratio now (transformers before 5.16 has it: --framework "
                          "transformers==… says which runs)",
                          "c.yaml:4:21: ingest/refused: evaluation_strategy: transformers 5.23.0 has no such argument; "
                          "it is eval_strategy now (transformers before 4.51 has it: --framework transformers==… says "
                          "which runs)"));
}

TEST(Hf, WhatTakesMemoryInSomeCompanyIsNamedThere) {
  EXPECT_THAT(features(plan_from(sft + "dataset_kwargs: {skip_prepare_dataset: true}\n")),
              ElementsAre(HasSubstr("dataset_kwargs.skip_prepare_dataset: a dataset whose rows nobody cuts")));
  EXPECT_THAT(features(plan_from(sft + "dataset_kwargs: {skip_prepare_dataset: false}\n")), IsEmpty());
  EXPECT_THAT(features(plan_from(sft + "debug: underflow_overflow\nfull_determinism: true\n")),
              ElementsAre(HasSubstr("debug: the copies"), HasSubstr("full_determinism: deterministic kernels")));
  EXPECT_THAT(features(plan_from(sft + "accelerator_config: accelerate.json\n")),
              ElementsAre(HasSubstr("accelerator_config: accelerate's settings in a file")));
  EXPECT_THAT(features(plan_from(plain + "tokenizer_name: other/one\n")),
              ElementsAre(HasSubstr("tokenizer_name: another tokenizer")));
}

TEST(Hf, AccelerateSetsTheAccumulationWhereItIsOne) {
  const std::string steps = "accelerator_config: {gradient_accumulation_kwargs: {num_steps: 4}}\n";
  EXPECT_EQ(plan_from(sft + steps).batch.gradient_accumulation_steps.value, 4);
  EXPECT_THAT(errors_from(sft + "gradient_accumulation_steps: 2\n" + steps),
              ElementsAre(HasSubstr("refuses num_steps")));
}

// transformers fills use_reentrant in only where nothing else is left of the kwargs; torch then takes true.
TEST(Hf, KwargsWithoutUseReentrantAreReentrant) {
  const auto reentrant = [](const std::string& lines) {
    return plan_from(sft + "activation_checkpointing: true\n" + lines).checkpointing.reentrant.value;
  };
  EXPECT_FALSE(reentrant(""));
  EXPECT_FALSE(reentrant("activation_checkpointing_kwargs: {}\n"));
  EXPECT_FALSE(reentrant("activation_checkpointing_kwargs: {every_n_layers: 1}\n"));
  EXPECT_TRUE(reentrant("activation_checkpointing_kwargs: {early_stop: true}\n"));
  EXPECT_TRUE(reentrant("activation_checkpointing_kwargs: {use_reentrant: }\n"));
  EXPECT_TRUE(reentrant("gradient_checkpointing_kwargs: {preserve_rng_state: false}\n"));
  EXPECT_FALSE(reentrant("gradient_checkpointing_kwargs: {use_reentrant: false, early_stop: true}\n"));
  EXPECT_FALSE(
      reentrant("activation_checkpointing_kwargs: {use_reentrant: false}\n"
                "gradient_checkpointing_kwargs: {use_reentrant: true}\n"));
  EXPECT_TRUE(reentrant("activation_checkpointing_kwargs:\ngradient_checkpointing_kwargs: {use_reentrant: true}\n"));
}

TEST(Hf, TrlsValuesAreWhatArgparseMakesOfThem) {
  EXPECT_EQ(plan_from(sft + "per_device_train_batch_size: '4'\n").batch.micro_batch_size.value, 4);
  EXPECT_THAT(errors_from(sft + "per_device_train_batch_size: 4.0\n"), ElementsAre(HasSubstr("a positive integer")));
  EXPECT_EQ(plan_from(sft + "bf16: 'false'\n").precision.autocast.value, Autocast::none);
  EXPECT_EQ(plan_from(sft + "bf16: 'T'\n").precision.autocast.value, Autocast::bf16);
  EXPECT_EQ(plan_from(sft + "bf16: 1\n").precision.autocast.value, Autocast::bf16);
  EXPECT_THAT(errors_from(sft + "bf16: 'on'\n"), ElementsAre(HasSubstr("bf16: expected true or false, found \"on\"")));
  EXPECT_THAT(errors_from(sft + "activation_checkpointing_kwargs: {use_reentrant: 'false'}\n"),
              ElementsAre(HasSubstr("without quotes")));
}

TEST(Hf, APlainTrainerTakesTextsAsTheyAre) {
  EXPECT_THAT(errors_from(plain + "bf16: 'false'\n"),
              ElementsAre(HasSubstr("bf16: expected true or false, without quotes: transformers' parse_yaml_file and "
                                    "parse_json_file pass a text on as it is, found \"false\"")));
  EXPECT_THAT(errors_from(plain + "per_device_train_batch_size: '4'\n"), ElementsAre(HasSubstr("without quotes")));
  EXPECT_EQ(plan_from(plain + "bf16: 'true'\n").precision.autocast.value, Autocast::bf16);
}

TEST(Hf, KeysOfEvaluationAreReadAsAllOthers) {
  EXPECT_THAT(errors_from(sft + "eval_strategy: no\n"),
              ElementsAre("c.yaml:3:16: ingest/bad-value: eval_strategy: YAML reads no as true or false, which "
                          "transformers refuses; it takes the text \"no\" (put it in quotes)"));
  EXPECT_THAT(errors_from(sft + "eval_strategy: step\n"),
              ElementsAre("c.yaml:3:16: ingest/bad-value: eval_strategy: expected one of \"no\", steps, epoch, found "
                          "\"step\"; did you mean steps?"));
  EXPECT_THAT(errors_from(sft + "eval_strategy: Steps\n"), ElementsAre(HasSubstr("expected one of \"no\", steps")));
  EXPECT_THAT(errors_from(sft + "eval_strategy:\n"), ElementsAre(HasSubstr("eval_strategy: transformers 5.23.0 refuses "
                                                                           "null")));
  EXPECT_FALSE(plan_with(sft, {"eval_strategy=no"}).evaluation.evaluates.value) << "a command line's text";
  EXPECT_THAT(errors_from(sft + "per_device_eval_batch_size: many\n"), ElementsAre(HasSubstr("a positive integer")));
  EXPECT_THAT(errors_from(sft + "per_device_eval_batch_size: 0\n"), ElementsAre(HasSubstr("a positive integer")));
  EXPECT_EQ(plan_from(sft + "eval_strategy: steps\nper_device_eval_batch_size: '4'\n").evaluation.rows.value, 4);
  EXPECT_THAT(errors_from(plain + "eval_strategy: steps\nper_device_eval_batch_size: '4'\n"),
              ElementsAre(HasSubstr("without quotes")));
  EXPECT_THAT(errors_from(plain + "do_eval: 'false'\n"), ElementsAre(HasSubstr("without quotes")));
  EXPECT_THAT(errors_from(sft + "save_strategy: always\n"), ElementsAre(HasSubstr("epoch, best, found \"always\"")));
}

TEST(Hf, WandbsCopiesCountWhereTheEnvironmentAsksForThem) {
  const auto one = [](const std::string& lines) { return features(plan_from(sft + lines)); };
  const std::string watched = "env: {WANDB_WATCH: all}\n";
  EXPECT_THAT(one(watched + "report_to: wandb\n"), ElementsAre(HasSubstr("env: wandb's copies of parameters")));
  EXPECT_THAT(one(watched + "report_to: [tensorboard, wandb]\n"), ElementsAre(HasSubstr("wandb's copies")));
  EXPECT_THAT(one(watched + "report_to: all\n"), ElementsAre(HasSubstr("wandb's copies")));
  EXPECT_THAT(one(watched + "report_to: tensorboard\n"), IsEmpty());
  EXPECT_THAT(one(watched), IsEmpty()) << "report_to is none where nothing is said";
  EXPECT_THAT(one("env: {WANDB_WATCH: gradients}\nreport_to: wandb\n"), ElementsAre(HasSubstr("of gradients")));
  EXPECT_THAT(one("env: {WANDB_WATCH: gradients}\nreport_to: wandb\nuse_peft: true\n"), IsEmpty());
  EXPECT_THAT(one("env: {WANDB_WATCH: 'false'}\nreport_to: wandb\n"), IsEmpty());
}

TEST(Hf, OldNamesAreReadWhereAScriptMayHaveThem) {
  const TrainingPlan plan =
      plan_from("trainer: trainer\nmodel_name_or_path: a\ntorch_dtype: bfloat16\nmax_seq_length: 300\n");
  EXPECT_EQ(plan.precision.weights_dtype.value, WeightsDType::bf16);
  EXPECT_EQ(plan.batch.sequence_length.value, 300);
  EXPECT_THAT(said(plan.warnings), Contains(HasSubstr("ingest/renamed-key: torch_dtype is now called dtype; read as "
                                                      "that")));
}

TEST(Hf, TrlHasNoOldNames) {
  IngestOptions newest;
  newest.versions = {{"trl", "1.16.0", {}, true}};
  EXPECT_THAT(
      errors_from("trainer: sft\nmodel_name_or_path: a\nmax_seq_length: 300\ntorch_dtype: bfloat16\n", newest),
      ElementsAre("c.yaml:3:17: ingest/refused: max_seq_length: trl 1.16.0 has no such argument; it is max_length now "
                  "(trl before 0.20 has it: --framework trl==… says which runs)",
                  "c.yaml:4:14: ingest/refused: torch_dtype: trl 1.16.0 has no such argument; it is dtype now (trl "
                  "before 0.27 has it: --framework trl==… says which runs)"));
  EXPECT_THAT(errors_from("model_name_or_path: a\nmax_seq_length: 300\n", newest),
              ElementsAre(AllOf(HasSubstr("it is max_length now"), HasSubstr("--trainer trainer, if a script"))));
  EXPECT_THAT(errors_from(plain + "per_gpu_train_batch_size: 4\n"),
              ElementsAre(HasSubstr("it is per_device_train_batch_size now")));
}

TEST(Hf, RefusesWhatTrlRefuses) {
  EXPECT_THAT(errors_from(sft + "use_peft: true\nload_in_4bit: true\ndtype: auto\n"),
              ElementsAre("c.yaml:5:8: ingest/conflict: dtype: auto cannot be bitsandbytes' compute dtype: with "
                          "load_in_4bit, name one (bfloat16)"));
  EXPECT_THAT(errors_from(sft + "padding_free: true\n"),
              Contains(HasSubstr("ingest/conflict: TRL's SFTTrainer refuses padding_free")));
  EXPECT_THAT(errors_from(sft + "packing: true\nmax_length:\n"), Contains(HasSubstr("SFTTrainer refuses packing")));
  EXPECT_THAT(errors_from(sft + "use_peft: true\nlora_target_modules: [q_proj, lm_head]\n"),
              ElementsAre(HasSubstr("ingest/conflict: TRL SFT refuses LoRA on lm_head")));
  EXPECT_TRUE(ingest(yaml(sft + "lora_target_modules: [lm_head]\n")).ok()) << "without use_peft no adapter is made";
  EXPECT_THAT(errors_from(sft + "load_best_model_at_end: true\neval_strategy: epoch\n"),
              ElementsAre(HasSubstr("eval_strategy (epoch) is not save_strategy (steps)")));
  EXPECT_THAT(errors_from(sft + "lr_scheduler_type: reduce_lr_on_plateau\n"),
              ElementsAre(HasSubstr("refuses reduce_lr_on_plateau without an eval_strategy")));
  EXPECT_THAT(errors_from(sft + "load_in_4bit: true\n"),
              ElementsAre(HasSubstr("quantized weights cannot be trained without an adapter")));
}

TEST(Hf, MappingsAreMappings) {
  EXPECT_THAT(errors_from(sft + "gradient_checkpointing_kwargs: reentrant\n"),
              ElementsAre("c.yaml:3:32: ingest/bad-value: gradient_checkpointing_kwargs: expected a mapping, found "
                          "\"reentrant\""));
  // from_pretrained takes any key of config.json.
  EXPECT_THAT(features(plan_from(sft + "model_init_kwargs: {num_hidden_layers: 2}\n")),
              ElementsAre("model_init_kwargs.num_hidden_layers: a model that is loaded otherwise"));
  EXPECT_THAT(features(plan_from(sft + "model_init_kwargs: {revision: main}\n")), IsEmpty());
}

TEST(Hf, TargetsByPatternArePlayedWhereItIsRead) {
  EXPECT_THAT(features(plan_from(sft + "use_peft: true\nlora_target_modules: '.*proj'\n")), IsEmpty());
  EXPECT_THAT(features(plan_from(sft + "use_peft: true\nlora_target_modules: '(?=q).*proj'\n")),
              ElementsAre("lora_targets: LoRA targets by a regular expression"));
  EXPECT_THAT(features(plan_from(sft + "use_peft: true\nlora_target_modules: all-linear\n")), IsEmpty());
}

TEST(Hf, WritesTheStyleThatThePlanNeeds) {
  EXPECT_THAT(write_plan(plan_from(sft), "hf"), HasSubstr("trainer: sft\n"));
  EXPECT_THAT(write_plan(plan_from(plain), "hf"), HasSubstr("trainer: trainer\n"));
}

}  // namespace
}  // namespace oomplan
