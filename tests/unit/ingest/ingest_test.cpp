// Recognition, composition, overrides, hostile files.
#include <map>

#include "from_text.hpp"
#include "oomplan/catalog/architecture.hpp"

namespace oomplan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::string least = "model: gpt2\nmicro_batch_size: 2\nsequence_length: 64\n";

Loader files(const std::map<std::string, std::string>& all) {
  return [all](const std::string& path) -> Result<Document> {
    const auto found = all.find(path);
    if (found == all.end()) return Diagnostic{Severity::error, "read/missing", "no such file", {path, 0, 0}, {}, {}};
    return parse_document(found->second, path, Syntax::yaml);
  };
}

TEST(Recognise, Dialects) {
  EXPECT_THAT(dialects(), ElementsAre("axolotl", "hf", "litgpt", "llamafactory", "llamafactory_v1", "oomplan",
                                      "torchtitan", "torchtune", "unsloth"));
}

TEST(Recognise, ByTheKeys) {
  EXPECT_EQ(plan_from(least).dialect, "oomplan");
  EXPECT_EQ(plan_from("model_name_or_path: a\nlearning_rate: 1\n").dialect, "hf");
  EXPECT_EQ(
      plan_from("base_model: a\nmicro_batch_size: 1\ngradient_accumulation_steps: 1\nflash_attention: true\n").dialect,
      "axolotl");
}

TEST(Recognise, KeysThatOnlyOneKnowsBreakATie) {
  const std::string shared = "micro_batch_size: 1\ngradient_accumulation_steps: 1\n";
  // Each with a key of the other by mistake: that of the model decides.
  EXPECT_EQ(
      plan_from("base_model: a\nsequence_length: 8\nsequenc_len: 8\n" + shared, {{}, {"plan.sequence_length=8"}, {}})
          .dialect,
      "axolotl");
  EXPECT_EQ(plan_from("model: a\nsequence_len: 8\n" + shared, {{}, {"plan.sequence_length=8"}, {}}).dialect, "oomplan");
  EXPECT_EQ(
      plan_with("model_name_or_path: a\nmicro_batch_size: 1\nlearning_rate: 1\n", {"plan.micro_batch_size=1"}).dialect,
      "hf");
  EXPECT_THAT(errors_from("micro_batch_size: 1\nsequence_length: 8\nsequence_len: 8\n"),
              ElementsAre(HasSubstr("these keys are as much axolotl's (sequence_len) as oomplan's (sequence_length)")));
}

TEST(Recognise, ATieIsSaid) {
  EXPECT_THAT(
      errors_from("micro_batch_size: 1\n"),
      ElementsAre(
          "c.yaml: ingest/ambiguous-dialect: these keys are as much axolotl's as oomplan's (say which "
          "with --dialect: axolotl, hf, litgpt, llamafactory, llamafactory_v1, oomplan, torchtitan, torchtune)"));
  EXPECT_THAT(errors_from("micro_batch_size: 1\n", {"oomplan", {}, {}}), SizeIs(2));
}

TEST(Recognise, NothingKnown) {
  EXPECT_THAT(
      errors_from("a: 1\nb: 2\n"),
      ElementsAre("c.yaml: ingest/unknown-dialect: no dialect knows enough of these keys (say which with "
                  "--dialect: axolotl, hf, litgpt, llamafactory, llamafactory_v1, oomplan, torchtitan, torchtune)"));
  EXPECT_THAT(errors_from("{}"), ElementsAre(HasSubstr("no dialect knows enough")));
  EXPECT_THAT(errors_from(least, {"axolotol", {}, {}}),
              ElementsAre("c.yaml: ingest/unknown-dialect: no dialect is called \"axolotol\" (known: axolotl, hf, "
                          "litgpt, llamafactory, llamafactory_v1, oomplan, torchtitan, torchtune)"));
}

