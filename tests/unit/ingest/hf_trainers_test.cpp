// Which trainer reads a config of HF's dialect, and what its run and evaluation are.
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

TEST(Hf, WhoseTrainerItIs) {
  const auto is_trl = [](const std::string& text, Syntax syntax = Syntax::yaml) {
    const auto plan = ingest(yaml(text, syntax), {"hf", {"plan.sequence_length=8"}, {}});
    return plan.ok() && plan->framework.starts_with("trl");
  };
  EXPECT_TRUE(is_trl("model_name_or_path: a\n"));
  EXPECT_TRUE(is_trl(R"({"model_name_or_path": "a"})", Syntax::json));
  EXPECT_TRUE(is_trl(R"({"model_name_or_path": "a", "packing": false})", Syntax::json));
  EXPECT_TRUE(is_trl("model_name_or_path: a\nmodel_init_kwargs: {dtype: auto}\n"));
  EXPECT_FALSE(is_trl("model_name_or_path: a\nblock_size: 8\n"));
  EXPECT_FALSE(is_trl("model_name_or_path: a\npacking: true\ntrainer: trainer\n"));
}

// transformers takes what is not positive for no limit.
TEST(Hf, ARunOfOneStep) {
  EXPECT_EQ(plan_from(sft).batch.max_steps.value, 0);
  EXPECT_EQ(plan_from(sft + "max_steps: -1\n").batch.max_steps.value, 0);
  EXPECT_EQ(plan_from(sft + "max_steps: 1\n").batch.max_steps.value, 1);
}

// Magnitudes stay in fp32 from trl 1.15 on.
TEST(Hf, DoraOverFourBitsBeforeItsMagnitudesStayedWhole) {
  const std::string qdora = sft + "load_in_4bit: true\nuse_peft: true\nuse_dora: true\n";
  const auto undecided = [&](const std::string& trl) {
    IngestOptions options;
    options.versions = {{"trl", trl, {}, false}};
    return std::ranges::count(plan_from(qdora, options).unmodelled, "use_dora", &Unmodelled::key) > 0;
  };
  EXPECT_TRUE(undecided("1.14.2"));
  EXPECT_FALSE(undecided("1.15.0"));
}

TEST(Hf, AnAssumedTrainerIsSaid) {
  const auto note = [](const std::string& lines) {
    return assumed_trainer(plan_from("model_name_or_path: a\n" + lines));
  };
  const std::string sft_assumed = "as TRL SFT, assumed; say `--trainer dpo` for trl dpo";
  EXPECT_EQ(note(""), sft_assumed);
  for (const std::string key : {"use_peft: true", "max_length: 8", "loss_type: nll", "load_in_4bit: false"}) {
    EXPECT_EQ(note(key + "\n"), sft_assumed) << key;  // Any of TRL's scripts may have it.
  }
  for (const std::string key : {"trainer: sft", "packing: true", "block_size: 8", "trainer: dpo"}) {
    EXPECT_EQ(note(key + "\n"), "") << key;
  }
}

TEST(Hf, TheTrainersOriginIsWhatTellsIt) {
  EXPECT_THAT(plan_from("model_name_or_path: a\npacking: false\n").recipe.trainer, is_from("sft", "packing at 2:10"));
  EXPECT_THAT(plan_from("model_name_or_path: a\nblock_size: 8\n").recipe.trainer,
              is_from("trainer", "block_size at 2:13"));
  EXPECT_THAT(plan_with("model_name_or_path: a\n", {"trainer=dpo"}).recipe.trainer,
              is_from("dpo", "--set trainer=dpo"));
  IngestOptions options;
  options.trainer = "kto";
  options.trainer_said = "trl kto";
  const auto launched = ingest(yaml("model_name_or_path: a\ntrainer: sft\n"), options);
  ASSERT_TRUE(launched.ok());
  EXPECT_THAT(launched->recipe.trainer, is_from("kto", "--set trl kto"));
  options.overrides = {"trainer=sft"};
  EXPECT_EQ(ingest(yaml("model_name_or_path: a\n"), options)->recipe.trainer.value, "sft");
}

