// Laws of what ranks hold together and one by one, over random models and plans.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "oomplan/estimate/ranks.hpp"
#include "random_plans.hpp"

namespace oomplan {
namespace {

using drawn::Dice;
using drawn::Model;
using drawn::over_many;

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
  if (sharding == Sharding::fsdp1) m.fsdp_units.value = ShardUnits::accelerate;  // Flat parameters are of one type.
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
  EXPECT_TRUE(kinds.ok()) << (kinds ? "" : to_text(kinds.errors().front()));
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

/// `copies` of the model's weights, of gradients of what is trained and of the optimizer's states of it.
void expect_the_whole(const TrainingPlan& p, const Architecture& architecture, const Footprint& one,
                      std::int64_t copies) {
  const Bytes trained = Bytes(one.trainable_parameters * 2) * copies;
  EXPECT_GE(together(p, architecture, Bucket::weights), Bytes(one.parameters * 2) * copies) << p.mesh.world_size.value;
  EXPECT_GE(together(p, architecture, Bucket::gradients), trained) << p.mesh.world_size.value;
  const std::int64_t states = p.optimizer.name.value == "sgd_momentum" ? 1 : 2;
  EXPECT_GE(together(p, architecture, Bucket::optimizer), trained * states) << p.mesh.world_size.value;
}

TEST(ShardingLaws, RanksTogetherHoldTheWhole) {
  over_sharded(50, 150, [](Dice& dice, const Architecture& architecture, const TrainingPlan& plan, Sharding sharding) {
    const Footprint one = example::played(plan, architecture);
    const TrainingPlan p = sharded(dice, plan, sharding, dice.pick({2, 3, 4, 7}));
    expect_the_whole(p, architecture, one, 1);
  });
}

TEST(ShardingLaws, EachReplicaHoldsTheWhole) {
  over_sharded(53, 60, [](Dice& dice, const Architecture& architecture, const TrainingPlan& plan, Sharding) {
    const Footprint one = example::played(plan, architecture);
    expect_the_whole(sharded(dice, plan, Sharding::ddp, 3), architecture, one, 3);
    TrainingPlan p = sharded(dice, plan, Sharding::fsdp2, dice.pick({4, 6, 12}));
    p.mesh.fsdp_replicas.value = 2;
    expect_the_whole(p, architecture, one, 2);
  });
}

TEST(ShardingLaws, MoreReplicasNeedAsMuchEach) {
  over_sharded(54, 60, [](Dice& dice, const Architecture& architecture, const TrainingPlan& plan, Sharding) {
    TrainingPlan p = sharded(dice, plan, Sharding::ddp, 2);
    const std::vector<Event> two = example::events_of(p, architecture);
    p.mesh.world_size.value = 64;
    EXPECT_EQ(example::events_of(p, architecture), two);
  });
}

/// Models whose heads ranks share, in plans that tensor parallelism and pipelines play.
void over_shared_models(std::uint64_t seed, int count,
                        const std::function<void(Dice&, const Architecture&, const TrainingPlan&)>& law) {
  int answered = 0;
  over_many(seed, count, [&](Dice& dice, const Model& model, const TrainingPlan& drawn) {
    if (!model.rotary) return;
    Model of = model;
    of.keys = example::with(model.keys, {{"num_attention_heads", "8"},
                                         {"num_key_value_heads", dice.number({4, 8})},
                                         {"hidden_size", "256"},
                                         {"intermediate_size", "512"},
                                         {"head_dim", "32"},
                                         {"num_hidden_layers", "8"},
                                         {"vocab_size", dice.number({512, 4096})}});
    for (const char* key : {"attention_dropout", "attention_bias", "mlp_bias"}) of.keys.erase(key);
    if (of.keys.contains("sliding_window")) of.keys["sliding_window"] = "null";
    TrainingPlan p = plain(dice, drawn);
    p.adapter.kind.value = Adapter::none;
    p.optimizer.name.value = dice.pick<std::string>({"adamw_foreach", "adamw_for_each", "adamw_fused"});
    p.kernels.attention.value = Attention::sdpa;
    p.batch.padding_mask.value = false;
    p.checkpointing.keeps.value = CheckpointKeeps::inputs;
    p.batch.sequence_length.value = dice.pick({16, 64, 128});
    p.batch.gradient_accumulation_steps.value = 1;
    p.precision.outputs_to_fp32.value = p.precision.fp32_while_loading.value = false;
    p.mesh = example::mesh(Sharding::none, 1);
    law(dice, of.architecture(), p);
    ++answered;
  });
  EXPECT_GT(answered, count / 2);
}

TEST(ShardingLaws, RanksThatShareMatricesHoldTheWholeTogetherAndMoreOfThemNeverMoreEach) {
  over_shared_models(55, 60, [](Dice& dice, const Architecture& architecture, const TrainingPlan& plan) {
    const Footprint one = example::played(plan, architecture);
    TrainingPlan p = plan;
    p.recipe.loss.value = Loss::summed_logits;
    p.optimizer.clip_gradients.value =
        false;  // torch stops at norms of some gradients that are shared and others that are not.
    p.mesh.sequence_parallel.value = dice.one_in(2);
    p.mesh.loss_parallel.value = dice.one_in(2);
    Footprint fewer = one;
    for (const std::int64_t ranks : {2, 4}) {
      p.mesh.world_size.value = p.mesh.tensor_parallel.value = ranks;
      expect_the_whole(p, architecture, one, 1);
      const Footprint more = example::played(p, architecture);
      for (const Bucket bucket : {Bucket::weights, Bucket::gradients, Bucket::optimizer}) {
        EXPECT_LE(most(more, bucket), most(fewer, bucket)) << name_of(bucket) << ' ' << ranks;
      }
      if (ranks > 2) {
        EXPECT_LE(more.peak.total, fewer.peak.total);
      }
      fewer = more;
    }
  });
}

TEST(ShardingLaws, StagesHoldTheWholeTogetherAndOfMoreStagesTheLargestNeverMore) {
  over_shared_models(56, 16, [](Dice& dice, const Architecture& architecture, const TrainingPlan& plan) {
    const Footprint one = example::played(plan, architecture);
    TrainingPlan p = plan;
    p.mesh.pipeline_schedule.value = dice.pick({PipelineSchedule::gpipe, PipelineSchedule::one_f_one_b});
    p.mesh.pipeline_stages.value = 1;
    p.mesh.pipeline_micro_batches.value = 8;
    ByBucket before{};
    before.fill(Bytes::gib(1'000'000));
    for (const std::int64_t stages : {2, 4, 8}) {
      p.mesh.world_size.value = p.mesh.pipeline_parallel.value = stages;
      expect_the_whole(p, architecture, one, 1);
      for (const Bucket bucket : {Bucket::weights, Bucket::gradients, Bucket::optimizer}) {
        Bytes largest;
        for (std::int64_t r = 0; r < stages; ++r) {
          const auto f = estimate_shard(p, architecture, r);
          ASSERT_TRUE(f.ok()) << to_text(f.errors().front());
          largest = std::max(largest, most(*f, bucket));
        }
        EXPECT_LE(largest, at(before, bucket)) << name_of(bucket) << ' ' << stages;
        at(before, bucket) = largest;
      }
    }
  });
}

/// What of a plan's parameters ranks cannot share evenly, and what of them they take at once.
struct Shares {
  std::int64_t padding =
      0;  ///< Elements by which all parameters together are longer, so that `world` ranks share them.
  std::int64_t elements = 0;
  std::int64_t tensors = 0;  ///< Of which each is rounded up to 512 bytes.
  std::int64_t largest = 0;  ///< Elements of the largest parameter.
  std::int64_t unit = 0;     ///< Elements of the largest unit: a layer, or all that is in none.
};

Shares shares(const Footprint& f, Sharding sharding, std::int64_t world) {
  Shares out;
  std::map<int, std::int64_t> units;
  for (const HeldParameter& h : f.held) {
    const std::int64_t row = sharding == Sharding::fsdp2 ? h.elements / h.rows : 1;  // FSDP2 cuts rows.
    const std::int64_t rows = h.elements / row;
    out.padding += h.layers * ((rows + world - 1) / world * world - rows) * row;
    out.elements += h.layers * h.elements;
    out.tensors += h.layers;
    out.largest = std::max(out.largest, h.elements);
    units[h.layer] += h.elements;
  }
  for (const auto& [layer, elements] : units) out.unit = std::max(out.unit, elements);
  return out;
}

/// By how much more ranks may need more each: buffers, each with its reason. Everything is of two bytes or, of frozen
/// weights and adapters in fp32, of four.
struct Buffers {
  Bytes gathered{};
  Bytes communication{};
  Bytes gradients{};

