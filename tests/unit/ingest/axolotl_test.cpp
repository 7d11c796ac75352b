// Axolotl's dialect.
#include <fstream>
#include <iterator>
#include <tuple>

#include "from_text.hpp"
#include "oomplan/catalog/architecture.hpp"
#include "project.hpp"

namespace oomplan {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string full = "base_model: a/b\nmicro_batch_size: 2\ngradient_accumulation_steps: 4\n";
const std::string off = "lora_qkv_kernel: false\nlora_o_kernel: false\nlora_mlp_kernel: false\n";
const std::string qlora = full + "adapter: qlora\nload_in_4bit: true\nlora_r: 16\nlora_target_linear: true\n" + off;

TEST(Axolotl, AKeyThatMovesNothingLeavesItsNameToTheFact) {
  EXPECT_EQ(plan_with(full, {"world_size=2"}).mesh.world_size.value, 2);
  EXPECT_FALSE(plan_from(full + "world_size: 2\n").mesh.world_size.origin.is_said());
}

TEST(Axolotl, Defaults) {
  const TrainingPlan plan = plan_from(full + "attn_implementation: flash_attention_2\n");
  EXPECT_EQ(plan.dialect, "axolotl");
  EXPECT_EQ(plan.framework, "axolotl 0.18.0 on transformers 5.14.1");
  EXPECT_THAT(plan.batch.sequence_length, is_from(512, "default of axolotl 0.18.0: AxolotlInputConfig"));
  EXPECT_THAT(plan.precision.weights_dtype,
              is_from(WeightsDType::bf16, "default of axolotl 0.18.0: bf16: auto, on a GPU that has it"));
  EXPECT_EQ(plan.precision.autocast.value, Autocast::bf16);
  EXPECT_THAT(plan.adapter.kind, is_from(Adapter::none, "default of axolotl 0.18.0: AxolotlInputConfig"));
  EXPECT_THAT(plan.optimizer.name, is_from("adamw_fused", "default of axolotl 0.18.0: AxolotlInputConfig"));
  EXPECT_THAT(plan.optimizer.clip_gradients, is_from(true, "default of transformers 5.14.1: Trainer"));
  EXPECT_THAT(plan.checkpointing.on, is_from(false, "default of axolotl 0.18.0: AxolotlInputConfig"));
  EXPECT_THAT(plan.checkpointing.reentrant, is_from(true, "default of axolotl 0.18.0: normalize_config"));
  EXPECT_THAT(plan.recipe.loss, is_from(Loss::full_logits, "default of transformers 5.14.1: Trainer.compute_loss"));
  EXPECT_THAT(plan.recipe.outputs_kept, is_from(false, "default of transformers 5.14.1: Trainer.compute_loss"));
  EXPECT_THAT(plan.precision.outputs_to_fp32, is_from(true, "default of accelerate 1.13.0: prepare_model"));
  EXPECT_THAT(plan.recipe.use_cache, is_from(false, "default of axolotl 0.18.0: check_model_config"));
  EXPECT_THAT(plan.batch.padding_mask, is_from(true, "assumed: some row is shorter than sequence_len and is padded"));
  EXPECT_THAT(features(plan), IsEmpty());
}

TEST(Axolotl, KeysOfEvaluationAreReadAsAllOthers) {
  const std::string rows = full + "val_set_size: 0.1\n";
  EXPECT_TRUE(plan_from(rows + "eval_steps: '10'\n").evaluation.evaluates.value) << "pydantic takes it for a number";
  EXPECT_FALSE(plan_from(rows + "evaluation_strategy: steps\n").evaluation.evaluates.value)
      << "Axolotl reads nothing from it";
  EXPECT_FALSE(plan_from(rows + "evals_per_epoch: 1\n").evaluation.evaluates.value) << "not less than the whole run";
  EXPECT_TRUE(plan_from(rows + "evals_per_epoch: 1\nnum_epochs: 2\n").evaluation.evaluates.value);
  EXPECT_THAT(errors_from(rows + "eval_strategy: sometimes\n"), ElementsAre(HasSubstr("expected one of \"no\"")));
  EXPECT_THAT(errors_from(rows + "eval_batch_size: many\n"), ElementsAre(HasSubstr("a positive integer")));
  EXPECT_THAT(errors_from(rows + "eval_sample_packing: perhaps\n"), ElementsAre(HasSubstr("true or false")));
  EXPECT_THAT(errors_from(full + "val_set_size: some\n"), ElementsAre(HasSubstr("val_set_size: expected a number")));
}

TEST(Axolotl, ItsOwnKeysSayWhichTrainerRuns) {
  const auto with = [](const std::string& text, const std::string& trainer) {
    return ingest(yaml(text), {.trainer = trainer, .trainer_said = "--trainer " + trainer});
  };
  EXPECT_TRUE(with(full, "trainer").ok());
  EXPECT_THAT(said(with(full, "sft").errors()),
              ElementsAre("--trainer sft: ingest/conflict: axolotl's own keys say which trainer reads this config: "
                          "transformers' Trainer (trainer) (leave --trainer sft out, or change the config)"));
  EXPECT_THAT(said(with(full + "rl: dpo\n", "sft").errors()), Contains(HasSubstr("TRL DPO (dpo)")));
  EXPECT_THAT(said(ingest(yaml(full), {.overrides = {"trainer=sft"}}).errors()),
              ElementsAre(HasSubstr("leave --set trainer=sft out")));
}

struct PrecisionCase {
  std::string lines{};
  WeightsDType weights = WeightsDType::fp32;
  Autocast autocast = Autocast::none;
};

// The gradient scaler refuses gradients in fp16, so that fp16 weights are frozen ones.
const std::string lora_of = "adapter: lora\nlora_r: 8\nlora_target_linear: true\n";

// resolve_dtype, row by row.
TEST(Axolotl, Precision) {
  const std::vector<PrecisionCase> cases{
      {"", WeightsDType::bf16, Autocast::bf16},
      {"bf16: auto\n", WeightsDType::bf16, Autocast::bf16},
      {"bf16: true\nfp16: true\n", WeightsDType::bf16, Autocast::bf16},
      {"fp16: true\n" + lora_of, WeightsDType::fp16, Autocast::fp16},
      {"bf16: auto\nfp16: true\n" + lora_of, WeightsDType::fp16, Autocast::fp16},
      {"bf16: false\nbfloat16: true\n", WeightsDType::bf16, Autocast::bf16},
      {"bf16: false\nfloat16: true\n", WeightsDType::fp16, Autocast::none},
      {"bf16: auto\nfloat16: true\n", WeightsDType::bf16, Autocast::bf16},
      {"bf16: false\n", WeightsDType::fp32, Autocast::none},
      {"bf16:\n", WeightsDType::fp32, Autocast::none},
      {"bf16:\nfp16: true\n" + lora_of, WeightsDType::fp16, Autocast::fp16},
  };
  for (const PrecisionCase& one : cases) {
    const TrainingPlan plan = plan_from(full + one.lines);
    EXPECT_EQ(plan.precision.weights_dtype.value, one.weights) << one.lines;
    EXPECT_EQ(plan.precision.autocast.value, one.autocast) << one.lines;
  }
  EXPECT_THAT(errors_from(full + "bf16: full\n"),
              ElementsAre("c.yaml:4:7: ingest/bad-value: bf16: expected auto, true or false, found \"full\""));
}

// ValueError: Attempting to unscale FP16 gradients.
TEST(Axolotl, NothingInFp16IsTrainedUnderTheGradientScaler) {
  const auto refused = [](const std::string& lines) { return errors_from(full + "fp16: true\n" + lines); };
  EXPECT_THAT(refused(""), ElementsAre(HasSubstr("fp16 weights cannot be trained")));
  EXPECT_THAT(refused(lora_of + "lora_modules_to_save: [norm]\n"), ElementsAre(HasSubstr("copies of modules in fp16")));
  EXPECT_THAT(refused(lora_of + "peft_autocast_adapter_dtype: false\n"), ElementsAre(HasSubstr("adapters in fp16")));
  EXPECT_THAT(errors_from(full + "bf16: true\n" + lora_of + "lora_modules_to_save: [norm]\n"), IsEmpty());
  EXPECT_THAT(errors_from(full + "bf16: true\n" + lora_of + "peft_autocast_adapter_dtype: false\n"), IsEmpty());
}

// utils/schemas/config.py: check_auto_enable_lora_kernels; monkeypatch/lora_kernels.py: patch_self_attn_lora.
TEST(Axolotl, LoraKernelsStopAtAttentionThatTheyCannotRewrite) {
  const auto refused = [](const std::string& lines, const std::string& type) {
    Architecture model;
    model.model_type = type;
    const Result<TrainingPlan> plan = with_model_defaults(plan_from(full + lines), model);
    return plan.ok() ? std::vector<std::string>{} : said(plan.errors());
  };
  const std::string some = "adapter: lora\nlora_r: 8\nlora_target_modules: [q_proj]\n";
  EXPECT_THAT(refused(lora_of, "phi3"), ElementsAre(HasSubstr("on where nothing is said of LoRA's kernels")));
  EXPECT_THAT(refused(some, "olmo2"), ElementsAre(HasSubstr("ingest/refused")));
  EXPECT_THAT(refused(lora_of + "lora_o_kernel: true\n", "phi3"), ElementsAre(HasSubstr("ingest/refused")));
  EXPECT_THAT(refused(lora_of + "lora_mlp_kernel: true\n", "phi3"), IsEmpty());
  EXPECT_THAT(refused(lora_of, "llama"), IsEmpty());
  EXPECT_THAT(refused("", "phi3"), IsEmpty());
}

TEST(Axolotl, NormsStayFp32WithoutFlashAttentionAndAdapter) {
  EXPECT_TRUE(plan_from(full).precision.fp32_norms.value);
  EXPECT_TRUE(plan_from(full + "sdp_attention: true\n").precision.fp32_norms.value);
  EXPECT_FALSE(plan_from(full + "flash_attention: true\n").precision.fp32_norms.value);
  EXPECT_FALSE(plan_from(full + "bf16: false\n").precision.fp32_norms.value);
}

TEST(Axolotl, EmbeddingsGoThroughFp32WhereTheyDoNotStayThere) {
  const auto through = [](const std::string& lines) {
    return plan_from(full + "lora_r: 8\nlora_target_linear: true\n" + lines).precision.fp32_while_loading.value;
  };
  EXPECT_FALSE(through(""));
  EXPECT_TRUE(through("flash_attention: true\n"));
  EXPECT_FALSE(through("flash_attention: true\nbf16: false\n"));
  EXPECT_TRUE(through("adapter: lora\nembeddings_skip_upcast: true\n"));
  EXPECT_TRUE(through("adapter: qlora\nload_in_4bit: true\n"));
  EXPECT_FALSE(through("adapter: qlora\nload_in_4bit: true\nembeddings_skip_upcast: true\n"));
}

TEST(Axolotl, LengthsArePaddedTo64) {
  EXPECT_EQ(plan_from(full + "sequence_len: 2000\n").batch.sequence_length.value, 2048);
  EXPECT_EQ(plan_from(full + "sequence_len: 2000\npad_to_sequence_len: false\n").batch.sequence_length.value, 2000);
  EXPECT_EQ(plan_from(full + "sequence_len: 2000\npad_to_multiple_of: 1000\n").batch.sequence_length.value, 2000);
}

TEST(Axolotl, FlashAttentionPacksIntoOneRow) {
  const std::string packed = full + "sequence_len: 1024\nsample_packing: true\n";
  const TrainingPlan flash = plan_from(packed + "flash_attention: true\n");
  EXPECT_THAT(flash.batch.micro_batch_size, is_from(1, "sample_packing at 5:17"));
  EXPECT_EQ(flash.batch.sequence_length.value, 2048);
  EXPECT_EQ(flash.batch.sequence_length.origin.derivation, "times the 2 rows of micro_batch_size, packed into one");
  EXPECT_EQ(flash.batch.micro_batch_size.origin.derivation, "which packs the 2 rows of micro_batch_size into one");
  EXPECT_EQ(flash.batch.padding_mask.origin.derivation, "whose rows need no mask");
  EXPECT_FALSE(flash.batch.padding_mask.value);
  EXPECT_FALSE(flash.batch.mask_sent.value);
  EXPECT_TRUE(plan_from(full).batch.mask_sent.value);
  const TrainingPlan rows = plan_from(packed + "flash_attention: true\nmultipack_real_batches: true\n");
  EXPECT_EQ(rows.batch.micro_batch_size.value, 2);
  EXPECT_EQ(rows.batch.sequence_length.value, 1024);
}

TEST(Axolotl, OtherAttentionPacksIntoRows) {
  const std::string packed = full + "sequence_len: 1024\nsample_packing: true\n";
  const auto masked = [&](const std::string& lines) { return plan_from(packed + lines).batch.padding_mask.value; };
  EXPECT_EQ(plan_from(packed).batch.micro_batch_size.value, 2);
  EXPECT_TRUE(masked(""));
  EXPECT_FALSE(masked("attn_implementation: sdpa\n"));
  EXPECT_TRUE(masked("attn_implementation: sdpa\nsdpa_varlen: false\n"));
  EXPECT_TRUE(masked("eager_attention: true\n"));
}

TEST(Axolotl, LoraKernelsAreOnUnlessSomethingIsSaid) {
  const std::string lora = full + "adapter: lora\nlora_r: 8\n";
  const auto kernels = [&](const std::string& lines) {
    const TrainingPlan plan = plan_from(lora + lines);
    return std::vector{plan.kernels.lora_qkv.value, plan.kernels.lora_o.value, plan.kernels.lora_mlp.value};
  };
  EXPECT_THAT(kernels("lora_target_linear: true\n"), ElementsAre(true, true, true));
  EXPECT_THAT(kernels("lora_target_modules: [q_proj, v_proj, o_proj]\n"), ElementsAre(false, true, false));
  EXPECT_THAT(kernels("lora_target_linear: true\nlora_mlp_kernel: true\n"), ElementsAre(false, false, true));
  EXPECT_THAT(kernels("lora_target_linear: true\nlora_embedding_kernel: false\n"), ElementsAre(false, false, false));
  EXPECT_THAT(kernels("lora_target_linear: true\ntrust_remote_code: true\n"), ElementsAre(false, false, false));
  EXPECT_THAT(kernels("lora_target_linear: true\nload_in_8bit: true\n"), ElementsAre(false, false, false));
  EXPECT_THAT(kernels("lora_target_linear: true\nrl: dpo\n"), ElementsAre(false, false, false));
  EXPECT_THAT(features(plan_from(lora + "lora_target_modules: [o_proj]\n")), IsEmpty());
}

TEST(Axolotl, CutCrossEntropyComesWithItsPlugin) {
  const std::string plugin =
      full + "flash_attention: true\nplugins: [axolotl.integrations.cut_cross_entropy.CutCrossEntropyPlugin]\n";
  const auto loss = [](const std::string& text) { return plan_from(text).recipe.loss.value; };
  EXPECT_THAT(features(plan_from(plugin)), IsEmpty());
  EXPECT_EQ(loss(plugin), Loss::cut_cross_entropy);
  EXPECT_EQ(loss(plugin + "cut_cross_entropy: false\n"), Loss::full_logits);
  EXPECT_EQ(loss(plugin + "cut_cross_entropy:\n"), Loss::full_logits);
  EXPECT_THAT(features(plan_from(full + "flash_attention: true\nplugins: [x.y.NotCutCrossEntropyPlugin]\n")),
              ElementsAre("plugins: plugin"));
  EXPECT_EQ(loss(full + "flash_attention: true\ncut_cross_entropy: true\n"), Loss::full_logits);
}

TEST(Axolotl, LigersKeysNeedItsPlugin) {
  const std::string keys = full + "flash_attention: true\nliger_rope: true\nliger_fused_linear_cross_entropy: true\n";
  const std::string plugin = "plugins:\n  - axolotl.integrations.liger.LigerPlugin\n";
  const auto parts = [](const TrainingPlan& plan) {
    const KernelFacts& k = plan.kernels;
    return std::tuple(k.liger_rms_norm.value, k.liger_rope.value, k.liger_glu.value, plan.recipe.loss.value);
  };
  EXPECT_THAT(features(plan_from(keys)), IsEmpty());
  EXPECT_EQ(parts(plan_from(keys)), std::tuple(false, false, false, Loss::full_logits));
  EXPECT_EQ(parts(plan_from(keys + plugin)), std::tuple(false, true, false, Loss::liger_0_8_0_fused_linear));
  EXPECT_EQ(parts(plan_from(full + "liger_swiglu: true\n" + plugin)),
            std::tuple(false, false, true, Loss::full_logits));
  EXPECT_THAT(features(plan_from(keys + plugin + "liger_cross_entropy: true\n")),
              ElementsAre("liger_cross_entropy: liger cross entropy"));
  EXPECT_THAT(features(plan_from(full + "flash_attention: true\nplugins: [my.own.Plugin]\n")),
              ElementsAre("plugins: plugin"));
  EXPECT_THAT(features(plan_from(full + "flash_attention: true\nplugins: [oomplan.axolotl.OomplanPlugin]\n")),
              IsEmpty());
}

// core/trainers/mixins/activation_checkpointing.py, loaders/model.py
TEST(Axolotl, OffloadsWhatCheckpointsKeepOrAnAdapterTrains) {
  const auto of = [](const std::string& keys) {
    return plan_from(full + "flash_attention: true\n" + keys).checkpointing;
  };
  const CheckpointingFacts whole = of("gradient_checkpointing: true\nactivation_offloading: true\n");
  EXPECT_EQ(whole.offload.value, Offload::streamed_clones);
  EXPECT_TRUE(whole.on.value && whole.wrapped.value && !whole.reentrant.value);
  EXPECT_EQ(of("gradient_checkpointing: offload\n").offload.value, Offload::streamed_clones);
  EXPECT_EQ(of("gradient_checkpointing: true\nactivation_offloading: legacy\n").offload.value, Offload::synchronous);
  EXPECT_EQ(of("gradient_checkpointing: true\nactivation_offloading: false\n").offload.value, Offload::none);
  const CheckpointingFacts adapted =
      of("adapter: lora\nlora_r: 8\nlora_target_linear: true\ngradient_checkpointing: true\nactivation_offloading: "
         "true\n");
  EXPECT_TRUE(adapted.on.value && adapted.reentrant.value && !adapted.wrapped.value);
}

TEST(Axolotl, WhatIsNotPlayedIsNamed) {
  const auto one = [](const std::string& line) { return features(plan_from(full + "flash_attention: true\n" + line)); };
  EXPECT_THAT(one("deepspeed: ds.json\n"), ElementsAre("deepspeed: DeepSpeed, whose file cannot be read from here,"));
  EXPECT_THAT(one("gradient_checkpointing: true\nactivation_offloading: hidden_states\n"),
              ElementsAre("activation_offloading: activation offloading of checkpoints alone"));
  EXPECT_THAT(one("context_parallel_size: 2\n"), ElementsAre("context_parallel_size: context parallel"));
  EXPECT_THAT(one("optimizer: dion\n"), ElementsAre("optimizer: optimizer dion"));
  EXPECT_THAT(one("optimizer: muon\n"), ElementsAre());
  EXPECT_EQ(plan_from(full + "optimizer: muon\n").optimizer.name.value, "axolotl_muon");
  EXPECT_THAT(one("torch_compile: auto\n"), ElementsAre("torch_compile: torch.compile"));
  EXPECT_THAT(one("rl: grpo\n"), ElementsAre("rl: reinforcement/preference training (rl)"));
  EXPECT_THAT(one("rl: dpo\ndpo_loss_type: [sigmoid, sft]\n"),
              ElementsAre("dpo_loss_type: the chosen rows' cross entropy in DPO's loss"));
  EXPECT_THAT(one("rl: simpo\n"), ElementsAre(HasSubstr("for which Axolotl loads a reference that nobody takes")));
  EXPECT_THAT(one("adapter: llama-adapter\n"), ElementsAre("adapter: adapter"));
  EXPECT_THAT(one("model_type: AutoModelForSequenceClassification\n"), ElementsAre("model_type: model class"));
  EXPECT_THAT(one("model_config: {num_hidden_layers: 2}\n"), ElementsAre());
  EXPECT_THAT(one("model_config: {hidden_size: 2}\n"), ElementsAre("model_config: overridden model config"));
  EXPECT_THAT(one("optim_args: {rank: 8}\n"), ElementsAre("optim_args: optimizer arguments"));
  EXPECT_THAT(one("peft: {loftq_config: {loftq_bits: 4}}\n"), ElementsAre("peft: LoftQ"));
  EXPECT_THAT(one("device_map: sequential\n"), ElementsAre("device_map: device map"));
  EXPECT_THAT(one("ddp: true\n"), ElementsAre("ddp: distributed data parallel"));
  EXPECT_THAT(one("skip_prepare_dataset: true\n"),
              ElementsAre("skip_prepare_dataset: a dataset whose rows nobody cuts to sequence_len"));
  EXPECT_THAT(one("use_ray: true\nray_num_workers: 4\n"), ElementsAre("use_ray: data parallel on Ray's workers"));
  EXPECT_THAT(one("wandb_watch: gradients\nwandb_project: x\n"),
              ElementsAre("wandb_watch: wandb's copies of gradients"));
  EXPECT_THAT(one("reinit_weights: true\n"), ElementsAre(HasSubstr("reinit_weights: a model of random weights")));
  EXPECT_THAT(one("tokenizer_config: b/c\n"), ElementsAre(HasSubstr("tokenizer_config: another tokenizer")));
  EXPECT_THAT(one("kd_trainer: true\nplugins: [axolotl.integrations.kd.KDPlugin]\n"),
              ElementsAre("kd_trainer: knowledge distillation", "plugins: plugin"));
}

// Each of them asks for nothing here: the schema drops it, it is overwritten, or what it needs beside it is not there.
TEST(Axolotl, WhatChangesNoMemoryIsAnswered) {
  for (const char* line : {"world_size: 2",
                           "tokens: ['<a>']",
                           "orpo_alpha: 0.1",
                           "resize_token_embeddings_to_32x: true",
                           "num_labels: 2",
                           "image_size: 448",
                           "lisa_n_layers: 2",
                           "llama4_linearized_experts: true",
                           "auto_find_batch_size: true",
                           "kd_trainer: true",
                           "use_scattermoe: true",
                           "grokfast_alpha: 0.9",
                           "spectrum_top_fraction: 0.5",
                           "expert_parallel_size: 2",
                           "dense_mixer: true",
                           "diffusion: {}",
                           "llmcompressor: {}",
                           "hatchery: {}",
                           "use_ray: true",
                           "ray_num_workers: 4",
                           "wandb_watch: all",
                           "wandb_watch: false\nwandb_project: x",
                           "lora_model_dir: x",
                           "tokenizer_config: a/b",
                           "peft_init_lora_weights: gaussian",
                           "skip_prepare_dataset: false"}) {
    const TrainingPlan plan = plan_from(full + "flash_attention: true\n" + line + "\n");
    EXPECT_THAT(features(plan), IsEmpty()) << line;
    EXPECT_THAT(plan.warnings, IsEmpty()) << line;
  }
}

TEST(Axolotl, WhatItRefusesIsRefused) {
  const auto one = [](const std::string& lines) { return errors_from(full + "flash_attention: true\n" + lines); };
  EXPECT_THAT(one("rope_scaling: {type: linear}\n"),
              ElementsAre("c.yaml:5:15: ingest/refused: rope_scaling: axolotl 0.18.0 no longer takes it; it belongs "
                          "under overrides_of_model_config"));
  EXPECT_THAT(one("warmup_ratio: 0.1\nwarmup_steps: 5\n"),
              ElementsAre("c.yaml:5:15: ingest/refused: warmup_ratio: axolotl 0.18.0 refuses it beside warmup_steps"));
  EXPECT_THAT(one("warmup_ratio: 0.1\nwarmup_steps: 0\n"), IsEmpty());
  EXPECT_THAT(one("dpo_norm_loss: false\n"), ElementsAre(HasSubstr("dpo_norm_loss: axolotl 0.18.0 no longer")));
  EXPECT_THAT(one("unsloth_rope: false\ndpo_norm_loss:\nrope_scaling: {}\n"), IsEmpty());
  EXPECT_THAT(one("early_stopping_patience: 3\nsave_steps: 10\n"),
              ElementsAre(HasSubstr("wants eval_steps beside it")));
  EXPECT_THAT(one("chat_template: jinja\n"), ElementsAre(HasSubstr("wants chat_template_jinja")));
  EXPECT_THAT(one("streaming: true\n"), ElementsAre(HasSubstr("wants max_steps")));
  EXPECT_THAT(one("save_safetensors: false\n"), ElementsAre(HasSubstr("takes only true")));
  EXPECT_THAT(one("adapter: qlora\nlora_r: 8\nlora_target_linear: true\nload_in_4bit: true\n"
                  "peft_init_lora_weights: pissa_niter_16\n"),
              ElementsAre(HasSubstr("peft 0.19.1 cannot decompose 4-bit weights")));
}

TEST(Axolotl, ASavedAdapterGoverns) {
  const std::string lora = full + "flash_attention: true\nadapter: lora\nlora_r: 8\nlora_target_linear: true\n";
  EXPECT_THAT(features(plan_from(lora + "lora_model_dir: x\n")),
              ElementsAre(HasSubstr("lora_model_dir: a saved adapter")));
}

TEST(Axolotl, AccelerateSetsTheAccumulationWhereItIsOne) {
  const std::string steps = "accelerator_config: {gradient_accumulation_kwargs: {num_steps: 4}}\n";
  const std::string one = "base_model: a\nmicro_batch_size: 2\nflash_attention: true\n";
  const auto plan = plan_from(one + "gradient_accumulation_steps: 1\n" + steps);
  EXPECT_THAT(plan.batch.gradient_accumulation_steps,
              is_from(4, "accelerator_config.gradient_accumulation_kwargs.num_steps at 5:64"));
  EXPECT_THAT(errors_from(one + "gradient_accumulation_steps: 2\n" + steps),
              ElementsAre(HasSubstr("refuses num_steps")));
}

TEST(Axolotl, RatesOfTheirOwnKeepEightBitStateOfEmbeddings) {
  const auto fp32 = [](const std::string& lines) {
    return plan_from(full + "flash_attention: true\noptimizer: adamw_8bit\n" + lines)
        .optimizer.fp32_embedding_state.value;
  };
  EXPECT_TRUE(fp32(""));
  EXPECT_FALSE(fp32("embedding_lr: 1e-5\n"));
  EXPECT_FALSE(fp32("embedding_lr_scale: 0.5\n"));
  EXPECT_FALSE(fp32("lr_groups: [{name: a, modules: [b], lr: 0.1}]\n"));
  EXPECT_TRUE(fp32("lr_groups:\nembedding_lr:\n"));
}

TEST(Axolotl, ValuesAreWhatPydanticMakesOfThem) {
  const std::string rest = "base_model: a/b\ngradient_accumulation_steps: 4\nflash_attention: true\nmicro_batch_size: ";
  for (const char* eight : {"8", "8.0", "'8'", "'8.00'", "' 8 '"}) {
    EXPECT_EQ(plan_from(rest + eight + "\n").batch.micro_batch_size.value, 8) << eight;
  }
  EXPECT_EQ(plan_from(rest + "true\n").batch.micro_batch_size.value, 1);
  for (const char* none : {"8.5", "'8.5'", "'1e3'", "'8.'", "eight", "0.0"}) {
    EXPECT_THAT(errors_from(rest + none + "\n"), ElementsAre(HasSubstr("expected a positive integer"))) << none;
  }
  const auto checkpoints = [](const std::string& value) {
    return plan_from(full + "flash_attention: true\ngradient_checkpointing: " + value + "\n").checkpointing.on.value;
  };
  for (const char* no : {"false", "'false'", "0", "0.0", "'Off'", "n", "'0'"}) EXPECT_FALSE(checkpoints(no)) << no;
  for (const char* yes : {"true", "'T'", "1", "1.0", "'yes'"}) EXPECT_TRUE(checkpoints(yes)) << yes;
  EXPECT_THAT(errors_from(full + "flash_attention: true\ngradient_checkpointing: 2\n"),
              Contains(HasSubstr("bad-value")));
  EXPECT_THAT(
      errors_from("base_model: 5\nmicro_batch_size: 2\ngradient_accumulation_steps: 4\nflash_attention: true\n"),
      Contains(HasSubstr("base_model: expected a text, found 5")));
}

// Its own checks look before pydantic does, and take the text "false" for true.
TEST(Axolotl, AFalseInQuotesIsRefusedWhereItIsChecked) {
  EXPECT_THAT(
      errors_from(full + "flash_attention: true\nsample_packing: 'false'\n"),
      ElementsAre("c.yaml:5:17: ingest/bad-value: sample_packing: expected true or false, without quotes, found "
                  "\"false\""));
  EXPECT_TRUE(plan_from(full + "flash_attention: 'true'\n").kernels.attention.value == Attention::flash_attention_2);
}

TEST(Axolotl, AnEmptyKeyIsUnknown) {
  EXPECT_THAT(said(plan_from(full + "flash_attention: true\n\"\": 1\n").warnings),
              ElementsAre(HasSubstr("unknown key \"\", ignored")));
}

TEST(Axolotl, WhatIsSwitchedOffIsNot) {
  const TrainingPlan plan = plan_from(
      full +
      "flash_attention: true\ndeepspeed:\nfsdp: []\nfsdp_config:\nload_in_8bit: false\nrl:\nunfrozen_parameters:\n"
      "context_parallel_size: 1\ntensor_parallel_size: 1\ndevice_map: auto\nmodel_type: LlamaForCausalLM\n"
      "model_config: {rope_scaling: {factor: 2}}\noptim_args: {betas: [0.9, 0.99]}\npeft: {loftq_config: null}\n"
      "plugins: [axolotl.integrations.liger.LigerPlugin]\nexperts_implementation: eager\nadapter:\n"
      "ddp: false\nworld_size: 1\nddp_find_unused_parameters: true\n");
  EXPECT_THAT(features(plan), IsEmpty());
  EXPECT_THAT(plan.warnings, IsEmpty());
}

TEST(Axolotl, AdapterRules) {
  EXPECT_THAT(errors_from(full + "adapter: qlora\nlora_r: 8\nlora_target_linear: true\n" + off),
              ElementsAre("c.yaml:4:10: ingest/conflict: adapter: qlora needs load_in_4bit: true"));
  EXPECT_THAT(errors_from(full + "flash_attention: true\nload_in_4bit: true\n"),
              ElementsAre("c.yaml:5:15: ingest/conflict: load_in_4bit needs adapter: qlora"));
  EXPECT_THAT(errors_from(full + "adapter: lora\n" + off),
              ElementsAre("c.yaml: ingest/missing-fact: lora_r is not given (add lora_r: …)",
                          "c.yaml: ingest/missing-fact: neither lora_target_linear nor lora_target_modules is given "
                          "(add lora_target_linear: true or --set lora_target_modules=[…])"));
  EXPECT_THAT(
      features(plan_from(full + "adapter: lora\nload_in_4bit: true\nlora_r: 8\nlora_target_linear: true\n" + off)),
      ElementsAre(HasSubstr("load_in_4bit: adapter: lora with load_in_4bit")));
}

TEST(Axolotl, TwoOfThreeBatchKeys) {
  EXPECT_THAT(errors_from("base_model: a\nmicro_batch_size: 2\nflash_attention: true\n"),
              ElementsAre("c.yaml: ingest/missing-fact: axolotl wants two of micro_batch_size, "
                          "gradient_accumulation_steps and batch_size (add micro_batch_size and another)"));
  EXPECT_THAT(errors_from(full + "flash_attention: true\nbatch_size: 8\n"),
              ElementsAre("c.yaml:5:13: ingest/conflict: axolotl refuses batch_size beside "
                          "gradient_accumulation_steps"));
  const std::string null = "base_model: a\nmicro_batch_size: 2\nbatch_size: 8\n";
  EXPECT_EQ(plan_from(null + "gradient_accumulation_steps:\n").batch.gradient_accumulation_steps.value, 4);
  EXPECT_EQ(plan_from(null).batch.gradient_accumulation_steps.value, 1);
}

TEST(Axolotl, ErrorsComeWithTheOtherReasons) {
  EXPECT_THAT(
      errors_from("micro_batch_size: 2\nbatch_size: 2\nflash_attention: true\ntiled_mlp: true\nsekuence_len: 8\n"),
      ElementsAre("c.yaml: ingest/missing-fact: base_model is not given (add base_model: … or --set "
                  "base_model=…)",
                  "c.yaml:4:12: estimate/unmodelled: tiled_mlp: tiled MLP affects memory and is not modelled yet",
                  "c.yaml:5:1: ingest/unknown-key: unknown key \"sekuence_len\", ignored (did you mean "
                  "sequence_len?)"));
}

TEST(Axolotl, TheExampleIsAPlan) {
  const auto document = read_document(project_folder() + "/examples/axolotl/llama-3.1-8b-qlora.yml");
  ASSERT_TRUE(document.ok());
  const auto plan = ingest(*document);
  ASSERT_TRUE(plan.ok());
  EXPECT_THAT(plan->warnings, IsEmpty());
  EXPECT_THAT(plan->unmodelled, IsEmpty());
  EXPECT_EQ(plan->optimizer.name.value, "paged_adamw_8bit");
  EXPECT_EQ(plan->batch.sequence_length.value, 4096);
}

}  // namespace
}  // namespace oomplan