TEST(Hf, KeysOfTwoTrainersDecideNothing) {
  for (const std::string key :
       {"attn_implementation: eager", "use_peft: true", "lora_r: 8", "packing: true", "load_in_4bit: false"}) {
    EXPECT_THAT(errors_from("model_name_or_path: a\nblock_size: 8\n" + key + "\n"),
                Contains(HasSubstr("c.yaml:2:1: ingest/ambiguous-trainer: block_size is a key of scripts around")))
        << key;
  }
  EXPECT_EQ(plan_from("model_name_or_path: a\nuse_peft: true\ncache_dir: b\n").recipe.trainer.value, "sft");
}

TEST(Hf, ALengthThatTheTrainerDoesNotReadDecidesNothing) {
  EXPECT_THAT(errors_from(sft + "block_size: 8\n"),
              ElementsAre(HasSubstr("c.yaml:3:13: ingest/unused-key: block_size: TRL's SFT does not take it")));
  EXPECT_THAT(errors_from(plain + "max_length: 8\n"), ElementsAre(HasSubstr("ingest/unused-key: max_length")));
  EXPECT_THAT(errors_from(plain + "packing: true\n"), ElementsAre(HasSubstr("ingest/unused-key: packing")));
  EXPECT_THAT(errors_from(sft + "seq_len: 8\n"), ElementsAre(HasSubstr("c.yaml:3:1: ingest/unused-key: seq_len sets")));
  EXPECT_TRUE(ingest(yaml(sft + "block_size: 1024\n")).ok()) << "what it says is so anyway";
  EXPECT_EQ(plan_with(sft + "block_size: 8\n", {"block_size="}).batch.sequence_length.value, 1024);
  EXPECT_EQ(plan_with(sft + "block_size: 8\n", {"sequence_length=8"}).batch.sequence_length.value, 8);
}

TEST(Hf, AScriptOfItsOwnSaysWhatItsAdaptersAre) {
  EXPECT_THAT(errors_from(plain + "use_peft: true\n"), ElementsAre(HasSubstr("lora_r is not given")));
  EXPECT_THAT(errors_from(plain + "use_peft: true\nlora_r: 8\nload_in_4bit: true\ndtype: bfloat16\n"),
              ElementsAre(HasSubstr("prepare_model_for_kbit_training")));
}

TEST(Hf, EvaluationIsReadAsTheTrainersRunIt) {
  EXPECT_FALSE(plan_from(sft + "eval_steps: 8\nper_device_eval_batch_size: 64\n").evaluation.evaluates.value);
  EXPECT_FALSE(plan_from(sft + "eval_strategy: 'no'\ndo_eval: true\n").evaluation.evaluates.value);
  EXPECT_TRUE(plan_from(plain + "do_eval: true\n").evaluation.evaluates.value);
  const TrainingPlan plan = plan_from(sft + "eval_strategy: steps\n");
  EXPECT_THAT(plan.evaluation.evaluates, is_from(true, "eval_strategy at 3:16"));
  EXPECT_THAT(plan.evaluation.rows, is_from(8, "default of transformers 5.23.0: TrainingArguments"));
  EXPECT_TRUE(plan.evaluation.padded.value);
  const TrainingPlan packed = plan_from(sft + "eval_strategy: steps\npacking: true\nmax_length: 100\n");
  EXPECT_EQ(packed.evaluation.rows.value, 1);
  EXPECT_EQ(packed.evaluation.length.value, 800);
  EXPECT_FALSE(packed.evaluation.padded.value);
}

TEST(Hf, EvaluationThatKeepsLogitsIsNotPlayed) {
  const auto one = [](const std::string& line) { return features(plan_from(plain + "eval_strategy: steps\n" + line)); };
  EXPECT_THAT(one(""), IsEmpty());
  EXPECT_THAT(one("eval_accumulation_steps: 1\n"), IsEmpty());
  EXPECT_THAT(one("eval_accumulation_steps: 4\n"), ElementsAre(HasSubstr("eval_accumulation_steps: evaluation that")));
  EXPECT_THAT(one("eval_accumulation_steps: 4\nprediction_loss_only: true\n"), IsEmpty());
  EXPECT_THAT(one("metric_for_best_model: loss\n"), IsEmpty());
  EXPECT_THAT(one("metric_for_best_model: accuracy\n"), ElementsAre(HasSubstr("metric_for_best_model")));
  EXPECT_THAT(one("include_for_metrics: [loss]\n"), ElementsAre(HasSubstr("include_for_metrics")));
  EXPECT_THAT(features(plan_from(sft + "eval_strategy: steps\neval_accumulation_steps: 4\n")), IsEmpty())
      << "TRL's script asks for the loss alone";
}