TEST(Recognise, OtherKindsOfFileAreNamed) {
  EXPECT_THAT(errors_from("model: {_component_: a}\ncheckpointer: {_component_: b}\ndevice: cuda\ndtype: bf16\n"
                          "quantizer: {_component_: c}\n"),
              ElementsAre(HasSubstr("ingest/no-training: this is a config of torchtune's recipe that quantizes")));
  EXPECT_THAT(errors_from("model: a/b\npeft_config: {name: lora, export_dir: out}\n"),
              ElementsAre(HasSubstr("ingest/no-training: this is a config of LLaMA-Factory's that merges")));
  EXPECT_THAT(errors_from("\"<|a|>\": text\n\"<b>\": text\n"),
              ElementsAre(HasSubstr("ingest/no-training: this is a list of special tokens")));
  EXPECT_THAT(errors_from("zero_optimization: {stage: 2}\ntrain_batch_size: 8\n"),
              ElementsAre(HasSubstr("ingest/no-training: this is a DeepSpeed config, which trains nothing by itself "
                                    "(give it with --launch")));
  EXPECT_THAT(errors_from("distributed_type: FSDP\nnum_machines: 1\nfsdp_config: {}\n"),
              ElementsAre(HasSubstr("ingest/no-training: this is an accelerate launcher config")));
  EXPECT_THAT(errors_from("architectures: [a]\nhidden_size: 8\nvocab_size: 9\n"),
              ElementsAre(HasSubstr("this is a model's config.json")));
}

TEST(Recognise, OnlyMappings) {
  EXPECT_THAT(errors_from("[1, 2]"),
              ElementsAre("c.yaml:1:1: ingest/not-a-mapping: expected a mapping of keys to values, found a list"));
  EXPECT_THAT(errors_from("hello"), ElementsAre(HasSubstr("ingest/not-a-mapping")));
}

TEST(Compose, WhatExtendsWins) {
  IngestOptions options;
  options.loader = files({{"base.yaml", "model: a\nmicro_batch_size: 1\nextends: sub/deep.yaml\n"},
                          {"sub/deep.yaml", "extends: ../x.yaml\nsequence_length: 5\nmodel: z\n"},
                          {"sub/../x.yaml", "autocast: bf16\n"}});
  const TrainingPlan plan = plan_from("extends: base.yaml\nmicro_batch_size: 3\n", options);
  EXPECT_EQ(plan.batch.micro_batch_size.value, 3);
  EXPECT_EQ(plan.model.name.value, "a");
  EXPECT_EQ(plan.model.name.origin.where, (Location{"base.yaml", 1, 8}));
  EXPECT_EQ(plan.batch.sequence_length.value, 5);
  EXPECT_EQ(plan.precision.autocast.value, Autocast::bf16);
  EXPECT_EQ(plan.precision.autocast.origin.where.file, "sub/../x.yaml");
}

TEST(Compose, MissingFile) {
  IngestOptions options;
  options.loader = files({});
  EXPECT_THAT(errors_from("model: a\nextends: base.yaml\n", options),
              ElementsAre("c.yaml:2:10: ingest/extends-missing: extends: base.yaml cannot be read",
                          "base.yaml: read/missing: no such file"));
  EXPECT_THAT(errors_from("model: a\nextends: base.yaml\n"),
              ElementsAre("c.yaml:2:10: ingest/extends-missing: extends: base.yaml cannot be read from here"));
  EXPECT_THAT(errors_from("model: a\nextends: [b]\n", options),
              ElementsAre("c.yaml:2:10: ingest/bad-value: extends: expected the path of a config, found a list"));
}

TEST(Compose, Cycles) {
  IngestOptions options;
  options.loader = files({{"b.yaml", "extends: c.yaml\n"}});
  EXPECT_THAT(errors_from("extends: b.yaml\n", options),
              ElementsAre("b.yaml:1:10: ingest/extends-cycle: extends: c.yaml leads back to itself"));
  options.loader = [](const std::string& path) { return parse_document("extends: ./x.yaml", path, Syntax::yaml); };
  EXPECT_THAT(errors_from("extends: d/x.yaml\n", options), ElementsAre(HasSubstr("ingest/extends-cycle")));
}

