#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <set>
#include <string>

#include "files.hpp"
#include "oomplan/catalog/catalog.hpp"
#include "oomplan/read/document.hpp"
#include "preset_file.hpp"
#include "temporary_folder.hpp"

namespace oomplan {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Architecture model(const std::string& id) {
  const Result<Architecture> out = find_model(id);
  EXPECT_TRUE(out.ok()) << (out.ok() ? "" : to_text(out.errors()[0]));
  return out.ok() ? *out : Architecture{};
}

std::string errors_of(const Result<Architecture>& result) {
  EXPECT_FALSE(result.ok());
  std::string out;
  if (!result.ok())
    for (const Diagnostic& error : result.errors()) out += to_text(error);
  return out;
}

std::int64_t config(const Architecture& architecture, std::string_view key) {
  for (const auto& [name, value] : architecture.config)
    if (name == key) return std::get<std::int64_t>(value);
  ADD_FAILURE() << "no " << key;
  return -1;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

TEST(Models, EveryPresetIsReadable) {
  std::set<std::string> seen;
  for (const catalog::DataFile& file : catalog::files_in("presets", {})) {
    for (const std::string& id : catalog::ids_of(file)) {
      EXPECT_TRUE(seen.insert(upper(id)).second) << id << " is listed twice";
      const auto preset = catalog::find_preset(id, {});
      ASSERT_TRUE(preset && preset->ok()) << id;
      EXPECT_EQ((*preset)->id, id);
      const Node& config = (*preset)->config.root;  // diffusers' names a class.
      EXPECT_TRUE(config.find("model_type") != nullptr || config.find("_class_name") != nullptr) << id;
    }
  }
  EXPECT_GE(seen.size(), 200U);
  EXPECT_EQ(seen.size(), known_models().size());
}

TEST(Models, EveryPresetOfAKnownArchitectureIsAModel) {
  int uncounted = 0;
  for (const std::string& id : known_models()) {
    const Result<Architecture> result = find_model(id);
    if (!result && result.errors()[0].code == "catalog/unknown-architecture") continue;
    const Architecture found = model(id);
    EXPECT_EQ(found.source, id);
    const auto preset = catalog::find_preset(id, {});
    ASSERT_TRUE(preset && preset->ok()) << id;
    const Node& config = (*preset)->config.root;
    const Node* type = config.find("model_type");
    EXPECT_EQ(found.model_type, (type != nullptr ? type : config.find("_class_name"))->text);
    if (found.task != Task::denoising) {  // Whose blocks differ in their widths.
      EXPECT_GT(found.layers, 0) << id;
      EXPECT_FALSE(found.body.back().kinds.empty()) << id;
    }
    EXPECT_TRUE(found.parameters == 0 || found.parameters > 5'000'000) << id;
    uncounted += found.parameters == 0;
  }
  EXPECT_LE(uncounted, 20);  // Without a head, or with a tower that nobody saw.
}

TEST(Models, OneThatSeesHasATowerBetweenItsEmbeddingAndItsLayers) {
  const Architecture found = model("Qwen/Qwen2.5-VL-3B-Instruct");
  ASSERT_EQ(found.body.size(), 3U);
  EXPECT_EQ(found.body[0].stem.back().op, "embedding");
  EXPECT_EQ(found.body[0].stem.back().module, "model.language_model.embed_tokens");
  EXPECT_TRUE(found.body[1].tower);
  EXPECT_EQ(found.body[1].module, "model.visual.blocks");
  EXPECT_EQ(found.body[1].layers.size(), 32U);
  EXPECT_EQ(found.body[1].kinds.size(), 2U);  // Windows, and layers 7, 15, 23 and 31.
  EXPECT_FALSE(found.body[2].tower);
  EXPECT_EQ(found.body[2].module, "model.language_model.layers");
  EXPECT_EQ(found.body[2].stem.front().op, "merge_images");
  EXPECT_EQ(found.layers, 32 + 36);
}

TEST(Models, OneThatSeesAndHearsHasBothTowersInTheOrderInWhichTheyAreCalled) {
  const Architecture found = model("Qwen/Qwen2.5-Omni-7B");
  ASSERT_EQ(found.body.size(), 5U);
  EXPECT_TRUE(found.body[1].tower && found.body[1].hears);
  EXPECT_TRUE(found.body[2].merges && found.body[2].hears);
  EXPECT_EQ(found.body[2].stem.front().op, "merge_images");
  EXPECT_TRUE(found.body[3].tower && !found.body[3].hears);
  EXPECT_EQ(found.body[4].stem.front().op, "merge_images");
  EXPECT_EQ(found.sound_processor.op, "frames");
  EXPECT_EQ(found.processor.op, "smart_resize");
  EXPECT_EQ(found.layers, 32 + 32 + 28);
}

TEST(Models, TheLayerThatFeaturesAreTakenOfIsOfAKindOfItsOwn) {
  const Architecture found = model("llava-hf/llava-1.5-7b-hf");
  ASSERT_EQ(found.body[1].layers.size(), 24U);
  EXPECT_EQ(found.body[1].taken, 22);  // hidden_states[-2] of 25.
  EXPECT_EQ(std::ranges::count(found.body[1].layers, found.body[1].layers[22]), 1);
}

TEST(Models, Llama31) {
  const Architecture found = model("meta-llama/Llama-3.1-8B");
  EXPECT_EQ(found.name, "llama");
  EXPECT_EQ(found.source, "meta-llama/Llama-3.1-8B");
  EXPECT_EQ(found.task, Task::causal_lm);
  EXPECT_EQ(found.checkpoint_dtype, DType::bf16);
  EXPECT_EQ(found.layers, 32);
  EXPECT_EQ(found.body.front().module, "model.layers");
  EXPECT_FALSE(found.tied_embeddings);
  EXPECT_EQ(found.parameters, 8'030'261'248);
  EXPECT_EQ(config(found, "hidden_size"), 4096);
  EXPECT_EQ(config(found, "num_key_value_heads"), 8);
  EXPECT_EQ(config(found, "head_dim"), 128);
}

TEST(Models, ByIdInAnyCaseAndByAlias) {
  EXPECT_EQ(model("META-LLAMA/llama-3.2-1b").source, "meta-llama/Llama-3.2-1B");
  EXPECT_TRUE(model("unsloth/Llama-3.2-1B-Instruct").tied_embeddings);
  EXPECT_EQ(model("nousresearch/meta-llama-3-8b").source, "NousResearch/Meta-Llama-3-8B");
}

TEST(Models, AVariantHasTheSizesOfItsPresetAndKeysOfItsOwn) {
  const Architecture quantized = model("qwen/qwen3-4b-awq");
  EXPECT_EQ(quantized.source, "Qwen/Qwen3-4B-AWQ");
  EXPECT_EQ(quantized.parameters, model("Qwen/Qwen3-4B").parameters);
  EXPECT_THAT(quantized.not_played, Contains("weights quantized in the checkpoint (awq)"));
  EXPECT_THAT(model("deepseek-ai/DeepSeek-V3").not_played, Contains("weights quantized in the checkpoint (fp8)"));
  EXPECT_TRUE(model("deepseek-ai/DeepSeek-V3-0324-BF16").not_played.empty());
  EXPECT_TRUE(model("google/gemma-2-9b-it").unseen_dtype);
  EXPECT_FALSE(model("google/gemma-2-9b").unseen_dtype);
}

TEST(Models, WhatNoConfigSaysOfACheckpointIsNotPlayed) {
  EXPECT_THAT(model("trl-lib/Qwen3-4B-LoRA").not_played, Contains("an adapter on Qwen/Qwen3-4B"));
  EXPECT_THAT(model("mistralai/Ministral-3-8B-Base-2512").not_played,
              Contains("a tower that sees images, whose sizes were not seen,"));
}

TEST(Models, AnIdOfAFamilyThatIsNotPlayedNamesIt) {
  EXPECT_EQ(errors_of(find_model("Qwen/Qwen-7B")),
            "error: Qwen/Qwen-7B: model_type \"qwen\" is not an architecture that is known: its code comes with the "
            "checkpoint [catalog/unknown-architecture]\n");
  EXPECT_THAT(errors_of(find_model("sesame/csm-1b")),
              StartsWith("error: sesame/csm-1b: model_type \"csm\" is not an architecture that is known "
                         "[catalog/unknown-architecture]\nhint: "));
  EXPECT_THAT(errors_of(find_model("microsoft/Phi-4-multimodal-instruct")),
              HasSubstr("its code comes with the checkpoint [catalog/unknown-architecture]\nhint: transformers has a "
                        "class of its own for it, phi4_multimodal, which is known"));
}

TEST(FindModel, ARunPutsValuesIntoTheConfig) {
  const auto with = [](const ConfigOverrides& overrides) {
    return *find_model("mistralai/Mistral-7B-v0.1", {}, overrides);
  };
  const Architecture model = with({{"num_hidden_layers", "2"}, {"sliding_window", "null"}});
  EXPECT_EQ(model.layers, 2);
  EXPECT_EQ(model.parameters, 0) << "the preset's count is another model's";
  EXPECT_THAT(model.not_played, testing::IsEmpty());
  EXPECT_THAT(with({{"mystery", "true"}}).not_played, testing::ElementsAre("an overridden mystery of its config"));
}

TEST(Models, TheFrameworksOwnExamplesAreKnown) {
  for (const char* id : {"NousResearch/Llama-2-7b-hf",
                         "NousResearch/Llama-3.2-1B",
                         "mistralai/Mistral-7B-v0.1",
                         "Qwen/Qwen2.5-0.5B",
                         "Qwen/Qwen3-8B",
                         "openlm-research/open_llama_3b_v2",
                         "TinyLlama/TinyLlama_v1.1",
                         "codellama/CodeLlama-7b-hf",
                         "HuggingFaceTB/SmolLM2-135M",
                         "huggyllama/llama-7b",
                         "Qwen/Qwen3-4B-Instruct-2507",
                         "Qwen/Qwen2-1.5B-Instruct",
                         "Qwen/Qwen2-0.5B",
                         "Qwen/Qwen3-0.6B",
                         "trl-lib/qwen1.5-1.8b-sft",
                         "unsloth/mistral-7b",
                         "gpt2",
                         "bert-base-uncased",
                         "roberta-large",
                         "mistralai/Magistral-Small-2506",
                         "01-ai/Yi-34B-Chat"})
    EXPECT_THAT(known_models(), Contains(id));
}

TEST(Models, AnUnknownIdIsAnErrorWithNearIds) {
  EXPECT_EQ(errors_of(find_model("meta-llama/Llama-3.1-9B")),
            "error: no model \"meta-llama/Llama-3.1-9B\" is known [catalog/unknown-model]\nhint: did you mean "
            "meta-llama/Llama-3.1-8B, meta-llama/Llama-3.1-70B or meta-llama/Llama-3.2-1B? Or give the path of its "
            "config.json, or of the directory that has it.\n");
  EXPECT_THAT(errors_of(find_model("Qwen2.5-7B")), HasSubstr("did you mean Qwen/Qwen2.5-7B"));
  EXPECT_EQ(errors_of(find_model("xyzzy")),
            "error: no model \"xyzzy\" is known [catalog/unknown-model]\nhint: give the path of its config.json, or of "
            "the directory that has it.\n");
  EXPECT_THAT(errors_of(find_model("")), StartsWith("error: no model \"\" is known [catalog/unknown-model]"));
  EXPECT_EQ(errors_of(find_model("./out/model")),
            "error: there is no file or directory \"./out/model\" [catalog/unknown-model]\n");
  EXPECT_THAT(errors_of(find_model(std::string(1 << 20, 'a'))), HasSubstr("aaaa…\" is known"));
}

constexpr std::string_view small_llama =
    R"({"model_type": "llama", "dtype": "float16", "hidden_size": 64, "intermediate_size": 128,
"num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": null, "vocab_size": 100})";

TEST(Models, ADirectoryOrItsConfigWinsOverAPreset) {
  const TemporaryFolder folder;
  const std::string file = folder.write("config.json", small_llama);
  for (const std::string& path : {folder.path(), file}) {
    const Architecture found = model(path);
    EXPECT_EQ(found.source, file);
    EXPECT_EQ(found.checkpoint_dtype, DType::fp16);
    EXPECT_EQ(found.layers, 2);
    EXPECT_EQ(found.parameters, 0);
    EXPECT_EQ(config(found, "num_key_value_heads"), 4);  // null counts as missing
    EXPECT_EQ(config(found, "head_dim"), 16);
  }
}

TEST(Models, ADirectoryWithoutConfig) {
  const TemporaryFolder folder;
  EXPECT_EQ(errors_of(find_model(folder.path())),
            folder.path() + ": error: the directory has no config.json [catalog/no-config]\n");
  folder.write("adapter_config.json", "{}");
  EXPECT_EQ(errors_of(find_model(folder.path())),
            folder.path() +
                ": error: the directory has no config.json [catalog/no-config]\nhint: it holds an adapter: "
                "name the model that the adapter is for.\n");
}

TEST(Models, ABrokenConfigIsTheReadersError) {
  const TemporaryFolder folder;
  EXPECT_THAT(errors_of(find_model(folder.write("config.json", "{\"model_type\": "))), HasSubstr("[read/syntax]"));
  EXPECT_THAT(errors_of(find_model(folder.write("empty.json", ""))), HasSubstr("[read/empty]"));
  std::filesystem::create_directory(folder.path() + "/config.json.d");
  std::filesystem::remove(folder.path() + "/config.json");
  std::filesystem::create_directory(folder.path() + "/config.json");
  EXPECT_THAT(errors_of(find_model(folder.path())), HasSubstr("[read/not-a-file]"));
}

TEST(Models, FindingOneIsFast) {
  model("unsloth/Llama-3.1-8B-Instruct");
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) model("unsloth/Llama-3.1-8B-Instruct");
  const std::chrono::duration<double, std::milli> took = (std::chrono::steady_clock::now() - begin) / 20;
  RecordProperty("milliseconds", std::to_string(took.count()));
  EXPECT_LT(took.count(), 20.0) << "well under 1 ms where nothing else runs and the build is optimized";
}

}  // namespace
}  // namespace oomplan