TEST(Hf, TrlsOtherTrainersAreNamed) {
  EXPECT_THAT(features(plan_from("trainer: online_dpo\nmodel_name_or_path: a/b\n")),
              ElementsAre("trainer: TRL online DPO training"));
  EXPECT_THAT(errors_from("trainer: dbo\nmodel_name_or_path: a/b\n"),
              ElementsAre(HasSubstr("c.yaml:1:10: ingest/bad-value: trainer: expected a trainer (sft, dpo, kto")));
}

TEST(Hf, DpoHasAReference) {
  const std::string dpo = "trainer: dpo\nmodel_name_or_path: a/b\nbeta: 0.2\nloss_type: [sigmoid, sft]\n";
  const auto reference = [&](const std::string& keys) {
    const TrainingPlan plan = plan_from(dpo + keys);
    EXPECT_THAT(features(plan), IsEmpty());
    EXPECT_EQ(plan.recipe.kind.value, RecipeKind::dpo);
    EXPECT_TRUE(plan.batch.padding_mask.value);
    return plan.recipe.reference.value;
  };
  EXPECT_EQ(reference(""), Reference::model);
  EXPECT_EQ(reference("use_peft: true\n"), Reference::adapter_off);
  EXPECT_EQ(reference("use_peft: true\nprecompute_ref_log_probs: true\n"), Reference::precomputed);
  EXPECT_THAT(features(plan_from(dpo + "sync_ref_model: true\n")), ElementsAre(HasSubstr("sync_ref_model")));
  EXPECT_THAT(features(plan_from(dpo + "disable_dropout: false\n")), ElementsAre(HasSubstr("disable_dropout")));
}

TEST(Hf, TrainersWithoutAReference) {
  const auto second = [](const std::string& keys) {
    const TrainingPlan plan = plan_from("model_name_or_path: a/b\nbeta: 0.2\n" + keys);
    EXPECT_THAT(features(plan), IsEmpty()) << keys;
    EXPECT_EQ(plan.recipe.kind.value, RecipeKind::reference_free);
    EXPECT_EQ(plan.recipe.loss.value, Loss::full_logits);
    return plan.recipe.second_term.value;
  };
  EXPECT_TRUE(second("trainer: orpo\n"));
  EXPECT_TRUE(second("trainer: cpo\nloss_type: simpo\nsimpo_gamma: 0.3\n"));
  EXPECT_FALSE(second("trainer: cpo\nloss_type: simpo\ncpo_alpha: 0.0\n"));
  EXPECT_FALSE(second("trainer: cpo\nloss_type: alphapo\ncpo_alpha: 1.0\n"));
  const std::string cpo = "trainer: cpo\nmodel_name_or_path: a/b\n";
  EXPECT_EQ(plan_from(cpo + "max_length: null\n").batch.sequence_length.value, 512);
  EXPECT_THAT(features(plan_from(cpo + "loss_type: robust\n")), ElementsAre(HasSubstr("loss_type")));
  EXPECT_THAT(features(plan_from(cpo + "use_peft: true\nload_in_4bit: true\n")),
              ElementsAre(HasSubstr("load_in_4bit")));
  EXPECT_THAT(features(plan_from("trainer: orpo\nmodel_name_or_path: a/b\ncpo_alpha: 1\n")),
              ElementsAre(HasSubstr("cpo_alpha")));
}

