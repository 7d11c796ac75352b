// Latent attention and the routers of mixtures, through the ops that have them: weights by formula.
#include <gtest/gtest.h>

#include "plans.hpp"

namespace oomplan {
namespace {

using example::architecture;
using example::Keys;
using example::played;

/// Width 128, 4 heads of 16 + 8 wide and values of 16, ranks of 32 and 24, 8 experts in 2 groups.
Keys deepseek(const Keys& changes = {}) {
  return example::with({{"model_type", "\"deepseek_v3\""},
                        {"hidden_size", "128"},
                        {"intermediate_size", "256"},
                        {"moe_intermediate_size", "32"},
                        {"num_hidden_layers", "2"},
                        {"num_attention_heads", "4"},
                        {"q_lora_rank", "32"},
                        {"kv_lora_rank", "24"},
                        {"qk_nope_head_dim", "16"},
                        {"qk_rope_head_dim", "8"},
                        {"v_head_dim", "16"},
                        {"n_routed_experts", "8"},
                        {"num_experts_per_tok", "2"},
                        {"n_group", "2"},
                        {"topk_group", "1"},
                        {"first_k_dense_replace", "1"},
                        {"vocab_size", "1000"}},
                       changes);
}

constexpr std::int64_t norms = 2 * 128;
constexpr std::int64_t of_keys = 128 * (24 + 8) + 24 + 24 * 4 * (16 + 16) + 4 * 16 * 128;
constexpr std::int64_t of_queries = 128 * 32 + 32 + 32 * 4 * (16 + 8);
constexpr std::int64_t dense = 3 * 128 * 256;
constexpr std::int64_t sparse = 8 * 128 + 8 * 3 * 128 * 32 + 3 * 128 * 32;
constexpr std::int64_t ends = 2 * 1000 * 128 + 128;

TEST(LatentAttention, HasTheWeightsOfItsTwoNarrowProjections) {
  const auto full = played(example::plan(1, 64), architecture(deepseek()));
  EXPECT_EQ(full.parameters, 2 * (norms + of_keys + of_queries) + dense + sparse + ends);
  const auto plain = played(example::plan(1, 64), architecture(deepseek({{"q_lora_rank", "null"}})));
  EXPECT_EQ(full.parameters - plain.parameters, 2 * (of_queries - 128 * 4 * (16 + 8)));
}

TEST(LatentAttention, ItsKeysAndValuesOfUnlikeWidthKeepItFromFlash) {
  const auto kernels = [](const std::string& value_width) {
    return played(example::plan(1, 64), architecture(deepseek({{"v_head_dim", value_width}}))).attention_kernels;
  };
  EXPECT_EQ(kernels("16"), std::vector<std::string>{"efficient"});
  EXPECT_EQ(kernels("24"), std::vector<std::string>{"flash"});
}

TEST(Router, AFrozenCorrectionIsCountedWhereItIsAParameter) {
  const Keys ernie{{"model_type", "\"ernie4_5_moe\""},
                   {"hidden_size", "128"},
                   {"intermediate_size", "256"},
                   {"moe_intermediate_size", "32"},
                   {"num_hidden_layers", "2"},
                   {"num_attention_heads", "4"},
                   {"moe_num_experts", "8"},
                   {"moe_k", "2"},
                   {"vocab_size", "1000"},
                   {"moe_layer_end_index", "1"}};
  const auto all = played(example::plan(1, 64), architecture(ernie));
  EXPECT_EQ(all.parameters - all.trainable_parameters, 8);
}

TEST(Router, OneThatIsALinearLayerOfATupleCarriesNoAdapter) {
  const Keys phi{{"model_type", "\"phimoe\""}, {"hidden_size", "256"},       {"intermediate_size", "64"},
                 {"num_hidden_layers", "2"},   {"num_attention_heads", "4"}, {"num_key_value_heads", "2"},
                 {"num_local_experts", "4"},   {"vocab_size", "1000"}};
  TrainingPlan plan = example::plan(1, 64);
  plan.adapter.kind.value = Adapter::lora;
  EXPECT_TRUE(estimate(plan, architecture(phi)).ok());
  plan.adapter.targets.value = {"all-linear"};
  EXPECT_FALSE(estimate(plan, architecture(phi)).ok());
}

}  // namespace
}  // namespace oomplan
