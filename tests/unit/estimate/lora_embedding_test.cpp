// LoRA on the embedding of tokens.
#include <gtest/gtest.h>

#include "plans.hpp"

namespace oomplan {
namespace {

constexpr std::int64_t words = 1000;
constexpr std::int64_t width = 256;

TrainingPlan plan() {
  TrainingPlan p = example::plan(2, 64);
  p.adapter.kind.value = Adapter::lora;
  p.adapter.rank.value = 16;
  p.adapter.targets.value = {"embed_tokens"};
  return p;
}

bool is_refused(const TrainingPlan& p, const example::Keys& model = example::llama()) {
  return !estimate(p, example::architecture(model)).ok();
}

TEST(LoraOnAnEmbedding, HasARowForEachWordAndOneForEachOfItsNumbers) {
  const Footprint f = example::played(plan(), example::architecture(example::llama()));
  EXPECT_EQ(f.trainable_parameters, 16 * (words + width));
  TrainingPlan both = plan();
  both.adapter.targets.value = {"embed_tokens", "q_proj"};
  const Footprint more = example::played(both, example::architecture(example::llama()));
  EXPECT_EQ(more.trainable_parameters - f.trainable_parameters, 2 * 16 * (width + width));
}

TEST(LoraOnAnEmbedding, IsUndecidedWhereNoRunShowedIt) {
  EXPECT_FALSE(is_refused(plan()));
  TrainingPlan p = plan();
  p.adapter.dora.value = true;
  EXPECT_TRUE(is_refused(p));
  p = plan();
  p.mesh.sharding.value = Sharding::fsdp2;
  p.mesh.world_size.value = 2;
  p.mesh.fsdp_replicas.value = 1;
  EXPECT_TRUE(is_refused(p));
  p = plan();
  p.framework = "axolotl 0.18.0 on transformers 5.14.1";
  EXPECT_TRUE(is_refused(p));
  // Which scales what it looks up by itself.
  EXPECT_TRUE(is_refused(plan(), example::llama({{"model_type", "\"gemma3_text\""}, {"head_dim", "64"}})));
}

}  // namespace
}  // namespace oomplan