TEST(Hf, KtoHasADivergenceAndAReference) {
  const std::string kto =
      "trainer: kto\nmodel_name_or_path: a/b\nper_device_train_batch_size: 2\ndesirable_weight: 1.1\n";
  const TrainingPlan plan = plan_from(kto);
  EXPECT_THAT(features(plan), IsEmpty());
  EXPECT_EQ(plan.recipe.kind.value, RecipeKind::kto);
  EXPECT_EQ(plan.recipe.reference.value, Reference::model);
  EXPECT_TRUE(plan.recipe.second_term.value);
  EXPECT_FALSE(plan_from(kto + "loss_type: apo_zero_unpaired\n").recipe.second_term.value);
  EXPECT_EQ(plan_from(kto + "use_peft: true\n").recipe.reference.value, Reference::adapter_off);
  EXPECT_THAT(errors_from("trainer: kto\nmodel_name_or_path: a/b\nper_device_train_batch_size: 1\n"),
              ElementsAre(HasSubstr("refuses a batch of one row")));
}

const std::string rollouts =
    "trainer: grpo\nmodel_name_or_path: a/b\nreward_funcs: [a.b]\nper_device_train_batch_size: 8\n";
const std::string grpo = rollouts + "use_vllm: true\nvllm_mode: server\n";

TrainingPlan grpo_plan(const std::string& keys) { return plan_with(grpo + keys, {"sequence_length=640"}); }

TEST(Hf, GrpoHasRollouts) {
  const TrainingPlan plan = grpo_plan("");
  EXPECT_THAT(features(plan), IsEmpty());
  EXPECT_EQ(plan.recipe.kind.value, RecipeKind::grpo);
  EXPECT_EQ(plan.recipe.reference.value, Reference::none);
  EXPECT_EQ(plan.batch.completion_length.value, 512);
  EXPECT_TRUE(plan.recipe.second_term.value);
  EXPECT_EQ(grpo_plan("beta: 0.04\n").recipe.reference.value, Reference::model);
  EXPECT_EQ(grpo_plan("beta: 0.04\nuse_peft: true\n").recipe.reference.value, Reference::adapter_off);
  EXPECT_EQ(grpo_plan("max_completion_length: 100\n").batch.completion_length.value, 100);
  EXPECT_EQ(grpo_plan("generation_batch_size: 32\n").recipe.rollout_batches.value, 4);
  EXPECT_EQ(grpo_plan("steps_per_generation: 3\n").recipe.rollout_batches.value, 3);
}

// trl/trainer/grpo_trainer.py: old_per_token_logps.
TEST(Hf, GrpoScoresARolloutBeforeItsStepsWhereThePolicyMayHaveMoved) {
  const auto scored = [](const std::string& keys) {
    return grpo_plan("vllm_importance_sampling_correction: false\n" + keys).recipe.second_term.value;
  };
  EXPECT_FALSE(scored(""));
  EXPECT_FALSE(scored("gradient_accumulation_steps: 4\nsteps_per_generation: 2\n"));
  EXPECT_TRUE(scored("num_iterations: 2\n"));
  EXPECT_TRUE(scored("steps_per_generation: 2\n"));
}

