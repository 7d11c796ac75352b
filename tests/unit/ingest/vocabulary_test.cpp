// Tokens that a config adds, and the vocabulary that comes of them.
#include "from_text.hpp"
#include "oomplan/catalog/architecture.hpp"

namespace oomplan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string full = "base_model: a/b\nmicro_batch_size: 2\ngradient_accumulation_steps: 4\n";
const std::string lora = full + "adapter: lora\nlora_r: 8\nlora_target_modules: [q_proj]\nlora_qkv_kernel: false\n";

const std::string saved = lora + "lora_modules_to_save: [embed_tokens, lm_head]\n";

Architecture a_model(const std::string& type, std::int64_t rows, std::string source = "a/b") {
  Architecture out;
  out.model_type = type;
  out.source = std::move(source);
  out.config = {{"vocab_size", rows}};
  return out;
}

const Architecture llama2 = a_model("llama", 32000, "meta-llama/Llama-2-7b-hf");

Setting<std::int64_t> vocabulary(const std::string& lines, const Architecture& model) {
  const Result<TrainingPlan> plan = with_model_defaults(plan_from(lines), model);
  EXPECT_TRUE(plan.ok());
  return plan ? plan->model.vocabulary : Setting<std::int64_t>{-1, {}};
}

std::vector<std::string> refused(const std::string& lines, const Architecture& model) {
  const Result<TrainingPlan> plan = with_model_defaults(plan_from(lines), model);
  return plan ? std::vector<std::string>{} : said(plan.errors());
}

TEST(Vocabulary, TokensThatTheTokenizerHasAddNothing) {
  EXPECT_EQ(vocabulary(full + "special_tokens: {bos_token: <s>, eos_token: </s>}\n", llama2).value, 0);
  const Architecture llama3 = a_model("llama", 128256, "meta-llama/Llama-3.2-1B");
  EXPECT_EQ(vocabulary(full + "special_tokens: {pad_token: <|finetune_right_pad_id|>}\n", llama3).value, 0);
  EXPECT_EQ(vocabulary(full + "tokens: [<|reserved_special_token_17|>]\n", llama3).value, 0);
  EXPECT_EQ(vocabulary(full + "tokens: [<|im_start|>]\nadded_tokens_overrides: {128041: <|im_start|>}\n", llama3).value,
            0);
  EXPECT_EQ(vocabulary(full + "tokens: [a, b, c]\n", a_model("qwen2", 151936)).value, 0) << "it has rows to spare";
}

TEST(Vocabulary, NewTokensAreRows) {
  const auto rows = vocabulary(full + "tokens: [<|im_start|>, <|im_end|>]\n", llama2);
  EXPECT_EQ(rows.value, 32002);
  EXPECT_EQ(rows.origin.kind, Origin::Kind::config);
  EXPECT_EQ(vocabulary(full + "special_tokens: {eos_token: <|im_end|>}\ntokens: [<|im_end|>]\n", llama2).value, 32001);
  EXPECT_EQ(vocabulary(full + "tokens: [<a>]\nresize_token_embeddings_to_32x: true\n", llama2).value, 32032);
  Architecture before = a_model("llama", 128256, "meta-llama/Meta-Llama-3-8B-Instruct");
  before.config.emplace_back("max_position_embeddings", std::int64_t{8192});
  EXPECT_EQ(vocabulary(full + "special_tokens: {pad_token: <|finetune_right_pad_id|>}\n", before).value, 128257);
}

TEST(Vocabulary, WhatMayBeThereIsAssumedNew) {
  for (const auto& [lines, model] :
       {std::pair{"tokens: [mine]\n", llama2}, {"tokens: [<a>]\n", a_model("llama", 999)}}) {
    const auto rows = vocabulary(saved + lines, model);
    EXPECT_EQ(rows.value, vocabulary_of(model) + 1);
    EXPECT_EQ(rows.origin.kind, Origin::Kind::assumed) << lines;
  }
  EXPECT_EQ(vocabulary(full + "resize_token_embeddings_to_32x: true\n", a_model("x", 64)).value, 0);
  const std::string said = saved + "tokens: [mine]\n";
  EXPECT_EQ(vocabulary(full + "tokens: [mine]\n", llama2).value, 0) << "gradients of all weights are more";
  const TrainingPlan plan = *with_model_defaults(plan_with(said, {"plan.vocabulary=0"}), llama2);
  EXPECT_EQ(plan.model.vocabulary.value, 0);
  TrainingPlan sharded = plan_from(said);
  sharded.mesh.sharding.value = Sharding::fsdp2;
  EXPECT_EQ(with_model_defaults(sharded, llama2)->model.vocabulary.value, 0) << "the host enlarges it";
  sharded.quantization.kind.value = Quantization::nf4;
  EXPECT_EQ(with_model_defaults(sharded, llama2)->model.vocabulary.value, 32001) << "the GPU does";
  Architecture whole;
  whole.model_type = "qwen3_5";
  EXPECT_THAT(features(*with_model_defaults(plan_from(said), whole)),
              testing::Not(testing::Contains(HasSubstr("tokens"))));
  whole.model_type = "y";
  EXPECT_THAT(features(*with_model_defaults(plan_from(said), whole)),
              ElementsAre("tokens: what new tokens do to the vocabulary of a model of type y"));
}

TEST(Vocabulary, AxolotlStopsAtNewTokensThatAnAdapterDoesNotTrain) {
  EXPECT_THAT(errors_from(lora + "tokens: [<a>]\n"),
              ElementsAre(HasSubstr("axolotl refuses tokens beside an adapter")));
  EXPECT_THAT(errors_from(saved + "tokens: [<a>]\n"), IsEmpty());
  const std::string eos = "special_tokens: {eos_token: <|im_end|>}\n";
  EXPECT_THAT(refused(lora + eos, llama2), ElementsAre(HasSubstr("stops at a new special token (<|im_end|>)")));
  EXPECT_THAT(refused(saved + eos, llama2), IsEmpty());
  EXPECT_THAT(refused(full + eos, llama2), IsEmpty());
  EXPECT_THAT(refused(lora + "special_tokens: {pad_token: <pad>}\n", llama2), IsEmpty());
  EXPECT_THAT(refused(lora + "special_tokens: {eos_token: </s>}\n", llama2), IsEmpty());
}

TEST(Vocabulary, AxolotlDrawsNewRowsAroundTheMeanWhereAsked) {
  EXPECT_FALSE(plan_from(full).model.mean_resizing.value);
  EXPECT_TRUE(plan_from(full + "mean_resizing_embeddings: true\n").model.mean_resizing.value);
  EXPECT_TRUE(plan_from(full + "mean_resizing_embeddings:\n").model.mean_resizing.value) << "transformers' default";
}

TEST(Overrides, ScalarsThatLeaveWeightsAsTheyAreGoToTheModelsConfig) {
  const TrainingPlan plan =
      plan_from(full + "overrides_of_model_config: {num_hidden_layers: 2, attention_dropout: 0.1, rope_theta: 5}\n");
  EXPECT_THAT(plan.model_config,
              ElementsAre(std::pair("num_hidden_layers", "2"), std::pair("attention_dropout", "0.1")));
  EXPECT_THAT(plan.model.name.origin.derivation, HasSubstr("num_hidden_layers: 2 in its config"));
  EXPECT_THAT(features(plan_from(full + "overrides_of_model_config: {layer_types: [a], vocab_size: 9}\n")),
              ElementsAre("overrides_of_model_config: overridden model config"));
}

}  // namespace
}  // namespace oomplan
