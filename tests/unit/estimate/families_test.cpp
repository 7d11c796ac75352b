// What sets a family apart, by formula, on models small enough to count by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plans.hpp"

namespace oomplan {
namespace {

using example::Keys;
using ::testing::ElementsAre;

constexpr std::int64_t batch = 4;
constexpr std::int64_t length = 256;
constexpr std::int64_t width = 256;
constexpr std::int64_t squares = batch * length * length;

Keys falcon(const Keys& changes = {}) {
  return example::with({{"model_type", "\"falcon\""},
                        {"hidden_size", "256"},
                        {"num_hidden_layers", "2"},
                        {"num_attention_heads", "4"},
                        {"vocab_size", "1000"}},
                       changes);
}

Keys falcon_of_groups(const Keys& changes = {}) {
  return example::with(falcon({{"new_decoder_architecture", "true"}, {"num_kv_heads", "2"}}), changes);
}

Keys opt(const Keys& changes = {}) {
  return example::with({{"model_type", "\"opt\""},
                        {"hidden_size", "256"},
                        {"ffn_dim", "1024"},
                        {"num_hidden_layers", "2"},
                        {"num_attention_heads", "4"},
                        {"vocab_size", "1000"}},
                       changes);
}

Keys bigcode(const Keys& changes = {}) {
  return example::with(example::gpt2({{"model_type", "\"gpt_bigcode\""}, {"n_positions", "1024"}}), changes);
}

Keys gptj(const Keys& changes = {}) {
  return example::with(example::gpt2({{"model_type", "\"gptj\""}, {"n_positions", "1024"}, {"rotary_dim", "32"}}),
                       changes);
}

Keys bloom(const Keys& changes = {}) {
  return example::with(
      {{"model_type", "\"bloom\""}, {"hidden_size", "256"}, {"n_layer", "2"}, {"n_head", "4"}, {"vocab_size", "1000"}},
      changes);
}

Keys mpt() {
  return {{"model_type", "\"mpt\""}, {"d_model", "256"}, {"n_layers", "2"}, {"n_heads", "4"}, {"vocab_size", "1000"}};
}

Keys modernbert(const Keys& changes = {}) {
  return example::with({{"model_type", "\"modernbert\""},
                        {"hidden_size", "256"},
                        {"intermediate_size", "512"},
                        {"num_hidden_layers", "3"},
                        {"num_attention_heads", "4"},
                        {"vocab_size", "1000"}},
                       changes);
}

TrainingPlan plan(Attention attention, bool checkpointed = false) {
  TrainingPlan p = example::plan(batch, length);
  p.kernels.attention.value = attention;
  p.checkpointing.on.value = checkpointed;
  return p;
}

Footprint played(const TrainingPlan& p, const Keys& model) { return example::played(p, example::architecture(model)); }

std::int64_t parameters(const Keys& model, Attention attention = Attention::sdpa) {
  return played(plan(attention), model).parameters;
}

std::int64_t scores_in_the_loss(const TrainingPlan& p, const Keys& model) {
  return at(example::peak_of(played(p, model), Phase::loss, 1).by_bucket, Bucket::attention_scores).count();
}

std::int64_t inputs(const Keys& model, Attention attention) {
  return at(example::peak_of(played(plan(attention), model), Phase::loss, 1).by_bucket, Bucket::inputs).count();
}

std::string refusal(const TrainingPlan& p, const Keys& model) {
  const auto out = estimate(p, example::architecture(model));
  return out.ok() ? "" : out.errors().front().code + ": " + out.errors().front().message;
}

TEST(Mpnet, ItsBiasIsOfEachRowAndSharedByAllBlocks) {
  const Keys model = example::bert({{"model_type", "\"mpnet\""}});
  const TrainingPlan eager = plan(Attention::eager);
  const auto scores = [&](const char* layers) {
    return scores_in_the_loss(eager, example::with(model, {{"num_hidden_layers", layers}}));
  };
  // Of each block the softmax, its mask of a dropped element and what is left, beside copies of queries and keys.
  const std::int64_t of_a_block = scores("3") - scores("2");
  EXPECT_EQ(of_a_block, 4 * squares * (2 + 1 + 2) + 2 * batch * length * width * 2);
  EXPECT_EQ(scores("2") - 2 * of_a_block, length * length * 8);  // The buckets of distances.
  EXPECT_EQ(parameters(example::with(model, {{"relative_attention_num_buckets", "64"}}), Attention::eager) -
                parameters(model, Attention::eager),
            32 * 4);
  EXPECT_NE(refusal(plan(Attention::sdpa), model), "");
}

TEST(Persimmon, ItsAttentionReadsNoHeadDim) {
  const Keys model{{"model_type", "\"persimmon\""}, {"hidden_size", "256"},       {"intermediate_size", "512"},
                   {"num_hidden_layers", "2"},      {"num_attention_heads", "4"}, {"vocab_size", "1000"}};
  EXPECT_EQ(refusal(plan(Attention::sdpa), model), "");
  EXPECT_NE(refusal(plan(Attention::sdpa), example::with(model, {{"head_dim", "1024"}})), "");
}

TEST(Zamba, SharesATransformerAmongNotTooManyLayers) {
  const auto of_layers = [](int count) {
    std::string kinds;
    for (int i = 0; i < count; ++i) kinds += (i == 0 ? "\"hybrid\"" : ", \"hybrid\"");
    return Keys{{"model_type", "\"zamba2\""},
                {"hidden_size", "64"},
                {"num_hidden_layers", std::to_string(count)},
                {"num_attention_heads", "4"},
                {"mamba_d_state", "16"},
                {"n_mamba_heads", "2"},
                {"vocab_size", "1000"},
                {"layers_block_type", "[" + kinds + "]"}};
  };
  EXPECT_EQ(refusal(plan(Attention::sdpa), of_layers(2)), "");
  EXPECT_NE(refusal(plan(Attention::sdpa), of_layers(65)), "");
}

// transformers counts the period from the fourth layer on (ZambaConfig.__post_init__).
TEST(Zamba, LaysItsLayersOutWhereNoListDoes) {
  const Keys sizes{{"model_type", "\"zamba\""},  {"hidden_size", "64"},        {"num_hidden_layers", "9"},
                   {"num_attention_heads", "4"}, {"num_key_value_heads", "4"}, {"mamba_d_state", "16"},
                   {"vocab_size", "1000"}};
  const auto kinds = [](const Keys& model) { return example::architecture(model).body.front().layers; };
  const auto listed = [&](const std::string& layers) {
    return example::with(sizes, {{"layers_block_type", "[" + layers + "]"}});
  };
  const std::string first = R"("mamba", "mamba", "hybrid", "mamba", "mamba", "mamba", "mamba", )";
  EXPECT_EQ(kinds(sizes), kinds(listed(first + R"("hybrid", "mamba")")));
  EXPECT_EQ(kinds(example::with(sizes, {{"attn_layer_period", "5"}, {"attn_layer_offset", "0"}})),
            kinds(listed(R"("mamba", "mamba", "hybrid", "hybrid", "mamba", "mamba", "mamba", "mamba", "hybrid")")));
}

TEST(Encoders, AHeadThatIsNotTiedHasABiasThatNothingReads) {
  for (const char* type : {"bert", "roberta", "camembert", "xlm-roberta", "ernie", "mpnet", "big_bird"}) {
    const Keys model = example::bert({{"model_type", "\"" + std::string(type) + "\""}});
    const std::int64_t tied = parameters(model, Attention::eager);
    const std::int64_t untied = parameters(example::with(model, {{"tie_word_embeddings", "false"}}), Attention::eager);
    EXPECT_EQ(untied - tied, 1000 * width + 1000) << type;
  }
}

TEST(Dbrx, AutocastOverStatesInBf16IsUndecided) {
  const Keys model{{"model_type", "\"dbrx\""}, {"d_model", "256"},     {"n_heads", "4"},
                   {"n_layers", "2"},          {"vocab_size", "1000"}, {"ffn_hidden_size", "128"}};
  TrainingPlan p = plan(Attention::sdpa);
  EXPECT_EQ(refusal(p, model), "");
  p.precision.autocast.value = Autocast::bf16;
  EXPECT_THAT(refusal(p, model), ::testing::HasSubstr("index_add_"));
  p.precision.weights_dtype.value = WeightsDType::fp32;
  EXPECT_EQ(refusal(p, model), "");
}

TEST(BigBird, AttendsToWholeRowsWhereTheyAreShort) {
  const Keys model = example::bert({{"model_type", "\"big_bird\""}});
  TrainingPlan p = plan(Attention::eager);
  p.batch.sequence_length.value = 704;
  EXPECT_EQ(refusal(p, model), "");
  p.batch.sequence_length.value = 705;
  EXPECT_NE(refusal(p, model), "");
  EXPECT_EQ(refusal(p, example::with(model, {{"attention_type", "\"original_full\""}})), "");
  EXPECT_NE(refusal(plan(Attention::sdpa), model), "");
  EXPECT_THAT(refusal(p, example::with(model, {{"attention_type", "\"banded\""}})), ::testing::HasSubstr("banded"));
}

TEST(BigBird, HasAPoolerThatIsNotTrained) {
  const Keys model = example::bert({{"model_type", "\"big_bird\""}});
  EXPECT_EQ(parameters(model, Attention::eager) - parameters(example::bert()), width * width + width);
}

TEST(Ernie, MayAddWhatATaskHas) {
  const Keys model = example::bert({{"model_type", "\"ernie\""}});
  EXPECT_EQ(parameters(model), parameters(example::bert()));
  EXPECT_EQ(parameters(example::with(model, {{"use_task_id", "true"}})) - parameters(model), 3 * width);
}

TEST(Lfm2, AnMlpOfNoWidthIsUndecided) {
  Keys model{{"model_type", "\"lfm2\""}, {"hidden_size", "256"},       {"intermediate_size", "512"},
             {"num_hidden_layers", "2"}, {"num_attention_heads", "4"}, {"vocab_size", "1000"},
             {"full_attn_idxs", "[1]"},  {"num_key_value_heads", "2"}};
  EXPECT_EQ(refusal(plan(Attention::sdpa), model), "");
  model["block_ffn_dim_multiplier"] = "0";
  EXPECT_NE(refusal(plan(Attention::sdpa), model), "");
}

TEST(Falcon, HasAMaskThoughNoRowIsPadded) {
  EXPECT_EQ(scores_in_the_loss(plan(Attention::sdpa, true), falcon()), squares);
  EXPECT_EQ(scores_in_the_loss(plan(Attention::flash_attention_2, true), falcon()), 0);
}

// replace_with_bnb_linear takes no subclass of torch's Linear, and FalconLinear is one.
TEST(Falcon, IsNotQuantizedByBitsandbytes) {
  TrainingPlan p = plan(Attention::sdpa);
  p.adapter.kind.value = Adapter::lora;
  p.adapter.rank.value = 8;
  p.adapter.targets.value = {"query_key_value"};
  p.adapter.dtype.value = AdapterDType::bf16;
  const Bytes plain = played(p, falcon()).peak.total;
  for (const Quantization kind : {Quantization::nf4, Quantization::int8}) {
    p.quantization.kind.value = kind;
    EXPECT_EQ(played(p, falcon()).peak.total, plain);
  }
}

TEST(Falcon, OneHeadOfKeysIsLeftToArithmetic) {
  EXPECT_THAT(played(plan(Attention::sdpa), falcon()).attention_kernels, ElementsAre("math"));
  EXPECT_THAT(played(plan(Attention::sdpa), falcon_of_groups()).attention_kernels, ElementsAre("efficient"));
}

TEST(Falcon, OfGroupsHasANormForEachSideUnlessToldOne) {
  const std::int64_t of_two = parameters(falcon_of_groups());
  EXPECT_EQ(of_two - parameters(falcon_of_groups({{"num_ln_in_parallel_attn", "1"}})), 2 * 2 * width);
  EXPECT_EQ(of_two - parameters(falcon()), 2 * (2 * 64 * width + 2 * width));  // And one more head of keys and values.
}

TEST(Falcon, WhatIsNotPlayedIsNotIgnored) {
  EXPECT_THAT(example::architecture(falcon({{"alibi", "true"}})).not_played, ElementsAre("ALiBi"));
  EXPECT_THAT(example::architecture(falcon({{"bias", "true"}})).not_played, ElementsAre("a bias in each linear layer"));
  EXPECT_NE(refusal(plan(Attention::sdpa), falcon({{"parallel_attn", "false"}})), "");
  EXPECT_NE(refusal(plan(Attention::sdpa), falcon({{"multi_query", "false"}})), "");
}

TEST(Opt, ProjectsWhereTheEmbeddingIsNarrower) {
  const std::int64_t narrower = parameters(opt({{"word_embed_proj_dim", "128"}}));
  EXPECT_EQ(parameters(opt()) - narrower, 1000 * 128 - 2 * 128 * width);
}

TEST(Opt, NormsAfterInsteadOfBeforeLeaveOutTheLast) {
  EXPECT_EQ(parameters(opt()) - parameters(opt({{"do_layer_norm_before", "false"}})), 2 * width);
  EXPECT_EQ(parameters(opt()) - parameters(opt({{"layer_norm_elementwise_affine", "false"}})), 5 * 2 * width);
}

TEST(Opt, AddressesTwoPositionsMoreThanItHas) {
  EXPECT_EQ(parameters(opt()) - parameters(opt({{"max_position_embeddings", "1024"}})), 1024 * width);
  EXPECT_EQ(refusal(plan(Attention::sdpa), opt({{"max_position_embeddings", "256"}})), "");
  EXPECT_NE(refusal(plan(Attention::sdpa), opt({{"max_position_embeddings", "255"}})), "");
}

TEST(BigCode, KeepsAMaskOfAllPositions) {
  const std::int64_t more = inputs(bigcode({{"n_positions", "2048"}}), Attention::sdpa);
  EXPECT_EQ(more - inputs(bigcode(), Attention::sdpa), 2048 * 2048 - 1024 * 1024);
}

TEST(BigCode, SharesOneHeadOfKeys) {
  const std::int64_t of_each = parameters(bigcode({{"multi_query", "false"}}));
  EXPECT_EQ(of_each - parameters(bigcode()), 2 * 2 * (width - 64) * (width + 1));
}

TEST(GptJ, HasATableOfPositionsInEachLayer) {
  const std::int64_t more = inputs(gptj({{"n_positions", "2048"}}), Attention::eager);
  EXPECT_EQ(more - inputs(gptj(), Attention::eager), 2 * 1024 * 32 * 4);
}

TEST(EagerAlone, AnotherKernelIsNotTaken) {
  for (const Keys& model : {bloom(), mpt(), gptj()}) {
    EXPECT_THAT(refusal(plan(Attention::sdpa), model), ::testing::StartsWith("estimate/unmodelled"));
    EXPECT_THAT(refusal(plan(Attention::flash_attention_2), model), ::testing::StartsWith("estimate/unmodelled"));
    EXPECT_EQ(refusal(plan(Attention::eager), model), "");
    EXPECT_NE(example::architecture(model).no_sdpa, "");
  }
}

TEST(Mpt, ItsMaskIsBooleanAgain) {
  EXPECT_EQ(scores_in_the_loss(plan(Attention::eager, true), mpt()), squares);
  EXPECT_EQ(scores_in_the_loss(plan(Attention::eager, true), bloom()), 2 * squares);
}

// A block returns its weights too, which live until the next block has returned.
TEST(Bloom, TheWeightsOfTheBlockBeforeAreHeld) {
  const auto forward = [](const char* layers) {
    const Footprint f = played(plan(Attention::eager, true), bloom({{"n_layer", layers}}));
    return at(example::peak_of(f, Phase::forward, 1).by_bucket, Bucket::attention_scores).count();
  };
  EXPECT_EQ(forward("2") - forward("1"), 2 * 4 * squares);
  EXPECT_EQ(forward("3"), forward("2"));
}

TEST(Nemotron, ItsNormKeepsWhatAutocastMadeOfItsInput) {
  TrainingPlan p = plan(Attention::sdpa);
  p.precision.weights_dtype.value = WeightsDType::fp32;
  p.precision.autocast.value = Autocast::bf16;
  const auto kept = [&](const char* type) {
    const Keys model =
        example::llama({{"model_type", type}, {"num_key_value_heads", "4"}, {"hidden_act", "\"relu2\""}});
    return at(example::peak_of(played(p, model), Phase::loss, 1).by_bucket, Bucket::activations).count();
  };
  EXPECT_GT(kept("\"nemotron\""), 0);
  EXPECT_LT(kept("\"nemotron\""), kept("\"llama\""));
}

TEST(Apertus, ItsActivationHasTwoWeights) {
  const Keys model = example::llama({{"model_type", "\"apertus\""}});
  const std::int64_t attention = 2 * width * width + 2 * width * 128 + 2 * 64;
  const std::int64_t layer = attention + 2 * 512 * width + 2 + 2 * width;
  EXPECT_EQ(parameters(model), 2 * 1000 * width + 2 * layer + width);
  EXPECT_NE(refusal(plan(Attention::sdpa), example::with(model, {{"hidden_act", "\"silu\""}})), "");
}

TEST(ModernBert, ItsFirstLayerHasNoNorm) {
  const std::int64_t layer = 3 * width * width + width * width + 3 * 512 * width + 2 * width;
  const std::int64_t three = parameters(modernbert());
  EXPECT_EQ(parameters(modernbert({{"num_hidden_layers", "4"}})) - three, layer);
  EXPECT_EQ(three - parameters(modernbert({{"num_hidden_layers", "1"}})), 2 * layer);
  EXPECT_EQ(parameters(modernbert({{"num_hidden_layers", "1"}})),
            1000 * width + 1000 + width + layer - width + width + width * width + width);
}

TEST(ModernBert, OnlyItsWindowsNeedAMask) {
  EXPECT_EQ(scores_in_the_loss(plan(Attention::sdpa, true), modernbert()), squares);
  EXPECT_EQ(scores_in_the_loss(plan(Attention::sdpa, true), modernbert({{"local_attention", "1024"}})), 0);
}

TEST(Exaone, LayersOfFullAttentionTurnNothingBesideSlidingOnes) {
  const auto turned = [](const char* window) {
    const Keys model = example::llama({{"model_type", "\"exaone4\""},
                                       {"sliding_window", window},
                                       {"layer_types", "[\"full_attention\", \"full_attention\"]"}});
    return example::architecture(model).body[0].kinds[0][1].find("rotary") == nullptr;
  };
  EXPECT_TRUE(turned("null"));
  EXPECT_FALSE(turned("4096"));
}

}  // namespace
}  // namespace oomplan