TEST(Hf, GrpoGeneratesByTransformersWhereNoVllmDoes) {
  const auto plan = [](const std::string& keys) { return plan_with(rollouts + keys, {"sequence_length=640"}); };
  EXPECT_THAT(features(plan("")), IsEmpty());
  EXPECT_EQ(plan("").recipe.generation.value, Generation::transformers);
  EXPECT_TRUE(plan("use_vllm: false\n").recipe.generation.origin.is_said());
  EXPECT_EQ(grpo_plan("").recipe.generation.value, Generation::elsewhere);
  // No scores of vLLM's are there to be corrected.
  EXPECT_FALSE(plan("").recipe.second_term.value);
  EXPECT_TRUE(plan("num_iterations: 2\n").recipe.second_term.value);
  EXPECT_THAT(plan("").recipe.sampling.value, IsEmpty());
  EXPECT_THAT(plan("temperature: 1.0\ntop_k: 0\ntop_p: 1\nmin_p: null\nrepetition_penalty: 1\n").recipe.sampling.value,
              IsEmpty());
  EXPECT_THAT(plan("top_k: null\n").recipe.sampling.value, ElementsAre("top_k"));  // 50, as GenerationConfig has it.
  EXPECT_EQ(plan("num_iterations: 3\n").recipe.rollout_iterations.value, 3);
  EXPECT_THAT(plan("top_p: 0.9\nmin_p: 0.0\ntemperature: 0.7\n").recipe.sampling.value,
              ElementsAre("temperature", "top_p", "min_p"));
  EXPECT_THAT(plan("temperature: 0.7\n"
                   "use_vllm: true\nvllm_mode: server\n")
                  .recipe.sampling.value,
              IsEmpty());
  EXPECT_THAT(features(plan("cache_implementation: static\n")), ElementsAre(HasSubstr("cache_implementation")));
  EXPECT_THAT(features(plan("generation_kwargs: {num_beams: 4}\n")), ElementsAre(HasSubstr("generation_kwargs")));
  EXPECT_THAT(features(plan("use_transformers_continuous_batching: true\n")),
              ElementsAre(HasSubstr("use_transformers_continuous_batching")));
  EXPECT_THAT(features(plan("use_transformers_continuous_batching: false\n")), IsEmpty());
  EXPECT_THAT(errors_from(rollouts + "temperature: warm\n"), testing::Contains(HasSubstr("expected a number")));
  for (const std::string key : {"temperature: 0", "repetition_penalty: 0", "top_k: -1", "top_p: 1.5", "min_p: 2"})
    EXPECT_THAT(errors_from(rollouts + key + "\n"), testing::Contains(HasSubstr("expected a"))) << key;
}

TEST(Hf, RlooHasAReferenceAndTwoGenerationsWhereNothingIsSaid) {
  const std::string rloo =
      "trainer: rloo\nmodel_name_or_path: a/b\nreward_funcs: [a.b]\nper_device_train_batch_size: 2\n";
  const auto plan = [&](const std::string& keys) { return plan_with(rloo + keys, {"sequence_length=640"}); };
  EXPECT_THAT(features(plan("normalize_advantages: true\n")), IsEmpty());
  EXPECT_EQ(plan("").recipe.kind.value, RecipeKind::grpo);
  EXPECT_EQ(plan("").recipe.reference.value, Reference::model);
  EXPECT_EQ(plan("use_peft: true\n").recipe.reference.value, Reference::adapter_off);
  EXPECT_EQ(plan("beta: 0.0\n").recipe.reference.value, Reference::none);
  EXPECT_TRUE(plan("").recipe.second_term.value);
  EXPECT_THAT(errors_from(rloo + "num_generations: 3\n"),
              testing::Contains(HasSubstr("TRL's RLOOConfig wants a rollout")));
  EXPECT_THAT(features(plan("delta: 1.0\n")), ElementsAre(HasSubstr("delta")));
}

// trl/trainer/grpo_config.py: __post_init__
TEST(Hf, GrpoEvaluatesWholeGroups) {
  const std::string evaluates = rollouts + "eval_strategy: steps\neval_steps: 10\n";
  EXPECT_THAT(features(plan_with(evaluates, {"sequence_length=640"})), IsEmpty());
  EXPECT_THAT(errors_from(evaluates + "per_device_eval_batch_size: 6\n"),
              testing::Contains(HasSubstr("6 are none of 8")));
  EXPECT_THAT(errors_from(evaluates + "per_device_eval_batch_size: 6\nnum_generations_eval: 3\n"),
              testing::Not(testing::Contains(HasSubstr("are none of"))));
}