TEST(Overrides, OwnKeysAndFields) {
  const std::string text = "model_name_or_path: a\nuse_peft: true\nmax_length: 8\n";
  const TrainingPlan plan =
      plan_with(text, {"max_length=16", "lora_target_modules=[q_proj, v_proj]", "plan.padding_mask=false",
                       "optimizer=sgd", "model_init_kwargs.dtype=auto"});
  EXPECT_THAT(plan.batch.sequence_length, is_from(16, "--set max_length=16"));
  EXPECT_EQ(plan.adapter.targets.value, (std::vector<std::string>{"q_proj", "v_proj"}));
  EXPECT_THAT(plan.batch.padding_mask, is_from(false, "--set plan.padding_mask=false"));
  EXPECT_EQ(plan.optimizer.name.value, "sgd");
  EXPECT_EQ(plan.precision.weights_dtype.value, WeightsDType::checkpoint);
}

TEST(Overrides, NullTakesAKeyAway) {
  const std::string text = "model_name_or_path: a\nuse_peft: true\ndeepspeed: ds.json\n";
  EXPECT_THAT(features(plan_from(text)), ElementsAre("deepspeed: DeepSpeed, whose file cannot be read from here,"));
  EXPECT_THAT(features(plan_with(text, {"deepspeed="})), IsEmpty());
  EXPECT_THAT(features(plan_with(text, {"deepspeed=null"})), IsEmpty());
}

TEST(Overrides, TheLastOneWins) {
  EXPECT_EQ(plan_with(least, {"micro_batch_size=5", "micro_batch_size=6"}).batch.micro_batch_size.value, 6);
}

TEST(Overrides, InsideAMapping) {
  const std::string text =
      "model_name_or_path: a\nuse_peft: true\ngradient_checkpointing_kwargs: {use_reentrant: false}\n";
  EXPECT_TRUE(plan_with(text, {"gradient_checkpointing_kwargs.use_reentrant=true"}).checkpointing.reentrant.value);
  EXPECT_TRUE(plan_with(text, {"gradient_checkpointing_kwargs={use_reentrant: true}"}).checkpointing.reentrant.value);
}

TEST(Overrides, WhatIsWrongWithThem) {
  EXPECT_THAT(
      errors_with(least, {"x", "=3", "micro_bach_size=3", "micro_batch_size=two", "attention=[", "plan.foo=1"}),
      ElementsAre(
          "--set x: ingest/bad-override: expected key=value", "--set =3: ingest/bad-override: expected key=value",
          "--set micro_bach_size=3: ingest/unknown-key: \"micro_bach_size\" is no key of oomplan and no "
          "fact of the plan (did you mean micro_batch_size?)",
          HasSubstr("--set attention=[:1:"), HasSubstr("--set plan.foo=1: ingest/unknown-key: \"plan.foo\" is no key"),
          "--set micro_batch_size=two: ingest/bad-value: micro_batch_size: expected a positive "
          "integer, found \"two\"; did you mean 2?"));
}

Architecture a_model(std::string model_type) { return {.model_type = std::move(model_type)}; }

TEST(ModelDefaults, PeftsTargetsByModelType) {
  TrainingPlan plan = plan_from(least + "adapter: lora\n");
  EXPECT_THAT(with_model_defaults(plan, a_model("gpt2"))->adapter.targets,
              is_from(std::vector<std::string>{"c_attn"}, "default of peft 0.21.2: target modules of gpt2"));
  EXPECT_EQ(with_model_defaults(plan, a_model("qwen3"))->adapter.targets.value,
            (std::vector<std::string>{"q_proj", "v_proj"}));
  EXPECT_THAT(
      said(with_model_defaults(plan, a_model("mamba")).errors()),
      ElementsAre("c.yaml:4:10: ingest/refused: no LoRA targets are given, and peft 0.21.2 has no default for "
                  "mamba: it stops (give the framework's key for target modules, or --set plan.lora_targets=[…])"));
  EXPECT_TRUE(has_default_targets("gpt2"));
  EXPECT_FALSE(has_default_targets("mamba"));
  plan.adapter.targets.value = {"k_proj"};
  EXPECT_EQ(with_model_defaults(plan, a_model("mamba"))->adapter.targets.value, std::vector<std::string>{"k_proj"});
}

