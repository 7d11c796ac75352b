// Unsloth's scripts and notebooks.
#include "from_text.hpp"
#include "oomplan/catalog/architecture.hpp"

namespace oomplan {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Document script(const std::string& text) {
  auto document = parse_document(text, "t.py", Syntax::python);
  if (!document) {
    ADD_FAILURE() << to_text(document.errors().front());
    return {};
  }
  return *std::move(document);
}

TrainingPlan plan_of(const std::string& text, std::vector<std::string> overrides = {}) {
  auto plan = ingest(script(text), {{}, std::move(overrides), {}});
  if (!plan) {
    for (const Diagnostic& error : plan.errors()) ADD_FAILURE() << to_text(error);
    return {};
  }
  return *std::move(plan);
}

std::vector<std::string> errors_of(const std::string& text, const IngestOptions& options = {}) {
  const auto plan = ingest(script(text), options);
  return plan ? std::vector<std::string>{} : said(plan.errors());
}

const std::string import = "from unsloth import FastLanguageModel\n";
const std::string load = "m, t = FastLanguageModel.from_pretrained('unsloth/mistral-7b-v0.3', max_seq_length = 1024)\n";
const std::string adapt = "m = FastLanguageModel.get_peft_model(m, r = 8)\n";

std::string trainer(const std::string& config = {}, const std::string& own = {}) {
  return "trainer = SFTTrainer(model = m, " + own + "args = SFTConfig(" + config + "))\ntrainer.train()\n";
}
std::string all(const std::string& config = {}, const std::string& own = {}) {
  return import + load + adapt + trainer(config, own);
}

TEST(Unsloth, ItsDefaultsNameTheirSource) {
  const TrainingPlan plan = plan_of(all());
  EXPECT_EQ(plan.dialect, "unsloth");
  EXPECT_EQ(plan.framework, "unsloth 2026.8.19 on transformers 4.57.6");
  EXPECT_EQ(plan.model.name.value, "unsloth/mistral-7b-v0.3");
  EXPECT_EQ(plan.adapter.kind.value, Adapter::lora);
  EXPECT_EQ(plan.adapter.rank.value, 8);
  EXPECT_THAT(plan.adapter.targets.value,
              ElementsAre("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"));
  EXPECT_EQ(plan.quantization.kind.value, Quantization::nf4);
  EXPECT_EQ(plan.optimizer.name.value, "adamw_8bit");
  EXPECT_EQ(plan.batch.gradient_accumulation_steps.value, 2);
  EXPECT_TRUE(plan.checkpointing.on.value);
  EXPECT_THAT(plan.warnings, IsEmpty());
}

TEST(Unsloth, FastModelHasNoLayersOfItsOwn) {
  const std::string text =
      "from unsloth import FastModel\n"
      "m, t = FastModel.from_pretrained('unsloth/gemma-3-270m-it', max_seq_length = 1024)\n"
      "m = FastModel.get_peft_model(m, r = 8)\n";
  const TrainingPlan plan = plan_of(text + trainer());
  EXPECT_THAT(features(plan), IsEmpty());
  EXPECT_EQ(plan.kernels.unsloth.value, UnslothLayers::none);
  EXPECT_EQ(plan.recipe.loss.value, Loss::unsloth_fused);
}

TEST(Unsloth, FastModelAdaptsPartsOfLayers) {
  const auto targets = [](const std::string& arguments) {
    return plan_of(
               "from unsloth import FastModel\nm, t = FastModel.from_pretrained('unsloth/gemma-3-1b-it', "
               "max_seq_length = 1024, load_in_4bit = False)\nm = FastModel.get_peft_model(m" +
               arguments + ")\n" + trainer())
        .adapter.targets.value;
  };
  const std::string layers = R"(model\.layers\.\d+\.(?:)";
  const std::string attention = "self_attn|attention|attn|mixer";
  const std::string mlp = "mlp|feed_forward|ffn|dense|mixer";
  EXPECT_THAT(targets(""), ElementsAre(layers + attention + "|" + mlp + R"()\.\w+)"));
  EXPECT_THAT(targets(", finetune_mlp_modules = False"), ElementsAre(layers + attention + R"()\.\w+)"));
  EXPECT_THAT(targets(", target_modules = ['q_proj', 'in_proj']"), ElementsAre("q_proj", "in_proj"));
  EXPECT_THAT(targets(", target_modules = ['q_proj', 'in_proj'], finetune_vision_layers = False"),
              ElementsAre(layers + attention + "|" + mlp + R"()\.(?:q_proj|in_proj))"));
}

TEST(Unsloth, ItsOwnLayersAndLossArePartOfThePlan) {
  const TrainingPlan plan = plan_of(all());
  EXPECT_THAT(features(plan), IsEmpty());
  EXPECT_EQ(plan.kernels.unsloth.value, UnslothLayers::xformers);
  EXPECT_EQ(plan.recipe.loss.value, Loss::unsloth_fused);
  EXPECT_EQ(plan.recipe.loss_part.value, std::int64_t{4} << 30);
  EXPECT_EQ(plan.checkpointing.offload.value, Offload::buffered);
}

// The stack has the defaults of Unsloth's SFTConfig, and another config has others.
TEST(Unsloth, DefaultsOfAnotherConfigAreNotItsOwn) {
  const auto with = [](const std::string& arguments) {
    return features(plan_of(import + load + adapt + "t = SFTTrainer(model = m, args = TrainingArguments(" + arguments +
                            "))\nt.train()\n"));
  };
  EXPECT_THAT(with("optim = 'adamw_8bit', gradient_accumulation_steps = 1"),
              ElementsAre("config: a default of TrainingArguments (per_device_train_batch_size)"));
  EXPECT_THAT(with("optim = 'adamw_8bit', gradient_accumulation_steps = 1, per_device_train_batch_size = 2"),
              IsEmpty());
}

TEST(Unsloth, ShortRowsAreCheckpointedByTorch) {
  const auto how = [](const std::string& length, const std::string& asked) {
    return plan_of(import + "m, t = FastLanguageModel.from_pretrained('a', max_seq_length = " + length +
                   ")\nm = FastLanguageModel.get_peft_model(m, use_gradient_checkpointing = " + asked + ")\n" +
                   trainer())
        .checkpointing.offload.value;
  };
  EXPECT_EQ(how("511", "'unsloth'"), Offload::none);
  EXPECT_EQ(how("512", "'unsloth'"), Offload::buffered);
  EXPECT_EQ(how("512", "True"), Offload::none);
}

TEST(Unsloth, CheckpointsOfAnotherKindAreAGap) {
  EXPECT_THAT(
      features(plan_of(import + load + "m = FastLanguageModel.get_peft_model(m, use_gradient_checkpointing = 'mlx')\n" +
                       trainer())),
      ElementsAre("get_peft_model.use_gradient_checkpointing: another way of checkpointing"));
}

TEST(Unsloth, RowsAreJoinedUnlessThatIsSwitchedOff) {
  const TrainingPlan joined = plan_of(all("per_device_train_batch_size = 4"));
  EXPECT_EQ(joined.batch.micro_batch_size.value, 1);
  EXPECT_EQ(joined.batch.sequence_length.value, 4096);
  EXPECT_EQ(joined.batch.joined.value, 4);
  const TrainingPlan apart = plan_of(all("per_device_train_batch_size = 4, padding_free = False"));
  EXPECT_EQ(apart.batch.micro_batch_size.value, 4);
  EXPECT_EQ(apart.batch.joined.value, 0);
  EXPECT_EQ(apart.batch.sequence_length.value, 1024);
}

TEST(Unsloth, TheLengthIsTheModelsUnlessMaxSeqLengthIsLess) {
  const auto length = [](const std::string& config) {
    return plan_of(all("per_device_train_batch_size = 1, " + config)).batch.sequence_length.value;
  };
  EXPECT_EQ(length("max_length = 512"), 1024);
  EXPECT_EQ(length("max_seq_length = 512"), 512);
  EXPECT_EQ(length("max_seq_length = 4096"), 1024);
}

TEST(Unsloth, WhatTheTrainerIsGivenGoesOverItsConfig) {
  const TrainingPlan plan = plan_of(all("packing = False, max_seq_length = 512", "max_seq_length = 256, "));
  EXPECT_EQ(plan.batch.sequence_length.value, 256 * 4);
}

TEST(Unsloth, ItsTrainerChecksPointsAgain) {
  const std::string off =
      import + load + "m = FastLanguageModel.get_peft_model(m, use_gradient_checkpointing = False)\n";
  EXPECT_TRUE(plan_of(off + trainer()).checkpointing.on.value);
  EXPECT_FALSE(plan_of(off + trainer("gradient_checkpointing = False")).checkpointing.on.value);
}

TEST(Unsloth, TheLoaderSaysWidthAndDtype) {
  const auto with = [](const std::string& more) {
    return plan_of(import + "m, t = FastLanguageModel.from_pretrained('a', " + more + ")\n" + adapt + trainer());
  };
  EXPECT_EQ(with("load_in_4bit = False").quantization.kind.value, Quantization::none);
  EXPECT_EQ(with("load_in_16bit = True").quantization.kind.value, Quantization::none);
  EXPECT_EQ(with("dtype = torch.float16").precision.autocast.value, Autocast::fp16);
  EXPECT_EQ(with("dtype = None").precision.weights_dtype.value, WeightsDType::bf16);
  EXPECT_THAT(features(with("load_in_8bit = True")),
              Contains("from_pretrained.load_in_8bit: 8-bit weights by Unsloth"));
}

TEST(Unsloth, ACheckpointInFourBitsIsTheModelOfThatName) {
  const TrainingPlan plan =
      plan_of(import + "m, t = FastLanguageModel.from_pretrained(model_name = 'a/b-bnb-4bit')\n" + adapt + trainer());
  EXPECT_EQ(plan.model.name.value, "a/b");
}

// unsloth/models/mapper.py has a checkpoint of its own for many names; loader_utils.py takes some back (BAD_MAPPINGS).
TEST(Unsloth, InFourBitsANameMayStandForItsOwnCheckpoint) {
  const auto with = [](const std::string& arguments) {
    return plan_of(import + "m, t = FastLanguageModel.from_pretrained(" + arguments + ")\n" + adapt + trainer())
        .quantization;
  };
  const auto is_open = [&](const std::string& arguments) {
    const QuantizationFacts facts = with(arguments);
    EXPECT_EQ(facts.checkpoint.value, 0);
    EXPECT_EQ(facts.skipped.value.empty(), facts.skipped.origin.kind != Origin::Kind::assumed);
    return facts.skipped.value == std::vector<std::string>{"lm_head", "model.layers"};
  };
  EXPECT_TRUE(is_open("'meta-llama/LLAMA-3.2-1B'"));
  EXPECT_TRUE(is_open("'a/b-unsloth-bnb-4bit'"));
  EXPECT_FALSE(is_open("'meta-llama/Llama-3.2-1B', load_in_4bit = False"));
  EXPECT_FALSE(is_open("'unsloth/Llama-3.2-1B-bnb-4bit'"));
  EXPECT_FALSE(is_open("'my-org/my-llama'"));
  EXPECT_FALSE(is_open("'unsloth/Qwen3-32B'"));
  EXPECT_FALSE(is_open("'unsloth/Qwen3-32B-unsloth-bnb-4bit'"));
}

// What unslothai/notebooks' outputs show of the download.
TEST(Unsloth, TheSizeOfItsOwnCheckpointMayBeKnown) {
  const auto with = [](const std::string& arguments) {
    return plan_of(import + "m, t = FastLanguageModel.from_pretrained(" + arguments + ")\n" + adapt + trainer())
        .quantization;
  };
  EXPECT_EQ(with("'Qwen/Qwen3-14B'").checkpoint.value, 11119259070);
  EXPECT_EQ(with("'unsloth/Qwen3-14B-unsloth-bnb-4bit'").checkpoint.value, 11119259070);
  EXPECT_THAT(with("'Qwen/Qwen3-14B'").skipped.value, IsEmpty());
  EXPECT_EQ(with("'unsloth/Qwen3-14B-bnb-4bit'").checkpoint.value, 0);
  EXPECT_EQ(with("'unsloth/Qwen3-14B', load_in_4bit = False").checkpoint.value, 0);
}

// trainer.py: beside a collator rows are neither joined nor packed.
TEST(Unsloth, ACollatorOfRowsAndLabelsPadsThem) {
  const auto with = [](const std::string& collator, const std::string& config) {
    return plan_of(all("per_device_train_batch_size = 4" + config, "data_collator = " + collator + ", "));
  };
  const TrainingPlan plan = with("DataCollatorForSeq2Seq(tokenizer = t)", ", packing = True");
  EXPECT_THAT(features(plan), IsEmpty());
  EXPECT_EQ(plan.batch.micro_batch_size.value, 4);
  EXPECT_EQ(plan.batch.sequence_length.value, 1024);
  EXPECT_EQ(plan.batch.joined.value, 0);
  EXPECT_FALSE(plan.loader.packed.value);
  EXPECT_THAT(features(with("DataCollatorForSeq2Seq(t, pad_to_multiple_of = 8)", "")),
              ElementsAre("data_collator: a collator of its own"));
}

TEST(Unsloth, WhatItRefusesIsAConflict) {
  EXPECT_THAT(errors_of(all("fp16 = True")), Contains(HasSubstr("fp16: Unsloth refuses it for a model in bfloat16")));
  EXPECT_THAT(errors_of(all("fp16 = not is_bfloat16_supported(), bf16 = is_bfloat16_supported()")), IsEmpty());
}

TEST(Unsloth, AnExpressionIsNotGuessed) {
  EXPECT_THAT(errors_of(all("per_device_train_batch_size = int(x)")),
              Contains(HasSubstr("t.py:4:80: ingest/not-read: per_device_train_batch_size: int(x) is not read")));
  EXPECT_EQ(plan_of(all("per_device_train_batch_size = int(x)"), {"per_device_train_batch_size=1"})
                .batch.sequence_length.value,
            1024);
  EXPECT_THAT(errors_of(all("logging_steps = int(x)")), IsEmpty());
  EXPECT_THAT(features(plan_of(all({}, "data_collator = collator(), "))),
              Contains("data_collator: a collator of its own"));
  EXPECT_THAT(errors_of(all({}, "eval_dataset = rows[1], ")), IsEmpty());
}

// rl.py: an SFTTrainer with an eval_dataset has the model return its logits, of rows that are joined as training's.
TEST(Unsloth, ItEvaluatesJoinedRows) {
  const auto with = [](const std::string& config, const std::string& own = "eval_dataset = rows[1], ") {
    return plan_of(all("per_device_eval_batch_size = 3, " + config, own));
  };
  const TrainingPlan plan = with("eval_strategy = 'steps'");
  EXPECT_THAT(features(plan), IsEmpty());
  EXPECT_TRUE(plan.evaluation.evaluates.value);
  EXPECT_EQ(plan.evaluation.length.value, 3 * 1024);
  EXPECT_EQ(plan.evaluation.rows.value, 1);
  EXPECT_FALSE(with("eval_strategy = 'no'").evaluation.evaluates.value);
  EXPECT_FALSE(with("eval_strategy = 'steps'", {}).evaluation.evaluates.value);
  EXPECT_FALSE(with("eval_strategy = 'steps'", "eval_dataset = None, ").evaluation.evaluates.value);
  EXPECT_THAT(features(with("eval_strategy = 'steps', padding_free = False")),
              ElementsAre("eval_strategy: evaluation of padded rows by Unsloth"));
}

std::string pairs(const std::string& name, const std::string& config, const std::string& own = {}) {
  return import + load + adapt + "trainer = " + name + "Trainer(model = m, " + own + "args = " + name + "Config(" +
         config + "))\ntrainer.train()\n";
}

TEST(Unsloth, PairsAreAsLongAsTheirTrainersOwnLimit) {
  const TrainingPlan orpo = plan_of(pairs("ORPO", "max_length = 256, max_prompt_length = 128, beta = 0.1"));
  EXPECT_THAT(features(orpo), IsEmpty());
  EXPECT_THAT(orpo.warnings, IsEmpty());
  EXPECT_EQ(orpo.recipe.kind.value, RecipeKind::reference_free);
  EXPECT_TRUE(orpo.recipe.second_term.value);
  EXPECT_EQ(orpo.batch.sequence_length.value, 256);
  EXPECT_EQ(orpo.batch.micro_batch_size.value, 4);
  EXPECT_EQ(orpo.batch.joined.value, 0);
  EXPECT_EQ(plan_of(pairs("ORPO", "max_length = None")).batch.sequence_length.value, 512);
  EXPECT_THAT(errors_of(pairs("DPO", "max_length = None")), Contains(HasSubstr("ingest/missing-fact")));
  EXPECT_THAT(errors_of(all("max_length = int(x)")), IsEmpty());
  const TrainingPlan dpo = plan_of(pairs("DPO", "", "ref_model = None, "));
  EXPECT_THAT(features(dpo), IsEmpty());
  EXPECT_EQ(dpo.recipe.kind.value, RecipeKind::dpo);
  EXPECT_EQ(dpo.recipe.reference.value, Reference::adapter_off);
  EXPECT_EQ(dpo.batch.sequence_length.value, 1024);
  EXPECT_THAT(features(plan_of(pairs("DPO", "padding_free = True", "ref_model = other, "))),
              ElementsAre("ref_model: a reference model of its own", "padding_free: pairs in one row"));
}

// FastLlamaModel.get_peft_model, and _create_unsloth_optimizer of a rate of its own.
TEST(Unsloth, AnEmbeddingAmongTheTargetsIsTrainedWhole) {
  const std::string whole = "m = FastLanguageModel.get_peft_model(m, target_modules = ['q_proj', 'embed_tokens'])\n";
  const TrainingPlan plan = plan_of(import + load + whole + trainer());
  EXPECT_THAT(plan.adapter.targets.value, ElementsAre("q_proj"));
  EXPECT_THAT(plan.adapter.modules_to_save.value, ElementsAre("embed_tokens"));
  EXPECT_TRUE(plan.optimizer.fp32_embedding_state.value);
  const TrainingPlan own =
      plan_of(import + load + whole +
              "UnslothTrainer(model = m, args = UnslothTrainingArguments(embedding_learning_rate = 1e-5, "
              "per_device_train_batch_size = 1, gradient_accumulation_steps = 1, optim = 'adamw_8bit'))\n"
              "trainer.train()\n");
  EXPECT_FALSE(own.optimizer.fp32_embedding_state.value);
}

TEST(Unsloth, LoadingAgainAfterTrainingIsAnotherMatter) {
  EXPECT_THAT(errors_of(all() + "m, t = FastLanguageModel.from_pretrained('lora_model')\n"), IsEmpty());
  EXPECT_THAT(errors_of(import + load + "m, t = FastLanguageModel.from_pretrained('b')\n" + adapt + trainer()),
              Contains(HasSubstr("ingest/several-runs")));
}

TEST(Unsloth, RunsThatTakeTheSameAreOne) {
  const std::string first = import + load + adapt + trainer("learning_rate = 1e-4", "train_dataset = a, ");
  EXPECT_THAT(errors_of(first + trainer("learning_rate = 1e-5", "train_dataset = b, ")), IsEmpty());
  EXPECT_THAT(errors_of(first + trainer("learning_rate = 1e-4, packing = True", "train_dataset = b, ")),
              Contains(HasSubstr("ingest/several-runs")));
}

TEST(Unsloth, OtherTrainersAreNamed) {
  const std::string rloo =
      import + load + adapt +
      "trainer = RLOOTrainer(model = m, reward_funcs = [f], args = RLOOConfig(num_generations = g()))\n"
      "trainer.train()\n";
  EXPECT_THAT(features(plan_of(rloo)), Contains("trainer: RLOO by Unsloth"));
  EXPECT_THAT(plan_of(rloo).warnings, IsEmpty());
}

std::string rollouts(const std::string& loading, const std::string& config) {
  return import + "m, t = FastLanguageModel.from_pretrained('a', max_seq_length = 1024" + loading + ")\n" + adapt +
         "trainer = GRPOTrainer(model = m, reward_funcs = [f], args = GRPOConfig(max_prompt_length = 256, " + config +
         "))\ntrainer.train()\n";
}

TEST(Unsloth, RolloutsOfVllmThatSleepsArePlanned) {
  const std::string standby = "import os\nos.environ['UNSLOTH_VLLM_STANDBY'] = '1'\n";
  const std::string script = standby + rollouts(", fast_inference = True",
                                                "per_device_train_batch_size = 1, "
                                                "gradient_accumulation_steps = 1, "
                                                "num_generations = 6, "
                                                "max_completion_length = 700");
  const TrainingPlan plan = plan_of(script);
  EXPECT_THAT(features(plan), IsEmpty());
  EXPECT_EQ(plan.recipe.kind.value, RecipeKind::grpo);
  EXPECT_EQ(plan.recipe.generation.value, Generation::vllm);
  EXPECT_EQ(plan.recipe.reference.value, Reference::adapter_off);
  EXPECT_EQ(plan.batch.micro_batch_size.value, 6);  // A batch that groups do not divide becomes one.
  EXPECT_EQ(plan.batch.sequence_length.value, 956);
  EXPECT_EQ(plan.batch.completion_length.value, 700);
  EXPECT_EQ(plan.runtime.alloc_conf.value, "");
}

// The data say how long prompts are; what they leave of a row is their completion's.
TEST(Unsloth, PromptsAndCompletionsMayShareARow) {
  const std::string loads =
      "import os\nos.environ['UNSLOTH_VLLM_STANDBY'] = '1'\n" + import +
      "n = 1024\nm, t = FastLanguageModel.from_pretrained('unsloth/mistral-7b-v0.3', max_seq_length = n, "
      "fast_inference = True)\n" +
      adapt;
  const auto trains = [](const std::string& prompt) {
    return "trainer = GRPOTrainer(model = m, args = GRPOConfig(num_generations = 4, max_prompt_length = " + prompt +
           ", max_completion_length = left))\ntrainer.train()\n";
  };
  const TrainingPlan plan = plan_of(loads + "p = longest + 1\nleft = n - p\n" + trains("p"));
  EXPECT_EQ(plan.batch.sequence_length.value, 1024);
  EXPECT_EQ(plan.batch.completion_length.value, 1023);
  EXPECT_EQ(plan.batch.completion_length.origin.kind, Origin::Kind::assumed);
  const std::string unread = "max_completion_length: left is not read, since a script is never run";
  EXPECT_THAT(errors_of(loads + "p = longest + 1\nleft = n - q\n" + trains("p")), Contains(HasSubstr(unread)));
  EXPECT_THAT(errors_of(loads + "p = longest + 1\nleft = n - p + 1\n" + trains("p")), Contains(HasSubstr(unread)));
  EXPECT_THAT(errors_of(loads + "p = longest + 1\nleft = n - p\nleft = 8\n" + trains("p")),
              Contains(HasSubstr(unread)));
}

TEST(Unsloth, OtherRolloutsAreNamed) {
  EXPECT_THAT(features(plan_of(rollouts("", "num_generations = 4"))),
              Contains("trainer: GRPO by Unsloth without vLLM on the same GPU"));
  EXPECT_THAT(features(plan_of(rollouts(", fast_inference = True", "num_generations = 4"))),
              Contains("from_pretrained.fast_inference: vLLM that shares Unsloth's weights and does not sleep "
                       "(UNSLOTH_VLLM_STANDBY)"));
}

TEST(Unsloth, ItsEnvironmentAndLaterAssignmentsCount) {
  EXPECT_THAT(features(plan_of("import os\nos.environ['UNSLOTH_RETURN_LOGITS'] = '1'\n" + all())),
              Contains("environ.UNSLOTH_RETURN_LOGITS: logits that are returned"));
  EXPECT_THAT(features(plan_of(import + load + adapt +
                               "c = SFTConfig()\nc.packing = True\nt = SFTTrainer(args = c)\nt.train()\n")),
              Contains("assigned.packing: a setting that is assigned after the call"));
}

TEST(Unsloth, WhatIsNotReadIsNotPassedOver) {
  const std::string rest = "t = SFTTrainer(model = m, args = args)\nt.train()\n";
  const std::string config = "args = SFTConfig('out')\n";
  EXPECT_THAT(errors_of(import + "m, t = FastLanguageModel.from_pretrained('unsloth/mistral-7b-v0.3', 8192)\n" + adapt +
                        trainer()),
              ElementsAre(HasSubstr("arguments of FastLanguageModel.from_pretrained without their names")));
  EXPECT_THAT(errors_of(import + load + "m = FastLanguageModel.get_peft_model(m, 256)\n" + trainer()),
              ElementsAre(HasSubstr("arguments of FastLanguageModel.get_peft_model without their names")));
  EXPECT_THAT(errors_of(import + load + adapt + "args = parsed()\n" + rest),
              ElementsAre(HasSubstr("where the trainer's config is made is not read")));
  EXPECT_THAT(errors_of(import + load + adapt + config + rest), IsEmpty());
  for (const char* call : {"os.environ.setdefault('UNSLOTH_RETURN_LOGITS', '1')\n", "setattr(args, 'packing', True)\n",
                           "args = dataclasses.replace(args, packing = True)\n"}) {
    EXPECT_THAT(errors_of(import + load + adapt + config + call + rest), ElementsAre(HasSubstr("sets is not read")));
  }
  EXPECT_THAT(errors_of(import + load + adapt + config + "os.environ.setdefault('WANDB_MODE', 'off')\n" + rest),
              IsEmpty());
}

TEST(Unsloth, OtherInitialisationsOfLoraAreUndecided) {
  const auto with = [](const std::string& how) {
    return features(plan_of(import + load + "m = FastLanguageModel.get_peft_model(m, init_lora_weights = " + how +
                            ")\n" + trainer()));
  };
  EXPECT_THAT(with("True"), IsEmpty());
  EXPECT_THAT(with("'gaussian'"), IsEmpty());
  EXPECT_THAT(with("'loftq'"), ElementsAre("get_peft_model.init_lora_weights: LoRA initialised in this way"));
}

TEST(Unsloth, HowManySequencesArePackedTheDataDecide) {
  EXPECT_THAT(errors_of(all("packing = True")), ElementsAre(HasSubstr("how many sequences are packed into a row")));
  EXPECT_EQ(plan_of(all("packing = True"), {"plan.joined_rows=12"}).batch.joined.value, 12);
}

// trainer.py: PADDING_FREE_BLOCKLIST; masks of Gemma 2 are as large as the model was loaded for.
TEST(Unsloth, RowsOfGemma2ArePadded) {
  Architecture gemma2;
  gemma2.model_type = "gemma2";
  const auto with = [&](const std::string& config) { return *with_model_defaults(plan_of(all(config)), gemma2); };
  const TrainingPlan plan = with("per_device_train_batch_size = 2");
  EXPECT_EQ(plan.batch.joined.value, 0);
  EXPECT_EQ(plan.batch.micro_batch_size.value, 2);
  EXPECT_EQ(plan.batch.sequence_length.value, 1024);
  EXPECT_THAT(features(plan), IsEmpty());
  EXPECT_EQ(with("per_device_train_batch_size = 2, padding_free = True").batch.joined.value, 2);
  EXPECT_THAT(features(with("max_seq_length = 512")),
              ElementsAre("max_seq_length: rows that are shorter than the model was loaded for"));
}

TEST(Unsloth, AScriptWithoutTrainingHasNothingToEstimate) {
  EXPECT_THAT(errors_of(import + load), ElementsAre(HasSubstr("ingest/no-training: the script makes no trainer")));
  EXPECT_THAT(errors_of(import), ElementsAre(HasSubstr("loads no model")));
  EXPECT_THAT(errors_of("import torch\n"), ElementsAre(HasSubstr("ingest/unknown-dialect: this script imports no")));
}

TEST(Unsloth, OnlyScriptsAreRead) {
  EXPECT_THAT(errors_from("r: 1\n", {"unsloth", {}, {}}),
              ElementsAre(HasSubstr("unsloth's configs are Python scripts and notebooks")));
  EXPECT_THAT(errors_of(all(), {"hf", {}, {}}), ElementsAre(HasSubstr("no scripts are read as hf")));
}

}  // namespace
}  // namespace oomplan
