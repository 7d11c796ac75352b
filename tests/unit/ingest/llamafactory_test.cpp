// LLaMA-Factory's dialect.
#include "from_text.hpp"
#include "oomplan/catalog/architecture.hpp"

namespace oomplan {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string sft = "model_name_or_path: a/b\nstage: sft\ndo_train: true\ntemplate: qwen\n";

std::string stage(const std::string& name) {
  return "model_name_or_path: a/b\nstage: " + name + "\ndo_train: true\ntemplate: qwen\n";
}

TEST(LlamaFactory, ItsDefaultsNameTheirSource) {
  const TrainingPlan plan = plan_from(sft + "bf16: true\n");
  EXPECT_EQ(plan.dialect, "llamafactory");
  EXPECT_EQ(plan.framework, "llamafactory 0.9.5 on transformers 5.6.0");
  EXPECT_THAT(plan.unmodelled, IsEmpty());
  EXPECT_THAT(plan.warnings, IsEmpty());
  EXPECT_THAT(plan.recipe.trainer, is_from("trainer", "stage at 2:8"));
  EXPECT_THAT(plan.batch.sequence_length, is_from(2048, "default of llamafactory 0.9.5: DataArguments"));
  EXPECT_THAT(plan.batch.micro_batch_size, is_from(8, "default of transformers 5.6.0: TrainingArguments"));
  EXPECT_THAT(plan.batch.padding_mask, is_from(true, "assumed: some row is padded to a multiple of 8"));
  EXPECT_THAT(plan.precision.weights_dtype,
              is_from(WeightsDType::checkpoint, "default of llamafactory 0.9.5: load_model"));
  EXPECT_THAT(plan.precision.autocast, is_from(Autocast::bf16, "bf16 at 5:7"));
  EXPECT_TRUE(plan.precision.outputs_to_fp32.value);
  EXPECT_THAT(plan.adapter.kind, is_from(Adapter::lora, "default of llamafactory 0.9.5: FinetuningArguments"));
  EXPECT_THAT(plan.adapter.rank, is_from(8, "default of llamafactory 0.9.5: LoraArguments"));
  EXPECT_EQ(plan.adapter.targets.value, std::vector<std::string>{"all-linear"});
  EXPECT_EQ(plan.adapter.dropout.value, 0.0);
  EXPECT_EQ(plan.adapter.dtype.value, AdapterDType::fp32);
  EXPECT_TRUE(plan.checkpointing.on.value);
  EXPECT_TRUE(plan.checkpointing.reentrant.value);
  EXPECT_EQ(plan.kernels.attention.value, Attention::sdpa);
  EXPECT_EQ(plan.recipe.loss.value, Loss::full_logits);
  EXPECT_FALSE(plan.recipe.use_cache.value);
  EXPECT_FALSE(plan.evaluation.evaluates.value);
}

TEST(LlamaFactory, TargetsStandBetweenCommas) {
  EXPECT_EQ(plan_from(sft + "lora_target: q_proj, v_proj\n").adapter.targets.value,
            (std::vector<std::string>{"q_proj", "v_proj"}));
  EXPECT_EQ(plan_from(sft + "lora_target: [q_proj, v_proj]\n").adapter.targets.value,
            (std::vector<std::string>{"q_proj", "v_proj"}));
  EXPECT_EQ(plan_from(sft + "lora_target: all\n").adapter.targets.value, std::vector<std::string>{"all-linear"});
}

// train/trainer_utils.py: create_custom_optimizer, dft_loss_func
TEST(LlamaFactory, HasAnOptimizerAndALossOfItsOwn) {
  EXPECT_THAT(plan_from(sft + "use_muon: true\n").optimizer.name, is_from("llamafactory_muon", "use_muon at 5:11"));
  EXPECT_THAT(plan_from(sft + "use_dft_loss: true\n").recipe.loss,
              is_from(Loss::dynamic_fine_tuning, "use_dft_loss at 5:15"));
  EXPECT_THAT(plan_from(sft + "use_muon: true\nuse_dft_loss: true\n").unmodelled, IsEmpty());
}

TEST(LlamaFactory, QuantizesToFourBits) {
  const TrainingPlan plan = plan_from(sft + "bf16: true\nquantization_bit: 4\nquantization_method: bnb\n");
  EXPECT_THAT(plan.unmodelled, IsEmpty());
  EXPECT_THAT(plan.quantization.kind, is_from(Quantization::nf4, "quantization_bit at 6:19"));
  EXPECT_EQ(plan.quantization.storage.value, QuantStorage::bf16);
  EXPECT_EQ(plan_from(sft + "fp16: true\nquantization_bit: 4\n").quantization.storage.value, QuantStorage::fp16);
  EXPECT_TRUE(plan.quantization.double_quantization.value);
  EXPECT_EQ(plan.quantization.compute_dtype.value, DType::bf16);
  EXPECT_FALSE(plan.quantization.kbit_upcast.value);
  const std::string four = sft + "bf16: true\nquantization_bit: 4\n";
  EXPECT_EQ(plan_from(four + "quantization_type: fp4\n").quantization.kind.value, Quantization::fp4);
  EXPECT_THAT(features(plan_from(sft + "bf16: true\nquantization_bit: 3\n")),
              ElementsAre("quantization_bit: quantization to other than 4 or 8 bits"));
  EXPECT_THAT(plan_from(sft + "bf16: true\nquantization_bit: 8\n").quantization.kind,
              is_from(Quantization::int8, "quantization_bit at 6:19"));
  EXPECT_THAT(features(plan_from(four + "quantization_method: hqq\n")),
              ElementsAre("quantization_method: another library's quantization"));
  EXPECT_THAT(features(plan_from(sft + "quantization_bit: 4\n")),
              ElementsAre(HasSubstr("computed in the checkpoint's type")));
}

TEST(LlamaFactory, AttentionAndCheckpointingHaveNamesOfTheirOwn) {
  EXPECT_EQ(plan_from(sft + "flash_attn: fa2\n").kernels.attention.value, Attention::flash_attention_2);
  EXPECT_EQ(plan_from(sft + "flash_attn: disabled\n").kernels.attention.value, Attention::eager);
  EXPECT_EQ(plan_from(sft + "flash_attn: auto\n").kernels.attention.value, Attention::sdpa);
  EXPECT_THAT(errors_from(sft + "flash_attn: fa9\n"), ElementsAre(HasSubstr("expected one of auto, disabled, sdpa")));
  EXPECT_FALSE(plan_from(sft + "disable_gradient_checkpointing: true\n").checkpointing.on.value);
  EXPECT_FALSE(plan_from(sft + "use_reentrant_gc: false\n").checkpointing.reentrant.value);
}

// Measured: cases lf-again-* of tests/data/trainers.
TEST(LlamaFactory, TheTrainerSwitchesCheckpointsOnAgain) {
  const auto with = [](const std::string& keys) { return plan_from(sft + keys + "gradient_checkpointing: true\n"); };
  EXPECT_TRUE(with("use_reentrant_gc: false\n").checkpointing.reentrant.value);
  const TrainingPlan disabled = with("disable_gradient_checkpointing: true\n");
  EXPECT_TRUE(disabled.checkpointing.on.value);
  EXPECT_FALSE(disabled.checkpointing.reentrant.value);
  EXPECT_THAT(disabled.unmodelled, IsEmpty());
  EXPECT_EQ(with("disable_gradient_checkpointing: true\nquantization_bit: 4\nbf16: true\n").unmodelled.size(), 1U);
}

TEST(LlamaFactory, PackedRowsAreFilled) {
  const TrainingPlan plan = plan_from(sft + "packing: true\ncutoff_len: 1000\nper_device_train_batch_size: 2\n");
  EXPECT_FALSE(plan.batch.padding_mask.value);
  EXPECT_EQ(plan.batch.sequence_length.value, 1000);
  EXPECT_EQ(plan.batch.micro_batch_size.value, 2);
  EXPECT_EQ(plan_from(sft + "cutoff_len: 1001\n").batch.sequence_length.value, 1008);
  EXPECT_THAT(features(plan_from(sft + "neat_packing: true\n")),
              ElementsAre("neat_packing: the attention mask of neat packing"));
}

TEST(LlamaFactory, OtherStagesAreUndecided) {
  EXPECT_THAT(features(plan_from(stage("ppo"))), ElementsAre(HasSubstr("PPO training")));
}

TEST(LlamaFactory, RewardsAreValuesBesideTheLogits) {
  const TrainingPlan plan = plan_from(stage("rm") + "packing: true\n");
  EXPECT_THAT(plan.unmodelled, IsEmpty());
  EXPECT_EQ(plan.recipe.kind.value, RecipeKind::reward_values);
  EXPECT_EQ(plan.recipe.reference.value, Reference::none);
  EXPECT_TRUE(plan.batch.padding_mask.value);
}

TEST(LlamaFactory, FreezeTuningTrainsLayersByTheirNumber) {
  const std::string freeze = sft + "finetuning_type: freeze\n";
  const TrainingPlan plan = plan_from(freeze);
  EXPECT_THAT(plan.unmodelled, IsEmpty());
  EXPECT_EQ(plan.adapter.kind.value, Adapter::none);
  EXPECT_THAT(plan.recipe.trained_layers, is_from(2, "default of llamafactory 0.9.5: FreezeArguments"));
  EXPECT_THAT(plan.recipe.layer_parts.value, IsEmpty());
  EXPECT_THAT(plan.recipe.trained.value, IsEmpty());
  const TrainingPlan parts = plan_from(freeze +
                                       "freeze_trainable_layers: -3\nfreeze_trainable_modules: mlp, self_attn\n"
                                       "freeze_extra_modules: embed_tokens,norm\n");
  EXPECT_EQ(parts.recipe.trained_layers.value, -3);
  EXPECT_THAT(parts.recipe.layer_parts.value, ElementsAre("mlp", "self_attn"));
  EXPECT_THAT(parts.recipe.trained.value, ElementsAre(".*embed_tokens", ".*norm"));
  EXPECT_EQ(plan_from(sft + "freeze_trainable_layers: 3\n").recipe.trained_layers.value, 0);
}

TEST(LlamaFactory, LigerTakesTheLayersAndTheLoss) {
  const std::string liger = "enable_liger_kernel: true\n";
  const TrainingPlan plan = plan_from(sft + liger);
  EXPECT_THAT(plan.unmodelled, IsEmpty());
  EXPECT_TRUE(plan.kernels.liger_rms_norm.value && plan.kernels.liger_rope.value && plan.kernels.liger_glu.value);
  EXPECT_EQ(plan.recipe.loss.value, Loss::liger_fused_linear);
  EXPECT_THAT(features(plan_from(stage("dpo") + liger)), ElementsAre(HasSubstr("Liger's cross entropy")));
  EXPECT_THAT(features(plan_from(sft + liger + "val_size: 0.1\neval_strategy: steps\n")),
              ElementsAre(HasSubstr("evaluation with Liger's loss")));
  EXPECT_FALSE(plan_from(sft + "enable_liger_kernel: false\n").kernels.liger_rope.value);
}

TEST(LlamaFactory, EaftIsALossAndAdamMiniAnOptimizer) {
  EXPECT_EQ(plan_from(sft + "use_eaft_loss: true\n").recipe.loss.value, Loss::entropy_aware);
  EXPECT_THAT(features(plan_from(stage("pt") + "use_eaft_loss: true\n")), ElementsAre(HasSubstr("another stage")));
  const TrainingPlan mini = plan_from(sft + "finetuning_type: full\nuse_adam_mini: true\n");
  EXPECT_THAT(mini.unmodelled, IsEmpty());
  EXPECT_EQ(mini.optimizer.name.value, "adam_mini");
  EXPECT_THAT(features(plan_from(sft + "use_adam_mini: true\n")), ElementsAre(HasSubstr("Adam-mini of adapters")));
}

TEST(LlamaFactory, PretrainingJoinsTexts) {
  const TrainingPlan plan = plan_from(stage("pt") + "cutoff_len: 1001\n");
  EXPECT_THAT(plan.unmodelled, IsEmpty());
  EXPECT_EQ(plan.batch.sequence_length.value, 1001);
  EXPECT_FALSE(plan.batch.padding_mask.value);
  EXPECT_EQ(plan.loader.columns.value, 3);
  EXPECT_TRUE(plan_from(stage("pt") + "packing: false\n").batch.padding_mask.value);
}

TEST(LlamaFactory, PairsAreScoredByAReference) {
  const TrainingPlan dpo = plan_from(stage("dpo"));
  EXPECT_THAT(dpo.unmodelled, IsEmpty());
  EXPECT_EQ(dpo.recipe.kind.value, RecipeKind::paired_logits);
  EXPECT_EQ(dpo.recipe.reference.value, Reference::adapter_off);
  EXPECT_EQ(plan_from(stage("dpo") + "finetuning_type: full\n").recipe.reference.value, Reference::model);
  EXPECT_EQ(plan_from(stage("dpo") + "pref_loss: ipo\n").recipe.reference.value, Reference::adapter_off);
  EXPECT_EQ(plan_from(stage("dpo") + "pref_loss: simpo\n").recipe.reference.value, Reference::none);
  EXPECT_THAT(features(plan_from(stage("dpo") + "ref_model: a/b\n")),
              ElementsAre("ref_model: a reference model of its own"));
  EXPECT_THAT(features(plan_from(stage("dpo") + "pref_loss: orpo\nref_model: a/b\n")), IsEmpty());
  EXPECT_THAT(errors_from(stage("dpo") + "pref_loss: dpo\n"), ElementsAre(HasSubstr("expected one of sigmoid, hinge")));
}

TEST(LlamaFactory, RowsAreScoredByAReference) {
  const TrainingPlan kto = plan_from(stage("kto"));
  EXPECT_THAT(kto.unmodelled, IsEmpty());
  EXPECT_EQ(kto.recipe.kind.value, RecipeKind::unpaired_logits);
  EXPECT_EQ(kto.recipe.reference.value, Reference::adapter_off);
}

TEST(LlamaFactory, SomeKeysAreOfLoraOrWantOthers) {
  for (const std::string key : {"use_dora: true", "use_rslora: true", "pissa_init: true", "loraplus_lr_ratio: 16"}) {
    EXPECT_THAT(errors_from(sft + "finetuning_type: full\n" + key + "\n"), Contains(HasSubstr("under LoRA only")));
  }
  EXPECT_THAT(errors_from(sft + "eval_strategy: steps\n"), ElementsAre(HasSubstr("wants eval_dataset or val_size")));
  EXPECT_THAT(errors_from(sft + "do_eval: true\n"), ElementsAre(HasSubstr("wants eval_dataset or val_size")));
  EXPECT_THAT(errors_from(sft + "streaming: true\n"), ElementsAre(HasSubstr("wants max_steps")));
  EXPECT_THAT(errors_from(stage("dpo") + "pref_loss: ipo\ndpo_label_smoothing: 0.1\n"),
              ElementsAre(HasSubstr("beside the loss sigmoid only")));
}

TEST(LlamaFactory, RowsOfPreferencesAreNeverPacked) {
  EXPECT_TRUE(plan_from(stage("kto") + "packing: true\n").batch.padding_mask.value);
  EXPECT_TRUE(plan_from(stage("dpo") + "packing: true\n").batch.padding_mask.value);
}

TEST(LlamaFactory, SomeKeysAreOfOneStage) {
  for (const std::string key : {"neat_packing", "predict_with_generate", "train_on_prompt", "mask_history"}) {
    EXPECT_THAT(errors_from(stage("dpo") + key + ": true\n"), Contains(HasSubstr("in the stage sft only"))) << key;
  }
}

TEST(LlamaFactory, APlanOfPreferencesIsWrittenInItsKeys) {
  for (const std::string& begin : {stage("dpo"), stage("dpo") + "pref_loss: simpo\n", stage("rm")}) {
    const TrainingPlan plan = plan_from(begin + "bf16: true\n");
    const std::string text = write_plan(plan, "llamafactory");
    const TrainingPlan again = plan_from(text + "template: qwen\n");
    EXPECT_EQ(write_plan(again, "oomplan"), write_plan(plan, "oomplan")) << text;
  }
}

TEST(LlamaFactory, FreezeTuningOfNoLayerOrOfOtherModulesIsUndecided) {
  const auto gaps = [](const std::string& keys) {
    return plan_from(sft + "finetuning_type: freeze\n" + keys).unmodelled.size();
  };
  EXPECT_EQ(gaps(""), 0U);
  EXPECT_EQ(gaps("freeze_extra_modules: embed_tokens,norm\n"), 0U);
  EXPECT_EQ(gaps("freeze_trainable_layers: 0\n"), 1U);
  EXPECT_EQ(gaps("freeze_extra_modules: lm_head\n"), 1U);
}

TEST(LlamaFactory, ItsOtherMethodsAreWrittenInItsKeys) {
  for (const std::string keys :
       {"finetuning_type: freeze\nfreeze_trainable_layers: -2\nfreeze_trainable_modules: mlp,self_attn\n",
        "finetuning_type: freeze\n", "finetuning_type: full\nuse_adam_mini: true\n", "use_eaft_loss: true\n",
        "enable_liger_kernel: true\n"}) {
    const TrainingPlan plan = plan_from(sft + keys + "bf16: true\n");
    const std::string text = write_plan(plan, "llamafactory");
    const TrainingPlan again = plan_from(text + "template: qwen\nstage: sft\n");
    EXPECT_EQ(write_plan(again, "oomplan"), write_plan(plan, "oomplan")) << text;
  }
}

TEST(LlamaFactory, TrainedWeightsAreRaisedToFp32) {
  EXPECT_THAT(plan_from(sft + "finetuning_type: full\nbf16: true\n").precision.trained_to_fp32,
              is_from(true, "default of llamafactory 0.9.5: init_adapter"));
  const TrainingPlan pure = plan_from(sft + "finetuning_type: full\npure_bf16: true\n");
  EXPECT_THAT(pure.unmodelled, IsEmpty());
  EXPECT_EQ(pure.precision.autocast.value, Autocast::none);
  EXPECT_TRUE(plan_from(sft + "additional_target: lm_head\nbf16: true\n").precision.trained_to_fp32.value)
      << "LoRA, where nothing is said of the method";
  EXPECT_FALSE(pure.precision.trained_to_fp32.value);
  EXPECT_EQ(pure.adapter.kind.value, Adapter::none);
}

// model/model_utils/attention.py: configure_attn_implementation.
TEST(LlamaFactory, Gemma2HasSdpaWhereItIsAskedFor) {
  const auto attention = [](const std::string& lines, const std::string& type) {
    Architecture model;
    model.model_type = type;
    return with_model_defaults(plan_from(sft + lines), model)->kernels.attention;
  };
  EXPECT_THAT(attention("", "gemma2"), is_from(Attention::eager,
                                               "default of llamafactory 0.9.5: configure_attn_implementation, without "
                                               "flash-attn"));
  EXPECT_EQ(attention("flash_attn: auto\n", "gemma2").value, Attention::eager);
  EXPECT_EQ(attention("flash_attn: sdpa\n", "gemma2").value, Attention::sdpa);
  EXPECT_EQ(attention("flash_attn: fa2\n", "gemma2").value, Attention::flash_attention_2);
  EXPECT_EQ(attention("", "gemma3_text").value, Attention::sdpa);
}

/// A model of this type that sees images.
Architecture seeing(const std::string& type) {
  Architecture model;
  model.model_type = type;
  Segment tower;
  tower.tower = true;
  model.body = {tower, Segment()};
  return model;
}

TrainingPlan seen(const std::string& lines, const std::string& type = "qwen2_5_vl") {
  return *with_model_defaults(plan_from(sft + "bf16: true\n" + lines), seeing(type));
}

// model/model_utils/visual.py: get_forbidden_modules.
TEST(LlamaFactory, FreezesTowerAndProjectorUnlessItIsSaid) {
  const auto frozen = [](const std::string& lines, const std::string& type = "qwen2_5_vl") {
    return seen("finetuning_type: full\n" + lines, type).recipe.frozen.value;
  };
  EXPECT_THAT(frozen(""), ElementsAre("visual.patch_embed", "visual.blocks", "visual.merger"));
  EXPECT_THAT(frozen("freeze_vision_tower: false\n"), ElementsAre("visual.merger"));
  EXPECT_THAT(frozen("freeze_multi_modal_projector: false\n", "gemma3"), ElementsAre("vision_tower"));
  EXPECT_THAT(frozen("freeze_multi_modal_projector: false\nfreeze_vision_tower: false\n"), IsEmpty());
  EXPECT_THAT(seen("finetuning_type: full\n").recipe.frozen.origin.source, HasSubstr("FinetuningArguments"));
  Architecture text;
  text.model_type = "qwen2";
  EXPECT_THAT(with_model_defaults(plan_from(sft), text)->recipe.frozen.value, IsEmpty());
}

// model/model_utils/visual.py: patch_target_modules.
TEST(LlamaFactory, AdaptsWhatIsNotFrozenOfAModelThatSees) {
  const auto targets = [](const std::string& lines) { return seen(lines).adapter.targets.value; };
  const std::string linear = "(?:proj|qkv|fc1|fc2|shared_expert_gate).*";
  EXPECT_THAT(targets(""), ElementsAre(".*(?:language_model\\.layers)\\..*" + linear));
  EXPECT_THAT(targets("freeze_vision_tower: false\n"),
              ElementsAre(".*(?:language_model\\.layers|visual\\.blocks)\\..*" + linear));
  EXPECT_THAT(targets("lora_target: q_proj,mlp.up_proj\n"),
              ElementsAre(".*(?:language_model\\.layers)\\..*(?:q_proj|mlp\\.up_proj).*"));
  EXPECT_THAT(seen("").recipe.frozen.value, IsEmpty()) << "peft has frozen all";
}

TEST(LlamaFactory, SomeModelsThatSeeAreUndecided) {
  const auto gaps = [](const TrainingPlan& plan) { return features(plan); };
  EXPECT_THAT(gaps(seen("")), IsEmpty());
  EXPECT_THAT(gaps(seen("", "mistral3")), ElementsAre(HasSubstr("what llamafactory freezes and adapts")));
  EXPECT_THAT(gaps(seen("freeze_multi_modal_projector: false\n")), ElementsAre(HasSubstr("LoRA beside a projector")));
  TrainingPlan text = plan_from(sft);
  text.images.count.value = 0;
  EXPECT_THAT(gaps(*with_model_defaults(text, seeing("gemma3"))), ElementsAre(HasSubstr("a batch without images")));
}

// data/collator.py: SFTDataCollatorWith4DAttentionMask.
TEST(LlamaFactory, PixelsComeInTheTypeOfComputation) {
  EXPECT_EQ(plan_from(sft + "bf16: true\n").images.dtype.value, MixedDType::bf16);
  EXPECT_EQ(plan_from(sft + "fp16: true\n").images.dtype.value, MixedDType::fp16);
  EXPECT_EQ(plan_from(sft).images.dtype.value, MixedDType::fp32);
}

// train/tuner.py: _ray_training_function.
TEST(LlamaFactory, WorkersOfRayAreRanks) {
  const TrainingPlan plan = plan_from(sft + "ray_num_workers: 4\n");
  EXPECT_THAT(plan.mesh.world_size, is_from(4, "ray_num_workers at 5:18"));
  EXPECT_EQ(plan.mesh.sharding.value, Sharding::ddp);
  EXPECT_EQ(plan_from(sft + "ray_num_workers: 1\n").mesh.sharding.value, Sharding::none);
}

// train/trainer_utils.py: NotImplementedError, as transformers 5.6.0's own default is adamw_torch_fused.
TEST(LlamaFactory, GaLoreAndApolloWantAnOptimizerThatIsNamed) {
  for (const std::string use : {"use_galore: true\n", "use_apollo: true\n"}) {
    const std::string full = sft + "finetuning_type: full\n" + use;
    EXPECT_THAT(errors_from(full), Contains(HasSubstr("ingest/refused")));
    EXPECT_THAT(errors_from(full + "optim: lion_8bit\n"), Contains(HasSubstr("ingest/refused")));
    EXPECT_EQ(plan_from(full + "optim: adamw_torch\n").unmodelled.size(), 1U);
  }
}

// transformers 4.52.4's default is adamw_torch; 4.57.1's is adamw_torch_fused beside torch 2.8 and later.
TEST(LlamaFactory, GaLoreAndApolloTakeTheDefaultOfAnOlderTransformers) {
  const auto under = [](const std::string& version) {
    IngestOptions options;
    options.versions = {{"llamafactory", version, {}, true}};
    return options;
  };
  const std::string full = sft + "finetuning_type: full\nbf16: true\n";
  EXPECT_THAT(features(plan_from(full + "use_galore: true\n", under("0.9.3"))), Contains("use_galore: GaLore"));
  EXPECT_THAT(features(plan_from(full + "use_apollo: true\n", under("0.9.3"))), Contains("use_apollo: APOLLO"));
  EXPECT_THAT(
      errors_from(full + "use_galore: true\n", under("0.9.4")),
      Contains(HasSubstr("ingest/refused: use_galore: llamafactory 0.9.4 stops at transformers 4.57.1's default "
                         "optimizer; it wants adamw_torch, adamw_bnb_8bit or adafactor")));
  EXPECT_THAT(errors_from(full + "use_apollo: true\n"),
              Contains(HasSubstr("llamafactory 0.9.5 stops at transformers 5.6.0's default optimizer; it wants "
                                 "adamw_torch")));
  EXPECT_THAT(errors_from(full + "use_galore: true\noptim: lion_8bit\n", under("0.9.3")),
              Contains(HasSubstr("LLaMA-Factory 0.9.3 to 0.9.5 takes")));
}

TEST(LlamaFactory, OftHasItsBlocksAndLorasTargets) {
  const std::string oft = sft + "finetuning_type: oft\nlora_target: q_proj\noft_target: v_proj\n";
  const TrainingPlan plan = plan_from(oft + "quantization_bit: 4\nbf16: true\n");
  EXPECT_THAT(features(plan), IsEmpty());
  EXPECT_EQ(plan.adapter.kind.value, Adapter::oft);
  EXPECT_EQ(plan.adapter.block.value, 32);
  EXPECT_THAT(plan.adapter.targets.value, ElementsAre("q_proj"));
  const TrainingPlan counted = plan_from(oft + "oft_rank: 16\noft_block_size: 0\n");
  EXPECT_EQ(counted.adapter.block.value, 0);
  EXPECT_EQ(counted.adapter.rank.value, 16);
  EXPECT_THAT(errors_from(oft + "oft_rank: 16\n"), ElementsAre(HasSubstr("takes one of both")));
  EXPECT_THAT(errors_from(oft + "oft_block_size: 0\n"), ElementsAre(HasSubstr("takes one of oft_block_size")));
}

TEST(LlamaFactory, PissaIsAnInitialisationOfLora) {
  const std::string pissa = sft + "pissa_init: true\n";
  EXPECT_EQ(plan_from(sft).adapter.init.value, AdapterInit::plain);
  EXPECT_EQ(plan_from(pissa).adapter.init.value, AdapterInit::pissa_niter);
  EXPECT_THAT(features(plan_from(pissa)), IsEmpty());
  EXPECT_THAT(features(plan_from(pissa + "pissa_iter: -1\n")), ElementsAre(HasSubstr("an SVD of whole weights")));
  EXPECT_THAT(features(plan_from(pissa + "pissa_convert: true\n")), ElementsAre(HasSubstr("conversion")));
  EXPECT_THAT(errors_from(pissa + "quantization_bit: 4\nbf16: true\n"), ElementsAre(HasSubstr("no quantized weights")));
  const std::string dpo = "model_name_or_path: a\nstage: dpo\ndo_train: true\ntemplate: a\npissa_init: true\n";
  EXPECT_THAT(errors_from(dpo), ElementsAre(HasSubstr("where a reference is needed")));
  EXPECT_EQ(plan_from(dpo + "pref_loss: orpo\n").adapter.init.value, AdapterInit::pissa_niter);
}

TEST(LlamaFactory, TrainsOnlyWhereItIsTold) {
  EXPECT_THAT(errors_from("model_name_or_path: a\nstage: sft\ntemplate: a\n"),
              ElementsAre(HasSubstr("do_train is not true")));
  EXPECT_THAT(errors_from("model_name_or_path: a\nstage: sft\ntemplate: a\ndo_train: false\n"),
              ElementsAre(HasSubstr("ingest/no-training: do_train is not true")));
  EXPECT_THAT(errors_from("model_name_or_path: a\ntemplate: a\ninfer_backend: vllm\nexport_dir: out\n"),
              ElementsAre(HasSubstr("ingest/no-training: export_dir without do_train")));
}

TEST(LlamaFactory, IsToldByTwoKeysOfItsOwn) {
  EXPECT_EQ(plan_from("model_name_or_path: a\nlora_target: all\ntrainer: sft\n").dialect, "hf");
  EXPECT_EQ(plan_from("model_name_or_path: a\nlora_target: all\ncutoff_len: 8\ndo_train: true\n").dialect,
            "llamafactory");
}

TEST(LlamaFactory, APlanIsWrittenInItsKeys) {
  const TrainingPlan plan =
      plan_from(sft +
                "bf16: true\nquantization_bit: 4\nlora_target: q_proj,v_proj\nflash_attn: fa2\noptim: adafactor\n"
                "eval_strategy: steps\nval_size: 0.1\nper_device_eval_batch_size: 3\nmax_grad_norm: 0\n");
  const std::string text = write_plan(plan, "llamafactory");
  const TrainingPlan again = plan_from(text + "template: qwen\nstage: sft\n");
  EXPECT_EQ(write_plan(again, "oomplan"), write_plan(plan, "oomplan")) << text;
}

TEST(LlamaFactory, ItEnlargesNoVocabularyOfAQuantizedModel) {
  const std::string lora = sft + "finetuning_type: lora\nresize_vocab: true\n";
  EXPECT_THAT(errors_from(lora + "quantization_bit: 4\n"),
              Contains(HasSubstr("enlarges no vocabulary of a quantized model")));
  EXPECT_THAT(features(plan_from(lora)), Contains("resize_vocab: an enlarged vocabulary"));
}

}  // namespace
}  // namespace oomplan