  Bytes all() const { return gathered + communication + gradients; }
};

/// A bucket of DeepSpeed's, or a gradient that is larger than one.
Bytes reduced_at_once(const TrainingPlan& p, const Shares& of) {
  return Bytes(2 * std::min(std::max(p.mesh.zero_reduce_bucket.value, of.largest), of.elements + of.padding));
}

Buffers stated(const TrainingPlan& p, const Shares& of, Sharding sharding) {
  const Bytes rounding = Bytes(512) * of.tensors;
  const Bytes padding = Bytes(4 * of.padding) + rounding;
  switch (sharding) {
    case Sharding::fsdp2:  // Whole parameters, the flat buffer they come in, and that of their gradients.
      return {.gathered = padding * 2, .communication = padding};
    case Sharding::fsdp1:  // A gradient that is padded is a copy.
      return {.gathered = padding, .communication = padding + Bytes(4 * of.unit)};
    case Sharding::zero3:  // Gradients that are padded are copies, as many as are reduced at once.
      return {.gathered = padding, .communication = padding + reduced_at_once(p, of)};
    default:  // What is reduced at once depends on where partitions are cut, and so does which gradient stays whole.
      return {.communication = rounding + reduced_at_once(p, of), .gradients = Bytes(2 * of.largest)};
  }
}

TEST(ShardingLaws, MoreRanksNeverHoldMoreEachBeyondStatedBuffers) {
  over_sharded(51, 300, [](Dice& dice, const Architecture& architecture, const TrainingPlan& plan, Sharding sharding) {
    TrainingPlan p = sharded(dice, plan, sharding, 2);
    Footprint fewer = example::played(p, architecture);
    for (const std::int64_t world : {3, 4, 8, 64}) {
      p.mesh.world_size.value = world;
      const Footprint more = example::played(p, architecture);
      const Buffers beyond = stated(p, shares(more, sharding, world), sharding);
      // Each of ZeRO's two flat tensors is padded.
      EXPECT_LE(most(more, Bucket::weights), most(fewer, Bucket::weights) + Bytes(1024)) << world;
      EXPECT_LE(most(more, Bucket::optimizer), most(fewer, Bucket::optimizer) + Bytes(1024)) << world;
      EXPECT_LE(most(more, Bucket::gradients), most(fewer, Bucket::gradients) + beyond.gradients + Bytes(1024))
          << world;
      EXPECT_LE(most(more, Bucket::gathered), most(fewer, Bucket::gathered) + beyond.gathered) << world;
      EXPECT_LE(most(more, Bucket::communication), most(fewer, Bucket::communication) + beyond.communication) << world;
      EXPECT_LE(more.peak.total, fewer.peak.total + beyond.all() + Bytes(1024)) << world;
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
