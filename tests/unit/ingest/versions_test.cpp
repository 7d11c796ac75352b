#include "versions.hpp"

#include "from_text.hpp"
#include "key_versions.hpp"
#include "oomplan/ingest/version_range.hpp"
#include "oomplan/read/requirements.hpp"

namespace oomplan::ingestion {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

NamedVersion named(const std::string& package, const std::string& version) { return {package, version, {}, true}; }

TEST(Versions, TheNearestIsOfTheSameMajorVersion) {
  const std::vector<std::string> known{"5.6.0", "5.14.1", "5.23.0"};
  EXPECT_EQ(nearest_version("5.14.1", known), "5.14.1");
  EXPECT_EQ(nearest_version("5.14", known), "5.14.1");
  EXPECT_EQ(nearest_version("5.14.9", known), "5.14.1");
  EXPECT_EQ(nearest_version("5.10.0", known), "5.14.1") << "of two as near, the newer";
  EXPECT_EQ(nearest_version("5.99.0", known), "5.23.0");
  EXPECT_EQ(nearest_version("5.23.0.dev0", known), "5.23.0");
  EXPECT_EQ(nearest_version("4.57.1", known), std::nullopt);
  EXPECT_EQ(nearest_version("main", known), std::nullopt);
}

TEST(Versions, ALocalPartIsNone) {
  EXPECT_TRUE(is_version("2.13.0+cu130", "2.13.0"));
  EXPECT_TRUE(is_version("2.13", "2.13.0"));
  EXPECT_FALSE(is_version("2.12.0", "2.13.0"));
  EXPECT_FALSE(is_version("", "2.13.0"));
}

// Two layers of one package side by side: each gives its own defaults, and the one that is not chosen what the other
// lacks.
TEST(Versions, ALayerOfAnotherVersionGoesInFront) {
  const auto at = [](const std::string& version, const std::string& value) {
    StackLayer::Default one{"sequence_length", *yaml("v: " + value + "\n").root.find("v"), "Config", "", false};
    return StackLayer{.name = "a-" + version, .package = "a", .version = version, .defaults = {one}};
  };
  StackLayer newer = at("2.1.0", "1024");
  newer.defaults.push_back({"micro_batch_size", *yaml("v: 8\n").root.find("v"), "Config", "", false});
  const Stack alone({newer});
  const Stack both({at("2.0.0", "512"), newer});
  EXPECT_EQ(alone.plan().batch.sequence_length.value, 1024);
  EXPECT_EQ(both.plan().batch.sequence_length.value, 512);
  EXPECT_EQ(both.plan().batch.sequence_length.origin.source, "a 2.0.0: Config");
  EXPECT_EQ(both.plan().batch.micro_batch_size.origin.source, "a 2.1.0: Config");
  EXPECT_EQ(both.name_of("a"), "a 2.0.0");
}

TEST(Versions, AStackIsMadeOfThem) {
  const std::vector<NamedVersion> wanted{named("transformers", "5.14.1")};
  const ChosenVersions chosen(wanted);
  const Stack& stack = stack_of("trl-1.16");
  EXPECT_EQ(stack.name_of("transformers"), "transformers 5.14.1");
  EXPECT_EQ(stack.plan().kernels.attention.origin.source, "transformers 5.14.1: PreTrainedModel.from_pretrained");
  EXPECT_EQ(stack.plan().recipe.outputs_kept.origin.source, "trl 1.16.0: SFTTrainer.compute_loss");
}

TEST(Versions, ThereIsNoneOfThemAfterwards) {
  {
    const std::vector<NamedVersion> wanted{named("transformers", "5.14.1")};
    const ChosenVersions chosen(wanted);
    EXPECT_EQ(stack_of("trl-1.16").name_of("transformers"), "transformers 5.14.1");
  }
  EXPECT_EQ(stack_of("trl-1.16").name_of("transformers"), "transformers 5.23.0");
}

std::vector<std::string> warnings_with(std::vector<NamedVersion> versions) {
  IngestOptions options;
  options.versions = std::move(versions);
  std::vector<std::string> out;
  for (const Diagnostic& one : plan_from("model_name_or_path: a/b\nmax_length: 8\n", options).warnings)
    out.push_back(one.code + ": " + one.message);
  return out;
}

std::vector<std::string> gaps_with(std::vector<NamedVersion> versions, const std::string& keys = "max_length: 8\n") {
  IngestOptions options;
  options.versions = std::move(versions);
  return features(plan_from("model_name_or_path: a/b\n" + keys, options));
}

TEST(Versions, OneThatIsNotThereIsWarnedOf) {
  EXPECT_THAT(warnings_with({named("trl", "1.16.0")}), IsEmpty());
  EXPECT_THAT(warnings_with({named("peft", "0.22.0")}),
              ElementsAre(HasSubstr("ingest/nearest-version: peft==0.22.0: its defaults are not known; those of peft "
                                    "0.21.2 are taken")));
  EXPECT_THAT(warnings_with({named("axolotl", "0.18.0")}), ElementsAre(HasSubstr("ingest/unused-version")));
  EXPECT_THAT(warnings_with({{"numpy", "2.0", {}, false}}), IsEmpty());
}

TEST(Versions, AnotherMajorVersionIsAGap) {
  EXPECT_THAT(gaps_with({named("peft", "1.0.0")}), ElementsAre(HasSubstr("peft==1.0.0: a major version")));
  EXPECT_THAT(gaps_with({named("transformers", "3.5.0")}),
              ElementsAre(HasSubstr("transformers==3.5.0: trl 1.16.0 beside a transformers before 5.0"),
                          HasSubstr("transformers==3.5.0: a major version")));
}

// The versions of TRL and transformers between which runs were measured stand for those between them, and for no other.
TEST(Versions, OneThatNoRunWasHeldAgainstIsAGap) {
  EXPECT_THAT(gaps_with({named("trl", "1.99.0")}),
              ElementsAre("trl==1.99.0: what this version does, of which no run was measured,"));
  EXPECT_THAT(gaps_with({named("trl", "0.8.6")}, "max_seq_length: 512\n"),
              ElementsAre("trl==0.8.6: what this version does, of which no run was measured,"));
  EXPECT_THAT(gaps_with({named("trl", "1.15.0")}, "max_length: 512\n"), IsEmpty());
  EXPECT_THAT(gaps_with({named("trl", "0.24.0")}, "trainer: sft\nmax_length: 512\n"), IsEmpty());
  EXPECT_THAT(gaps_with({named("trl", "0.24.0"), named("transformers", "5.6.0")}, "max_length: 512\n"),
              ElementsAre("transformers==5.6.0: trl 0.24.0 beside transformers 5.0 or later"));
  EXPECT_THAT(gaps_with({named("trl", "0.24.0"), named("torch", "2.7.1")}, "max_length: 512\n"),
              ElementsAre("torch==2.7.1: transformers 4.57.6 beside a torch before 2.8"));
}

TEST(Versions, ALayerCoversWhatItWasHeldAgainst) {
  const StackLayer layer{.name = "a-2.5", .package = "a", .version = "2.5.1", .since = "2.3.0"};
  EXPECT_TRUE(covers(layer, "2.3.0"));
  EXPECT_TRUE(covers(layer, "2.4"));
  EXPECT_TRUE(covers(layer, "2.5.9")) << "a patch of its own";
  EXPECT_FALSE(covers(layer, "2.2.9"));
  EXPECT_TRUE(covers(layer, "2.3")) << "which is 2.3.0";
  EXPECT_FALSE(covers(layer, "2")) << "which is 2.0.0";
  EXPECT_FALSE(covers(layer, "2.6.0"));
  EXPECT_FALSE(covers(layer, "main"));
}

TEST(Versions, ALayerWithoutPatchesCoversNoneOfItsOwn) {
  const StackLayer layer{.name = "a-0.9", .package = "a", .version = "0.9.3", .since = "0.9.3", .patches = false};
  EXPECT_TRUE(covers(layer, "0.9.3"));
  EXPECT_FALSE(covers(layer, "0.9.4"));
}

TEST(Versions, ALayerThatIsLikeAnotherSaysItsOwnFirst) {
  const auto& all = stack_layers();
  const auto like = std::ranges::find(all, "trl-1.6", &StackLayer::name);
  const auto whole = std::ranges::find(all, "trl-1.2", &StackLayer::name);
  ASSERT_TRUE(like != all.end() && whole != all.end());
  EXPECT_EQ(like->version, "1.6.0");
  EXPECT_THAT(like->with, ElementsAre(std::pair("transformers", "5.14.1")));
  EXPECT_EQ(like->needs, whole->needs);
  EXPECT_EQ(like->unplayed_keys, whole->unplayed_keys);
  const auto first = std::ranges::find(like->defaults, "token_metrics", &StackLayer::Default::fact);
  ASSERT_NE(first, like->defaults.end());
  EXPECT_EQ(first->value.text, "shifted_entropy");
  EXPECT_EQ(std::ranges::count(like->defaults, "sequence_length", &StackLayer::Default::fact), 1);
}

TEST(Versions, AnOldTrlMeasuresTokensInItsOwnWay) {
  const auto metrics_of = [](const std::string& version) {
    const std::vector<NamedVersion> wanted{named("trl", version)};
    const ChosenVersions chosen(wanted);
    return stack_of("trl-1.16").plan().recipe.token_metrics.value;
  };
  EXPECT_EQ(metrics_of("0.18.2"), TokenMetrics::accuracy);
  EXPECT_EQ(metrics_of("0.22.2"), TokenMetrics::row_entropy);
  EXPECT_EQ(metrics_of("0.23.0"), TokenMetrics::entropy);
  EXPECT_EQ(metrics_of("1.2.0"), TokenMetrics::entropy);
  EXPECT_EQ(metrics_of("1.3.0"), TokenMetrics::copied_entropy);
  EXPECT_EQ(metrics_of("1.6.0"), TokenMetrics::shifted_entropy);
  EXPECT_EQ(metrics_of("1.7.1"), TokenMetrics::none);
}

TEST(Versions, AnOldTrlScoresPairsInItsOwnWay) {
  const auto scores_of = [](const std::string& version) {
    const std::vector<NamedVersion> wanted{named("trl", version)};
    const ChosenVersions chosen(wanted);
    return stack_of("trl-1.16").plan().recipe.pair_scores.value;
  };
  EXPECT_EQ(scores_of("0.9.6"), PairScores::held);
  EXPECT_EQ(scores_of("0.11.4"), PairScores::held);
  EXPECT_EQ(scores_of("0.12.0"), PairScores::cut);
  EXPECT_EQ(scores_of("0.13.0"), PairScores::cut);
  EXPECT_EQ(scores_of("0.14.0"), PairScores::at_once);
  EXPECT_EQ(scores_of("0.15.2"), PairScores::by_row);
}

TEST(Versions, OldModelsShiftLogitsAndKeepTheirCaches) {
  const auto plan_of = [](const std::string& version) {
    const std::vector<NamedVersion> wanted{named("trl", "0.14.0"), named("transformers", version)};
    const ChosenVersions chosen(wanted);
    return stack_of("trl-1.16").plan();
  };
  EXPECT_EQ(plan_of("4.48.3").recipe.logit_shift.value, LogitShift::logits);
  EXPECT_EQ(plan_of("4.48.3").recipe.cache_kind.value, CacheKind::references);
  EXPECT_EQ(plan_of("4.48.3").kernels.sdpa_keys.value, SdpaKeys::copied);
  EXPECT_EQ(plan_of("4.47.1").recipe.cache_kind.value, CacheKind::returned);
  EXPECT_EQ(plan_of("4.46.0").kernels.sdpa_keys.value, SdpaKeys::repeated);
  EXPECT_TRUE(plan_of("4.46.0").kernels.additive_mask.value);
  EXPECT_EQ(plan_of("4.45.2").recipe.logit_shift.value, LogitShift::raised_logits);
  EXPECT_EQ(plan_of("4.49.0").recipe.logit_shift.value, LogitShift::labels);
}

// Of one that is undecided the user's own number is said, and keys are held against it.
TEST(Versions, AVersionThatNobodyRanKeepsItsNumber) {
  const std::vector<NamedVersion> wanted{named("trl", "0.8.6"), named("transformers", "4.40.2")};
  const ChosenVersions chosen(wanted);
  const Stack& stack = stack_of("trl-1.16");
  EXPECT_EQ(stack.name_of("trl"), "trl 0.8.6");
  EXPECT_EQ(stack.name_of("transformers"), "transformers 4.40.2");
  EXPECT_FALSE(has_key(key_file("hf"), stack, "dtype"));
  EXPECT_TRUE(has_key(key_file("hf"), stack, "torch_dtype"));
}

TEST(Versions, AReleaseOfLlamaFactoryHasTheTransformersOfItsTime) {
  for (const auto& [version, below] :
       {std::pair{"0.9.3", "transformers 4.52.4"}, std::pair{"0.9.4", "transformers 4.57.1"},
        std::pair{"0.9.5", "transformers 5.6.0"}}) {
    const std::vector<NamedVersion> wanted{named("llamafactory", version)};
    const ChosenVersions chosen(wanted);
    const Stack& stack = stack_of("llamafactory-0.9");
    EXPECT_EQ(stack.name_of("llamafactory"), std::string("llamafactory ") + version);
    EXPECT_EQ(stack.name_of("transformers"), below);
  }
}

TEST(Versions, AnOldTrlHasItsOwnDefaultsAndTransformers) {
  const std::vector<NamedVersion> wanted{named("trl", "0.19.1")};
  const ChosenVersions chosen(wanted);
  const Stack& stack = stack_of("trl-1.16");
  EXPECT_EQ(stack.name_of("trl"), "trl 0.19.1");
  EXPECT_EQ(stack.name_of("transformers"), "transformers 4.53.3");
  EXPECT_EQ(stack.plan().recipe.loss.value, Loss::full_logits);
  EXPECT_FALSE(stack.plan().checkpointing.on.value);
  EXPECT_TRUE(stack.plan().checkpointing.reentrant.value);
  EXPECT_EQ(stack.plan().precision.autocast.value, Autocast::bf16);
  EXPECT_EQ(stack.plan().optimizer.name.value, "adamw_foreach");
  EXPECT_EQ(stack.plan().optimizer.name.origin.source, "transformers 4.53.3: TrainingArguments");
}

TEST(Versions, BeforeTrl019NothingIsCastByDefault) {
  const std::vector<NamedVersion> wanted{named("trl", "0.18.2"), named("transformers", "4.57.1")};
  const ChosenVersions chosen(wanted);
  const Stack& stack = stack_of("trl-1.16");
  EXPECT_EQ(stack.plan().precision.autocast.value, Autocast::none);
  EXPECT_EQ(stack.name_of("transformers"), "transformers 4.57.1");
  EXPECT_EQ(stack.plan().optimizer.name.value, "adamw_fused");
}

// ---- Keys ----------------------------------------------------------------------------------------------------------

TEST(KeyVersions, AreReadOfALine) {
  const KeyVersion bound = key_version("trl 0.20; it is max_length now");
  EXPECT_EQ(bound.package, "trl");
  EXPECT_EQ(bound.version, "0.20");
  EXPECT_EQ(bound.note, "it is max_length now");
  EXPECT_EQ(key_version("trl").version, "");
}

TEST(KeyVersions, AnOldKeyMeansWhatItMeant) {
  IngestOptions options;
  options.versions = {named("trl", "0.19.1")};
  const TrainingPlan plan = plan_from(
      "model_name_or_path: a/b\ntrainer: sft\nmax_seq_length: 300\ntorch_dtype: bfloat16\n"
      "warmup_ratio: 0.1\noverwrite_output_dir: true\ngradient_checkpointing: true\n",
      options);
  EXPECT_EQ(plan.batch.sequence_length.value, 300);
  EXPECT_EQ(plan.precision.weights_dtype.value, WeightsDType::bf16);
  EXPECT_FALSE(plan.recipe.use_cache.value);
  EXPECT_THAT(features(plan), IsEmpty());
  EXPECT_THAT(plan.warnings, IsEmpty());
}

TEST(KeyVersions, AKeyThatIsYetToComeIsRefused) {
  IngestOptions options;
  options.versions = {named("trl", "0.19.1")};
  EXPECT_THAT(
      errors_from("model_name_or_path: a/b\ntrainer: sft\nmax_length: 200\nloss_type: nll\n", options),
      ElementsAre("c.yaml:4:12: ingest/refused: loss_type: trl 0.19.1 has no such argument yet (trl from 0.23 has "
                  "it: --framework trl==… says which runs)"));
}

// scripts/sft.py builds the model without them, or writes others over them.
TEST(KeyVersions, WhatAnOldScriptLeavesOutIsAGap) {
  const std::string gap = "model_init_kwargs: trl 1.4.0's model_init_kwargs, which its script leaves out,";
  const auto gaps = [](const std::string& kwargs) {
    return gaps_with({named("trl", "1.4.0")}, "trainer: sft\nmax_length: 8\nmodel_init_kwargs: " + kwargs + "\n");
  };
  EXPECT_THAT(gaps("{dtype: bfloat16}"), testing::Contains(gap));
  EXPECT_THAT(gaps("{attn_implementation: eager}"), testing::Contains(gap));
  EXPECT_THAT(gaps("{revision: main}"), testing::Not(testing::Contains(gap)));
}

TEST(KeyVersions, WhatAnOldTrainerDoesOtherwiseIsAGap) {
  const std::vector<NamedVersion> old{named("trl", "0.19.1")};
  EXPECT_THAT(gaps_with(old, "trainer: kto\nmax_length: 8\ngradient_checkpointing: true\n"),
              testing::Contains("trainer: trl 0.19.1's trainers of preferences and rewards"));
  EXPECT_THAT(gaps_with(old, "trainer: sft\nmax_length: 8\n"),
              testing::Contains("use_cache: transformers 4.53.3's key-value cache"));
  EXPECT_THAT(gaps_with(old, "trainer: sft\nmax_length: 8\ngradient_checkpointing: true\npacking: true\n"),
              testing::Contains("packing: trl 0.19.1's packing"));
  EXPECT_THAT(gaps_with(old,
                        "trainer: sft\nper_device_train_batch_size: 1\nmax_length: 8\n"
                        "gradient_checkpointing: true\n"),
              ElementsAre("padding_mask: transformers 4.53.3's sdpa attention without a mask"));
}

TEST(KeyVersions, AnOldDpoScoresLogitsAndCutsBothParts) {
  IngestOptions options;
  options.versions = {named("trl", "0.19.1")};
  const std::string config = "model_name_or_path: a/b\ntrainer: dpo\nmax_length: 512\n";
  const TrainingPlan plan =
      plan_from(config + "max_prompt_length: 100\nmax_completion_length: 200\nreference_free: true\n", options);
  EXPECT_EQ(plan.batch.sequence_length.value, 300);
  EXPECT_EQ(plan.batch.completion_length.value, 200);
  EXPECT_EQ(plan.recipe.loss.value, Loss::full_logits);
  EXPECT_TRUE(plan.recipe.outputs_kept.value);
  EXPECT_FALSE(plan.recipe.use_cache.value);
  EXPECT_THAT(features(plan), IsEmpty());
  options.versions = {named("trl", "0.18.2")};
  EXPECT_FALSE(plan_from(config + "max_prompt_length: 100\n", options).recipe.outputs_kept.value);
  EXPECT_THAT(features(plan_from(config + "precompute_ref_log_probs: true\nuse_weighting: true\n", options)),
              ElementsAre(HasSubstr("precompute_ref_log_probs"), HasSubstr("use_weighting"), HasSubstr("one mask")));
}

TEST(KeyVersions, AnOldTrlRaisesWhatIsNotQuantized) {
  IngestOptions options;
  options.versions = {named("trl", "0.24.0")};
  const std::string config = "model_name_or_path: a/b\nmax_length: 512\nuse_peft: true\nload_in_4bit: true\ntrainer: ";
  const TrainingPlan sft = plan_from(config + "sft\n", options);
  EXPECT_TRUE(sft.quantization.kbit_upcast.value);
  EXPECT_TRUE(sft.precision.fp32_while_loading.value) << "embeddings and head go back to bf16";
  EXPECT_EQ(sft.adapter.dtype.value, AdapterDType::fp32);
  options.versions = {named("trl", "0.28.0")};
  EXPECT_TRUE(plan_from(config + "dpo\n", options).quantization.kbit_upcast.value);
  EXPECT_FALSE(plan_from(config + "sft\n", options).quantization.kbit_upcast.value);
  options.versions = {named("trl", "0.25.1")};
  EXPECT_THAT(features(plan_from(config + "sft\n", options)),
              testing::Contains("quantization: how TRL 0.25.1 prepares quantized models for SFT"));
}

TEST(KeyVersions, ADtypeOfNullIsFp32BeforeTransformers5) {
  IngestOptions options;
  const std::string config = "model_name_or_path: a/b\nmax_length: 512\ndtype: null\n";
  EXPECT_EQ(plan_from(config, options).precision.weights_dtype.value, WeightsDType::checkpoint);
  options.versions = {named("trl", "0.24.0")};
  EXPECT_EQ(plan_from(config, options).precision.weights_dtype.value, WeightsDType::fp32);
}

// The newest version of those that runs were held against that has all keys, where nobody names one.
TEST(KeyVersions, AFilesKeysNameItsVersion) {
  const auto read_as = [](const std::string& keys, IngestOptions options = {}) {
    const TrainingPlan plan = plan_from("model_name_or_path: a/b\ntrainer: sft\n" + keys, options);
    EXPECT_EQ(plan.warnings.size(), 1U);
    EXPECT_EQ(plan.warnings.front().code, "ingest/assumed-version");
    return plan.framework;
  };
  EXPECT_EQ(read_as("max_length: 512\ntorch_dtype: bfloat16\n"), "trl 0.26 on transformers 4.57.6");
  EXPECT_EQ(read_as("max_seq_length: 512\ntorch_dtype: bfloat16\n"), "trl 0.19 on transformers 4.53.3");
  IngestOptions named_one;
  named_one.versions = {named("trl", "1.16.0")};
  EXPECT_THAT(errors_from("model_name_or_path: a/b\ntrainer: sft\nmax_seq_length: 512\n", named_one),
              testing::Contains(HasSubstr("ingest/refused: max_seq_length")));
  EXPECT_THAT(errors_from("model_name_or_path: a/b\ntrainer: sft\nmax_seq_length: 512\nmax_length: 1\n"
                          "shuffle_dataset: true\n",
                          {}),
              testing::Contains(HasSubstr("max_seq_length")))
      << "no version has them all";
}

// ---- Ranges --------------------------------------------------------------------------------------------------------

TEST(VersionRange, IsReadAsPep440HasIt) {
  EXPECT_TRUE(is_within("0.19.1", "~=0.19.1"));
  EXPECT_FALSE(is_within("0.20.0", "~=0.19.1"));
  EXPECT_TRUE(is_within("0.28.0", "~=0.19"));
  EXPECT_FALSE(is_within("1.0", "~=0.19"));
  EXPECT_TRUE(is_within("0.19.9", "==0.19.*"));
  EXPECT_FALSE(is_within("0.19.9", "!=0.19.*"));
  EXPECT_TRUE(is_within("0.19", ">=0.19.0,<=0.19,!=0.18"));
  EXPECT_FALSE(is_within("0.19", ">0.19.0"));
  EXPECT_FALSE(is_within("0.20", ">=0.19,<0.20"));
  EXPECT_FALSE(is_within("0.20", "=>0.19")) << "no operator";
}

TEST(VersionRange, NamesTheNewestThatItLeaves) {
  const auto version = [](const char* range) { return version_of_range("trl", range); };
  EXPECT_EQ(version("~=0.19.1")->version, "0.19.1");
  EXPECT_FALSE(version("~=0.19.1")->several);
  EXPECT_EQ(version(">=0.19,<0.20")->version, "0.19.0");
  EXPECT_EQ(version("<0.22")->version, "0.21.0");
  EXPECT_TRUE(version("<0.22")->several);
  EXPECT_FALSE(version(">=0.18")) << "which the newest is";
  EXPECT_EQ(version("<0.12")->version, "0.11.4");
  EXPECT_EQ(version("<0.9")->version, "0.9") << "of which no run was measured";
  EXPECT_FALSE(version_of_range("numpy", "<2"));
}

TEST(VersionRange, OfAListOfRequirements) {
  const auto ranges = ranges_of_requirements(
      "trl~=0.19.1  # why\ntrl==1.0\n    \"trl[peft] >= 0.19, < 0.20\",\ntrl<1 ; python_version < '3.9'\nnumpy\n",
      "r.txt");
  EXPECT_THAT(ranges, ElementsAre(PinRange{"trl", "~=0.19.1", false, {"r.txt", 1, 1}},
                                  PinRange{"trl", ">=0.19,<0.20", false, {"r.txt", 3, 6}},
                                  PinRange{"trl", "<1", true, {"r.txt", 4, 1}}));
}

TEST(Versions, ARequirementsFilePinsWhatHasTwoEqualSigns) {
  const auto pins = pins_of_requirements(
      "# trl==0.1\n  TRL[peft] == 1.16.0 ; python_version > '3.9'\npeft>=0.18\nflash_attn===2.8.3 \\\n"
      "  --hash=sha256:a==b\n-r other.txt\n==1.0\na==\n",
      "r.txt");
  EXPECT_THAT(pins, ElementsAre(Pin{"flash-attn", "2.8.3", {"r.txt", 4, 1}}, Pin{"trl", "1.16.0", {"r.txt", 2, 3}}));
}

// A marker may hold nowhere near: a pin without one counts before it.
TEST(Versions, APinWithAMarkerComesLast) {
  const auto pins = pins_of_requirements("trl==1.0.0 ; python_version < '3.9'\ntrl==1.16.0\n", "r.txt");
  ASSERT_EQ(pins.size(), 2U);
  EXPECT_EQ(pins.front().version, "1.16.0");
}

TEST(Versions, NumbersOfNoVersionAreNone) {
  EXPECT_TRUE(nearest_version("1.-9223372036854775808", {"1.16.0"}));
  EXPECT_FALSE(nearest_version("-1", {"1.16.0"}));
}

}  // namespace
}  // namespace oomplan::ingestion