// trl/generation/vllm_generation.py: VLLMGeneration._init_vllm.
TEST(Hf, GrpoHasVllmOnTheGpuThatTrainsWhereNoServerIsAskedFor) {
  const auto plan = [](const std::string& keys) {
    return plan_with(rollouts + "use_vllm: true\n" + keys, {"sequence_length=640"});
  };
  for (const std::string mode : {"", "vllm_mode: colocate\n"}) {
    EXPECT_THAT(features(plan(mode)), IsEmpty());
    EXPECT_EQ(plan(mode).recipe.generation.value, Generation::vllm);
    EXPECT_DOUBLE_EQ(plan(mode).recipe.vllm_share.value, 0.3);
    EXPECT_FALSE(plan(mode).recipe.vllm_sleeps.value);
    EXPECT_TRUE(plan(mode).recipe.second_term.value);  // vLLM's own scores are there to be corrected.
  }
  EXPECT_DOUBLE_EQ(plan("vllm_gpu_memory_utilization: 0.55\n").recipe.vllm_share.value, 0.55);
  EXPECT_TRUE(plan("vllm_enable_sleep_mode: true\n").recipe.vllm_sleeps.value);
  EXPECT_THAT(features(plan("vllm_tensor_parallel_size: 2\n")), ElementsAre(HasSubstr("vllm_tensor_parallel_size")));
  EXPECT_THAT(features(plan("vllm_tensor_parallel_size: 1\n")), IsEmpty());
  // What TRL hands on to vLLM may be more tokens, or more completions.
  EXPECT_THAT(features(plan("generation_kwargs: {max_tokens: 8192}\n")), ElementsAre(HasSubstr("generation_kwargs")));
  EXPECT_THAT(features(grpo_plan("generation_kwargs: {n: 4}\n")), ElementsAre(HasSubstr("generation_kwargs")));
  const auto error = [](const std::string& keys) { return errors_from(rollouts + "use_vllm: true\n" + keys); };
  EXPECT_THAT(error("vllm_mode: colocated\n"), testing::Contains(HasSubstr("one of colocate, server")));
  for (const std::string value : {"0", "1.5", "half"}) {
    EXPECT_THAT(error("vllm_gpu_memory_utilization: " + value + "\n"), testing::Contains(HasSubstr("a number")))
        << value;
  }
  EXPECT_THAT(error("load_in_8bit: true\nuse_peft: true\n"), testing::Contains(HasSubstr("weights in 8 bits")));
}

TEST(Hf, GrpoLeavesUndecidedWhatNoRunShowed) {
  EXPECT_THAT(features(grpo_plan("sync_ref_model: true\n")), ElementsAre(HasSubstr("sync_ref_model")));
  EXPECT_THAT(features(grpo_plan("sync_ref_model: false\n")), IsEmpty());
  EXPECT_THAT(features(grpo_plan("pad_to_multiple_of: 64\n")), ElementsAre(HasSubstr("padded to a multiple")));
  EXPECT_THAT(features(grpo_plan("reward_model_name_or_path: a/c\n")), ElementsAre(HasSubstr("reward_model")));
}

TEST(Hf, GrpoRefusesRolloutsOfBrokenGroups) {
  const auto error = [](const std::string& keys) { return errors_from(grpo + keys); };
  EXPECT_THAT(error("num_generations: 3\n"), testing::Contains(HasSubstr("8 rows are none of 3")));
  EXPECT_THAT(error("num_generations: 1\n"), testing::Contains(HasSubstr("at least 2")));
  EXPECT_THAT(error("num_generations: two\n"), testing::Contains(HasSubstr("expected a positive integer")));
  EXPECT_THAT(error("generation_batch_size: 12\n"), testing::Contains(HasSubstr("multiple of the batches")));
  EXPECT_THAT(error("generation_batch_size: 8\nsteps_per_generation: 1\n"),
              testing::Contains(HasSubstr("refuses it beside steps_per_generation")));
  EXPECT_THAT(errors_from("trainer: grpo\nmodel_name_or_path: a/b\nreward_funcs: [a.b, a/c]\n"),
              testing::Contains(HasSubstr("reward_model_name_or_path")));
  EXPECT_THAT(error("auto_find_batch_size: true\n"), testing::Contains(HasSubstr("a rollout has whole groups")));
  EXPECT_THAT(error("log_completions_hub_repo: a/b\n"), testing::Contains(HasSubstr("wants log_completions")));
  EXPECT_THAT(error("vllm_importance_sampling_mode: most\n"), testing::Contains(HasSubstr("sequence_mask")));
  EXPECT_THAT(error("beta: auto\n"), testing::Contains(HasSubstr("expected a number")));
  EXPECT_THAT(error("sync_ref_model: auto\n"), testing::Contains(HasSubstr("sync_ref_model: expected")));
  EXPECT_THAT(error("max_length: 640\n"), testing::Contains(HasSubstr("GRPOConfig has no such argument")));
  EXPECT_THAT(error(""), testing::Contains(HasSubstr("how long prompts are")));
}