TEST(ModelDefaults, ADenseModelIsRefusedTheLossOfAMixture) {
  const std::string text = "trainer: sft\nmodel_name_or_path: a\nrouter_aux_loss_coef: ";
  EXPECT_THAT(said(with_model_defaults(plan_from(text + "0.01\n"), a_model("qwen2")).errors()),
              ElementsAre("c.yaml:3:23: ingest/refused: router_aux_loss_coef: trl 1.16.0 refuses it where the model "
                          "(qwen2) is no mixture of experts"));
  EXPECT_TRUE(with_model_defaults(plan_from(text + "0\n"), a_model("qwen2")).ok());
}

TEST(ModelDefaults, SdpaByDefaultIsEagerWhereTheModelHasNone) {
  const Architecture without_sdpa{.model_type = "gemma2", .no_sdpa = "transformers 5.23.0: gemma2 has no sdpa"};
  TrainingPlan plan = plan_from(least);
  plan.kernels.attention = {Attention::sdpa, {Origin::Kind::framework_default, "transformers 5.23.0"}};
  EXPECT_THAT(with_model_defaults(plan, without_sdpa)->kernels.attention,
              is_from(Attention::eager, "default of transformers 5.23.0: gemma2 has no sdpa"));
  EXPECT_EQ(with_model_defaults(plan, a_model("gemma"))->kernels.attention.value, Attention::sdpa);
  TrainingPlan older = plan;
  older.framework = "axolotl 0.18.0 on transformers 5.14.1";
  EXPECT_EQ(with_model_defaults(older, without_sdpa)->kernels.attention.value, Attention::sdpa);
  plan.kernels.attention.origin.kind = Origin::Kind::config;
  EXPECT_THAT(said(with_model_defaults(plan, without_sdpa).errors()),
              ElementsAre(HasSubstr("ingest/conflict: transformers has no sdpa")));
  plan.kernels.attention.value = Attention::flash_attention_2;
  EXPECT_EQ(with_model_defaults(plan, without_sdpa)->kernels.attention.value, Attention::flash_attention_2);
}

TEST(ModelDefaults, TrlAddsTheLossOfAMixturesRouters) {
  TrainingPlan plan = plan_from(least);
  Architecture mixture{.model_type = "mixtral", .router_logits = true, .router_loss = 0.001};
  plan.framework = "trl 1.16.0 on transformers 5.23.0";
  plan.recipe.trainer.value = "sft";
  const auto added = [&](const Architecture& model) { return with_model_defaults(plan, model)->recipe.router_loss; };
  EXPECT_THAT(added(mixture), is_from(true, "default of trl 1.16.0: router_aux_loss_coef"));
  EXPECT_FALSE(added(a_model("llama")).value);
  plan.recipe.router_loss = {false, {Origin::Kind::config, "router_aux_loss_coef"}};
  EXPECT_FALSE(added(mixture).value);
  plan.recipe.router_loss = {};
  mixture.router_loss = 0;
  EXPECT_FALSE(added(mixture).value);
  mixture.router_loss = 0.001;
  plan.framework = "trl 0.28.0 on transformers 5.23.0";
  EXPECT_FALSE(added(mixture).value);
  plan.framework = "axolotl 0.18.0 on transformers 5.14.1";
  EXPECT_FALSE(added(mixture).value);
}

TEST(ModelDefaults, TheLossOfAMixturesRoutersIsUnmodelledWhereNobodyRanIt) {
  TrainingPlan plan = plan_from(least);
  Architecture mixture{.model_type = "mixtral", .router_logits = true, .router_loss = 0.001};
  plan.framework = "trl 1.16.0 on transformers 5.23.0";
  plan.recipe.trainer.value = "sft";
  const auto gaps = [&] { return with_model_defaults(plan, mixture)->unmodelled.size(); };
  EXPECT_EQ(gaps(), 0U);
  plan.recipe.label_smoothing.value = true;
  EXPECT_EQ(gaps(), 1U);
  plan.recipe.label_smoothing.value = false;
  plan.recipe.trainer.value = "gkd";
  EXPECT_EQ(gaps(), 1U);
  plan.recipe.trainer.value = "sft";
  plan.framework = "trl 1.10.0 on transformers 5.23.0";
  EXPECT_EQ(gaps(), 1U);
  plan.framework = "trl 1.16.0 on transformers 5.23.0";
  plan.recipe.router_loss = {true, {Origin::Kind::config, "router_aux_loss_coef"}};
  mixture.router_loss = 0;
  EXPECT_EQ(gaps(), 1U);
}

