// Each row of each dialect, read and written by itself.
#include <algorithm>

#include "dialect.hpp"
#include "from_text.hpp"

namespace oomplan::ingestion {
namespace {

// Values of every type; a row takes those that are of its own.
const std::vector<std::string> values{"true",
                                      "false",
                                      "1",
                                      "2",
                                      "4096",
                                      "0.5",
                                      "0",
                                      "auto",
                                      "a/b",
                                      "[a, b]",
                                      "bfloat16",
                                      "fp32",
                                      "bf16",
                                      "sgd",
                                      "eager",
                                      "nf4",
                                      "lora",
                                      "wrapped",
                                      "steps",
                                      "sft",
                                      "sdpa",
                                      "fp4",
                                      "none",
                                      "bfd",
                                      "fp16",
                                      "float32",
                                      "chunked_logprob",
                                      "full_logits",
                                      "checkpoint",
                                      "as_base",
                                      "torch_linear",
                                      "torchao",
                                      "[512, 64]",
                                      "spawn",
                                      "dpo",
                                      "adapter_off",
                                      "mapped",
                                      "int32",
                                      "{PYTORCH_ALLOC_CONF: 'expandable_segments:True', HF_HOME: /tmp}"};

class Codecs : public testing::TestWithParam<std::string> {};

// A value that an argument takes is read as it is written.
TEST_P(Codecs, ReadWhatTheyWrite) {
  for (const Key& key : arguments_of(GetParam())) {
    int taken = 0;
    for (const std::string& value : values) {
      const Document document = yaml("key: " + value + "\n");
      const auto once = key.codec->read(*document.root.find("key"));
      if (!once) continue;
      ++taken;
      const std::string written = key.codec->write(*once);
      const Document rewritten = yaml("key: " + written + "\n");
      const auto again = key.codec->read(*rewritten.root.find("key"));
      ASSERT_TRUE(again.has_value()) << key.name << ": " << written;
      EXPECT_EQ(key.codec->write(*again), written) << key.name;
    }
    EXPECT_GT(taken, 0) << key.name << " takes none of the values tried";
  }
}

TEST_P(Codecs, AKeyHasOneMeaning) {
  std::vector<std::string_view> keys;
  for (const KeyLine& line : key_file(GetParam()).no_effect) keys.push_back(line.what);
  for (const Key& key : arguments_of(GetParam())) keys.push_back(key.name);
  std::ranges::sort(keys);
  EXPECT_EQ(std::ranges::adjacent_find(keys), keys.end());
}

INSTANTIATE_TEST_SUITE_P(Dialects, Codecs,
                         testing::Values("accelerate", "axolotl", "fsdp", "hf", "litgpt", "llamafactory",
                                         "llamafactory_v1", "torchtitan", "torchtune", "unsloth"));

// ---- Stacks --------------------------------------------------------------------------------------------------------

TEST(Stacks, AreReadWhole) {
  for (const std::string& name : stack_names()) {
    for (const StackLayer& layer : stack_of(name).layers()) {
      EXPECT_FALSE(layer.package.empty()) << name << ": " << layer.name;
      for (const auto& one : layer.defaults) {
        const FactRow* fact = find_fact(one.fact);
        TrainingPlan plan;
        ASSERT_NE(fact, nullptr) << layer.name << ": " << one.fact;
        EXPECT_TRUE(fact->read(one.value, {}, plan)) << layer.name << ": " << one.fact;
        EXPECT_FALSE(one.source.empty()) << layer.name << ": " << one.fact;
      }
    }
  }
}

// Of a framework no key need say the fact by its name.
TEST(Stacks, AFactWithoutADefaultIsMissed) {
  Draft draft;
  draft.plan = stack_of("trl-1.16").plan();
  draft.plan.kernels.attention.origin = {};
  const Document document = yaml("learning_rate: 1\n");
  complete(false, draft, document);
  const auto of_attention = std::ranges::find(draft.missing, "attention", &Missing::field);
  ASSERT_NE(of_attention, draft.missing.end());
  EXPECT_EQ(of_attention->error.message, "attention is not given, and the stack has no default of it");
  EXPECT_EQ(of_attention->error.hint, "--set plan.attention=…");
}

TEST(Stacks, TheTopmostDefaultCounts) {
  const TrainingPlan sft = stack_of("trl-1.16").plan();
  EXPECT_EQ(sft.precision.weights_dtype.value, WeightsDType::fp32);
  EXPECT_EQ(sft.precision.weights_dtype.origin.source, "trl 1.16.0: ModelConfig");
  EXPECT_EQ(sft.adapter.targets.origin.source, "peft 0.21.2: target modules by model_type");
  EXPECT_EQ(sft.loader.ranks.origin.kind, Origin::Kind::assumed);
  EXPECT_EQ(stack_of("trl-1.16-scripts").plan().precision.weights_dtype.value, WeightsDType::checkpoint);
}

TEST(Stacks, WhatAConfigHasToGiveHasNoDefault) {
  EXPECT_TRUE(stack_of("oomplan").plan().batch.micro_batch_size.origin.source.empty());
  EXPECT_EQ(stack_of("transformers-5.23").plan().batch.micro_batch_size.value, 8);
}

TEST(Text, IsQuotedWhereYamlWouldMistakeIt) {
  EXPECT_EQ(yaml_text("meta-llama/Llama-3.1-8B"), "meta-llama/Llama-3.1-8B");
  EXPECT_EQ(yaml_text("Yes"), "\"Yes\"");
  EXPECT_EQ(yaml_text("1e3"), "\"1e3\"");
  EXPECT_EQ(yaml_text("a: b"), "\"a: b\"");
  EXPECT_EQ(yaml_text("\t\"\\"), "\"\\x09\\\"\\\\\"");
  EXPECT_EQ(yaml_text(""), "\"\"");
}

}  // namespace
}  // namespace oomplan::ingestion