const std::string gkd = "trainer: gkd\nmodel_name_or_path: a/b\nteacher_model_name_or_path: a/c\n";

TEST(Hf, GkdHasATeacher) {
  const TrainingPlan plan = plan_from(gkd + "lmbda: 0\ndtype: bfloat16\n");
  EXPECT_THAT(features(plan), IsEmpty());
  EXPECT_EQ(plan.recipe.kind.value, RecipeKind::distillation);
  EXPECT_EQ(plan.recipe.loss.value, Loss::full_logits);
  EXPECT_EQ(plan.recipe.divergence.value, Divergence::mixed);
  EXPECT_EQ(plan.model.teacher.value, "a/c");
  EXPECT_EQ(plan.model.teacher_dtype.value, WeightsDType::bf16);
  const auto dtype = [](const std::string& keys) {
    return plan_from(gkd + "lmbda: 0\n" + keys).model.teacher_dtype.value;
  };
  EXPECT_EQ(dtype(""), WeightsDType::fp32);
  EXPECT_EQ(dtype("teacher_model_init_kwargs: {dtype: bfloat16}\n"), WeightsDType::bf16);
  EXPECT_EQ(dtype("teacher_model_init_kwargs: {dtype: auto}\n"), WeightsDType::checkpoint);
}

TEST(Hf, GkdsBetaChoosesTheDivergence) {
  const auto divergence = [](const std::string& beta) {
    return plan_from(gkd + "lmbda: 0.0\nbeta: " + beta + "\n").recipe.divergence.value;
  };
  EXPECT_EQ(divergence("0"), Divergence::forward);
  EXPECT_EQ(divergence("0.1"), Divergence::mixed);
  EXPECT_EQ(divergence("1.0"), Divergence::reverse);
}

TEST(Hf, GkdThatGeneratesIsUndecided) {
  const auto gaps = [](const std::string& keys) { return features(plan_from(gkd + keys)); };
  EXPECT_THAT(gaps(""), ElementsAre(HasSubstr("lmbda: generation by the student")));
  EXPECT_THAT(gaps("lmbda: 0.3\n"), ElementsAre(HasSubstr("lmbda: generation by the student")));
  EXPECT_THAT(gaps("lmbda: 0\nseq_kd: true\n"), ElementsAre(HasSubstr("seq_kd: generation by the teacher")));
  EXPECT_THAT(gaps("lmbda: 0\nseq_kd: false\nmax_new_tokens: 9\ntemperature: 0.7\n"), IsEmpty());
  EXPECT_THAT(gaps("lmbda: 0\nteacher_model_init_kwargs: {dtype: auto, attn_implementation: eager}\n"),
              ElementsAre(HasSubstr("teacher_model_init_kwargs")));
  EXPECT_THAT(gaps("lmbda: 0\nuse_liger_kernel: true\n"), ElementsAre(HasSubstr("use_liger_kernel")));
  EXPECT_THAT(gaps("lmbda: 0\npad_to_multiple_of: 8\n"), ElementsAre(HasSubstr("pad_to_multiple_of")));
  EXPECT_THAT(gaps("lmbda: 0\nnum_generations: 8\n"), ElementsAre(HasSubstr("num_generations")));  // Another's.
}

TEST(Hf, GkdRefuses) {
  const auto error = [](const std::string& keys) { return errors_from(gkd + "lmbda: 0\n" + keys); };
  EXPECT_THAT(error("beta: 1.5\n"), ElementsAre(HasSubstr("beta: expected a number from 0 to 1")));
  EXPECT_THAT(error("seq_kd: often\n"), ElementsAre(HasSubstr("seq_kd: expected")));
  EXPECT_THAT(error("packing: true\n"), ElementsAre(HasSubstr("packing: TRL's GKDTrainer has a collator")));
  EXPECT_THAT(error("padding_free: true\n"), testing::Contains(HasSubstr("padding_free: TRL's GKDTrainer")));
  EXPECT_THAT(errors_from(gkd + "lmbda: -1\n"), testing::Contains(HasSubstr("lmbda: expected a number from 0 to 1")));
  EXPECT_THAT(errors_from("trainer: gkd\nmodel_name_or_path: a/b\nlmbda: 0\n"),
              ElementsAre(HasSubstr("without which GKDTrainer has no teacher")));
}

