// Laws of what ranks hold together and one by one, over random models and plans.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "oomplan/estimate/ranks.hpp"
#include "random_plans.hpp"

namespace oomplan {
namespace {

using drawn::Dice;
using drawn::Model;
using drawn::over_many;

constexpr std::array held_buckets{Bucket::weights, Bucket::gradients, Bucket::optimizer};

/// What every kind of sharding plays, on one device.
TrainingPlan plain(Dice& dice, TrainingPlan p) {
  p.quantization.kind.value = Quantization::none;
  p.recipe.kind.value = RecipeKind::supervised;
  p.recipe.loss.value = Loss::full_logits;
  p.recipe.label_smoothing.value = p.precision.fp32_norms.value = p.checkpointing.reentrant.value = false;
  p.precision.autocast.value = Autocast::none;
  drawn::take_half_for_flash(p);
  p.precision.weights_dtype.value = WeightsDType::bf16;
  p.kernels.lora_qkv.value = p.kernels.lora_o.value = p.kernels.lora_mlp.value = false;
  p.kernels.liger_rms_norm.value = p.kernels.liger_rope.value = p.kernels.liger_glu.value = false;
  p.optimizer.name.value = dice.pick<std::string>({"adamw_foreach", "adamw_for_each", "adamw_fused", "sgd_momentum"});
  return p;
}

TrainingPlan sharded(Dice& dice, TrainingPlan p, Sharding sharding, std::int64_t world) {
  p.mesh = example::mesh(sharding, world);
  MeshFacts& m = p.mesh;
  m.sync_each.value = dice.one_in(2);
  m.fsdp_orig_params.value = dice.one_in(2);
  m.fsdp_prefetch.value = dice.pick({BackwardPrefetch::pre, BackwardPrefetch::post, BackwardPrefetch::none});
  m.fsdp_reshard.value = dice.pick({Reshard::automatic, Reshard::never});
  m.zero_dtype.value = MixedDType::bf16;
  m.zero_reduce_bucket.value = dice.pick({1'000, 100'000, 10'000'000});
  m.zero_contiguous.value = dice.one_in(2);
  m.zero_overlap.value = dice.one_in(2);
  m.zero_reduce_scatter.value = dice.one_in(2);
  m.zero_prefetch.value = dice.pick({0, 10'000, 1'000'000});
  m.zero_persistence.value = dice.pick({0, 100, 10'000});
  m.zero_max_live.value = m.zero_max_reuse.value = m.zero_sub_group.value = 1'000'000'000;
  m.zero_decay_groups.value = dice.one_in(2);
  return p;
}

Bytes most(const Footprint& f, Bucket bucket) {
  return at(f.bucket_peaks.at(static_cast<std::size_t>(bucket)).by_bucket, bucket);
}

/// Of all ranks together, each with the most that it ever holds.
Bytes together(const TrainingPlan& p, const Architecture& architecture, Bucket bucket) {
  Bytes out;
  const auto kinds = rank_kinds(p, architecture);
  EXPECT_TRUE(kinds.ok());
  for (const RankKind& kind : kinds ? *kinds : std::vector<RankKind>()) {
    const auto f = estimate_shard(p, architecture, kind.shard);
    EXPECT_TRUE(f.ok());
    if (f) out += most(*f, bucket) * kind.count;
  }
  return out;
}

/// Llama's kind alone is played by all.
void over_sharded(std::uint64_t seed, int count,
                  const std::function<void(Dice&, const Architecture&, const TrainingPlan&, Sharding)>& law) {
  over_many(seed, count, [&](Dice& dice, const Model& model, const TrainingPlan& drawn) {
    if (!model.rotary) return;
    const TrainingPlan p = plain(dice, drawn);
    const Sharding sharding =
        dice.pick({Sharding::fsdp1, Sharding::fsdp2, Sharding::zero1, Sharding::zero2, Sharding::zero3});
    SCOPED_TRACE(sharding_names[static_cast<std::size_t>(sharding)]);
    law(dice, model.architecture(), p, sharding);
  });
}

TEST(ShardingLaws, RanksTogetherHoldTheWhole) {
  over_sharded(50, 150, [](Dice& dice, const Architecture& architecture, const TrainingPlan& plan, Sharding sharding) {
    const Footprint one = example::played(plan, architecture);
    const TrainingPlan p = sharded(dice, plan, sharding, dice.pick({2, 3, 4, 7}));
    const Bytes weights(one.parameters * 2);
    EXPECT_GE(together(p, architecture, Bucket::weights), weights) << p.mesh.world_size.value;
    EXPECT_GE(together(p, architecture, Bucket::gradients), Bytes(one.trainable_parameters * 2));
    const std::int64_t states = plan.optimizer.name.value == "sgd_momentum" ? 1 : 2;
    EXPECT_GE(together(p, architecture, Bucket::optimizer), Bytes(one.trainable_parameters * 2 * states));
  });
}

TEST(ShardingLaws, MoreRanksNeverHoldMoreEach) {
  over_sharded(51, 100, [](Dice& dice, const Architecture& architecture, const TrainingPlan& plan, Sharding sharding) {
    TrainingPlan p = sharded(dice, plan, sharding, 2);
    // Whole gradients are kept, wherever a partition is cut.
    const bool cuts = sharding == Sharding::zero1 || sharding == Sharding::zero2;
    Footprint fewer = example::played(p, architecture);
    for (const std::int64_t world : {3, 4, 8, 64}) {
      p.mesh.world_size.value = world;
      const Footprint more = example::played(p, architecture);
      // What is gathered or reduced is padded to a multiple of the ranks; so is each of ZeRO's two flat tensors.
      Bytes padding = Bytes(1024);
      for (const Bucket bucket : {Bucket::gathered, Bucket::communication}) {
        if (most(more, bucket) > most(fewer, bucket)) padding += most(more, bucket) - most(fewer, bucket);
      }
      for (const Bucket bucket : held_buckets) {
        if (cuts && bucket == Bucket::gradients) continue;
        EXPECT_LE(most(more, bucket), most(fewer, bucket) + Bytes(1024)) << name_of(bucket) << ' ' << world;
      }
      if (!cuts) {
        EXPECT_LE(more.peak.total, fewer.peak.total + padding) << world;
      }
      fewer = more;
    }
  });
}

TEST(ShardingLaws, AWorldOfOneHoldsWhatTheDeviceAloneDoes) {
  over_sharded(52, 100, [](Dice& dice, const Architecture& architecture, const TrainingPlan& plan, Sharding) {
    const Footprint alone = example::played(plan, architecture);
    const Footprint one = example::played(sharded(dice, plan, Sharding::fsdp2, 1), architecture);
    for (const Bucket bucket : {Bucket::weights, Bucket::optimizer}) {
      EXPECT_EQ(most(one, bucket), most(alone, bucket)) << name_of(bucket);
    }
    TrainingPlan none = sharded(dice, plan, Sharding::none, 1);
    const Footprint same = example::played(none, architecture);
    ASSERT_EQ(same.peaks.size(), alone.peaks.size());
    for (std::size_t i = 0; i < same.peaks.size(); ++i) EXPECT_EQ(same.peaks[i].by_bucket, alone.peaks[i].by_bucket);
  });
}

}  // namespace
}  // namespace oomplan