TEST(ModelDefaults, TrlsHeadStopsAtTheLossOfSomeMixtures) {
  TrainingPlan plan = plan_from(least);
  const Architecture mixture{.model_type = "granitemoe",
                             .router_logits = true,
                             .router_loss = 0.001,
                             .no_router_loss = "trl 1.16.0: no experts"};
  plan.framework = "trl 1.16.0 on transformers 5.23.0";
  plan.recipe.trainer.value = "sft";
  const auto answer = with_model_defaults(plan, mixture);
  EXPECT_THAT(said(answer.errors()),
              ElementsAre(HasSubstr("ingest/refused: the load-balancing loss, which TRL adds for granitemoe by itself, "
                                    "stops the run: trl 1.16.0: no experts")));
  plan.recipe.router_loss = {false, {Origin::Kind::config, "router_aux_loss_coef"}};
  EXPECT_TRUE(with_model_defaults(plan, mixture).ok());
}

TEST(ModelDefaults, PackedRowsStopAtScansWithoutTheirPackages) {
  TrainingPlan plan = plan_from(least);
  Architecture model = a_model("lfm2");
  model.body.push_back({.kinds = {{OpSpec{.op = "short_conv"}}}, .layers = {0}});
  plan.framework = "trl 1.16.0 on transformers 5.23.0";
  plan.loader.packed.value = true;
  plan.batch.padding_mask.value = true;
  const auto is_refused = [&] { return !with_model_defaults(plan, model).ok(); };
  EXPECT_TRUE(is_refused());
  plan.batch.padding_mask.value = false;  // packing_strategy: wrapped
  EXPECT_FALSE(is_refused());
  plan.batch.mask_sent.value = false;  // Flash attention.
  EXPECT_TRUE(is_refused());
  plan.kernels.scan_packages.value = true;
  EXPECT_FALSE(is_refused());
  plan.kernels.scan_packages.value = false;
  EXPECT_TRUE(with_model_defaults(plan, a_model("llama")).ok());
}

TEST(Hostile, ManyUnknownKeysGiveFewWarnings) {
  std::string text = least;
  for (int i = 0; i < 5; ++i) text += "model_" + std::to_string(i) + ": 1\n";
  EXPECT_THAT(plan_from(text).warnings, SizeIs(5));
  for (int i = 5; i < 5000; ++i) text += "model_" + std::to_string(i) + ": 1\n";
  EXPECT_THAT(plan_from(text, {"oomplan", {}, {}}).warnings, SizeIs(50));
}

TEST(Hostile, LongValuesMakeShortMessages) {
  const auto errors =
      errors_from("model: a\nsequence_length: 1\nmicro_batch_size: " + std::string(1'000'000, 'x') + "\n");
  ASSERT_THAT(errors, SizeIs(1));
  EXPECT_LT(errors.front().size(), 200U);
}

TEST(Hostile, EveryKeyTakesEveryKindOfValue) {
  for (const std::string value : {"", "[]", "{}", "[1, [2]]", "{a: {b: 1}}", "-1", "1e999", "'\\x00'", "~", "true"}) {
    for (const auto& dialect : dialects()) {
      for (const std::string key :
           {"model", "base_model", "plugins", "bf16", "model_init_kwargs", "optim", "lora_target_modules", "peft",
            "gradient_checkpointing", "bnb_config_kwargs", "unmodelled", "max_length", "attn_implementation"}) {
        (void)ingest(yaml(key + ": " + value + "\n"), {std::string(dialect), {}, {}});
      }
    }
  }
}

}  // namespace
}  // namespace oomplan