TEST(Hf, RewardModelsTrainTheirHead) {
  const std::string reward =
      "trainer: reward\nmodel_name_or_path: a/b\nuse_peft: true\ncenter_rewards_coefficient: 0.01\n";
  const TrainingPlan plan = plan_from(reward + "lora_task_type: SEQ_CLS\n");
  EXPECT_THAT(features(plan), IsEmpty());
  EXPECT_EQ(plan.recipe.kind.value, RecipeKind::reward);
  EXPECT_THAT(plan.adapter.modules_to_save.value, ElementsAre("score"));
  EXPECT_THAT(errors_from(reward), ElementsAre(HasSubstr("it is SEQ_CLS here")));
  EXPECT_THAT(features(plan_from(reward + "lora_task_type: SEQ_CLS\nuse_liger_kernel: true\n")),
              ElementsAre(HasSubstr("use_liger_kernel")));
}

TEST(Hf, PrecomputedScoresHaveRowsOfTheirOwn) {
  const auto rows = [](const std::string& keys) {
    return plan_from(
               "trainer: dpo\nmodel_name_or_path: a/b\nper_device_train_batch_size: 2\n"
               "precompute_ref_log_probs: true\n" +
               keys)
        .recipe.reference_rows.value;
  };
  EXPECT_EQ(rows(""), 2);
  EXPECT_EQ(rows("eval_strategy: steps\nper_device_eval_batch_size: 16\n"), 16);
  EXPECT_EQ(rows("eval_strategy: steps\nprecompute_ref_batch_size: 5\n"), 5);
}

TEST(Hf, OffloadsActivationsInTrl) {
  const std::string trl = "trainer: sft\nmodel_name_or_path: a/b\n";
  EXPECT_EQ(plan_from(trl).checkpointing.offload.value, Offload::none);
  EXPECT_EQ(plan_from(trl + "activation_offloading: true\n").checkpointing.offload.value, Offload::streamed);
  EXPECT_EQ(plan_from(trl + "activation_offloading: false\n").checkpointing.offload.value, Offload::none);
}

// trl/trainer/sft_trainer.py takes Liger's layers only; transformers/trainer.py all of it.
TEST(Hf, LigersParts) {
  const auto parts = [](const std::string& keys) {
    const TrainingPlan plan = plan_from(keys);
    const KernelFacts& k = plan.kernels;
    return std::tuple(k.liger_rms_norm.value, k.liger_rope.value, k.liger_glu.value, plan.recipe.loss.value);
  };
  const std::string trl = "trainer: sft\nmodel_name_or_path: a/b\n";
  const std::string trainer = "trainer: trainer\nmodel_name_or_path: a/b\nblock_size: 8\n";
  EXPECT_EQ(parts(trl), std::tuple(false, false, false, Loss::chunked_logprob));
  EXPECT_EQ(parts(trl + "use_liger_kernel: true\n"), std::tuple(true, true, true, Loss::chunked_logprob));
  EXPECT_EQ(parts(trainer + "use_liger_kernel: true\n"), std::tuple(true, true, true, Loss::liger_fused_linear));
  const std::string some = "liger_kernel_config: {rope: false, fused_linear_cross_entropy: false}\n";
  EXPECT_EQ(parts(trainer + "use_liger_kernel: true\n" + some), std::tuple(true, false, true, Loss::full_logits));
  EXPECT_EQ(parts(trainer + some), std::tuple(false, false, false, Loss::full_logits));
  const std::string refused = "use_liger_kernel: true\nliger_kernel_config: {fused_linear_cross_entropy: true}\n";
  EXPECT_THAT(errors_from(trl + refused), ElementsAre(HasSubstr("refuse Liger's fused linear cross entropy")));
}

}  // namespace
}  // namespace oomplan
