// Laws that every estimate obeys, over random models and plans.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <random>

#include "random_plans.hpp"

namespace oomplan {
namespace {

using drawn::Dice;
using drawn::Model;
using drawn::over_many;
using drawn::random_model;
using drawn::random_plan;

Bytes sum(const ByBucket& by) {
  Bytes out;
  for (const Bytes b : by) out += b;
  return out;
}

void expect_adding_up(const PhasePeak& peak) {
  const Bytes handed_out = sum(peak.by_bucket) - at(peak.by_bucket, Bucket::paged);
  EXPECT_EQ(handed_out, peak.total) << name_of(peak.phase) << ' ' << peak.step;
  for (std::size_t b = 0; b < bucket_count; ++b) {
    EXPECT_GE(peak.by_bucket[b], Bytes(0)) << bucket_names[b] << ' ' << name_of(peak.phase) << ' ' << peak.step;
    EXPECT_FALSE(peak.by_bucket[b].saturated());
  }
  EXPECT_EQ(at(peak.by_bucket, Bucket::runtime), Bytes(0));
}

Bytes sum(const std::vector<LiveGroup>& groups, std::optional<Bucket> of = {}) {
  Bytes out;
  for (const LiveGroup& g : groups) {
    if (!of || g.bucket == *of) out += g.bytes;
  }
  return out;
}

void expect_whole_tensors(const std::vector<LiveGroup>& groups) {
  for (const LiveGroup& g : groups) {
    std::int64_t bytes = bytes_of(g.dtype);
    for (const std::int64_t size : g.shape) bytes *= size;
    EXPECT_GT(g.count, 0) << g.op;
    EXPECT_EQ(g.bytes, Bytes(bytes).rounded_up(512) * g.count) << g.op << " in " << g.module;
    EXPECT_LE(g.first_layer, g.last_layer) << g.op;
  }
  EXPECT_TRUE(std::is_sorted(groups.begin(), groups.end(), [](auto& a, auto& b) { return a.bytes > b.bytes; }));
}

TEST(EstimateLaws, EveryTotalIsTheSumOfItsParts) {
  over_many(1, 250, [](Dice&, const Model& model, const TrainingPlan& plan) {
    const Footprint f = example::played(plan, model.architecture());
    for (const PhasePeak& p : f.peaks) expect_adding_up(p);
    EXPECT_EQ(sum(f.at_peak), f.peak.total);
    for (std::size_t b = 0; b < bucket_count; ++b) {
      const Bucket bucket = static_cast<Bucket>(b);
      const Bytes listed = bucket == Bucket::paged ? Bytes() : f.peak.by_bucket[b];
      EXPECT_EQ(sum(f.at_peak, bucket), listed) << bucket_names[b];
      EXPECT_EQ(f.bucket_peaks.at(b).total, f.bucket_peaks.at(b).by_bucket[b]) << bucket_names[b];
      EXPECT_EQ(sum(f.at_bucket_peaks.at(b), bucket), f.bucket_peaks.at(b).total) << bucket_names[b];
    }
    expect_whole_tensors(f.at_peak);
  });
}

TEST(EstimateLaws, ThePeakIsTheHighestOfThePhasesAndSoIsEachBuckets) {
  over_many(2, 150, [](Dice&, const Model& model, const TrainingPlan& plan) {
    const Footprint f = example::played(plan, model.architecture());
    ASSERT_EQ(f.peaks.size(), 11U);  // Load, and five phases of two steps.
    EXPECT_EQ(f.peaks.front().phase, Phase::load);
    Bytes highest;
    ByBucket highest_of{};
    for (const PhasePeak& p : f.peaks) {
      highest = std::max(highest, p.total);
      for (std::size_t b = 0; b < bucket_count; ++b) highest_of[b] = std::max(highest_of[b], p.by_bucket[b]);
    }
    EXPECT_EQ(f.peak.total, highest);
    for (std::size_t b = 0; b < bucket_count; ++b) {
      EXPECT_GE(f.bucket_peaks.at(b).by_bucket[b], highest_of[b]) << bucket_names[b];
    }
    EXPECT_LE(f.trainable_parameters, f.parameters);
    EXPECT_GT(f.trainable_parameters, 0);
  });
}

/// The plan as FSDP2 plays it, with settings of its own.
TrainingPlan sharded(Dice& dice, TrainingPlan p) {
  p.quantization.kind.value = Quantization::none;
  p.recipe.loss.value = Loss::full_logits;
  p.recipe.label_smoothing.value = false;
  p.precision.autocast.value = Autocast::none;
  drawn::take_half_for_flash(p);
  p.precision.fp32_norms.value = p.checkpointing.reentrant.value = false;
  p.kernels.lora_qkv.value = p.kernels.lora_o.value = p.kernels.lora_mlp.value = false;
  p.kernels.liger_rms_norm.value = p.kernels.liger_rope.value = p.kernels.liger_glu.value = false;
  p.recipe.kind.value = RecipeKind::supervised;
  p.optimizer.name.value = dice.pick<std::string>({"adamw_foreach", "adamw_for_each", "adamw_fused", "sgd_momentum"});
  p.mesh = example::mesh(Sharding::fsdp2, 1);
  p.mesh.sync_each.value = dice.one_in(2);
  p.mesh.fsdp_reshard_unreduced.value = dice.one_in(2);
  p.mesh.fsdp_reshard.value = dice.pick({Reshard::automatic, Reshard::all, Reshard::never});
  p.mesh.fsdp_output_dtype.value = dice.pick({MixedDType::as_held, MixedDType::bf16});
  p.mesh.fsdp_reduce_dtype.value = dice.pick({MixedDType::as_held, MixedDType::fp32, MixedDType::bf16});
  if (dice.one_in(2)) p.mesh.fsdp_param_dtype.value = MixedDType::bf16;
  return p;
}

TEST(EstimateLaws, ShardsOfAllRanksMakeTheWholeAndMoreRanksNeverHoldMore) {
  over_many(40, 60, [](Dice& dice, const Model& model, const TrainingPlan& plan) {
    TrainingPlan p = sharded(dice, plan);
    const bool apart = model.architecture().task == Task::causal_lm && dice.one_in(2);
    if (apart) p.mesh.fsdp_units.value = ShardUnits::accelerate;
    ByBucket before{};
    before.fill(Bytes::gib(1'000'000));
    for (const std::int64_t world : {1, 2, 3, 8}) {
      p.mesh.world_size.value = world;
      const Footprint f = example::played(p, model.architecture());
      for (const PhasePeak& peak : f.peaks) expect_adding_up(peak);
      EXPECT_EQ(sum(f.at_peak), f.peak.total);
      for (const Bucket bucket : {Bucket::weights, Bucket::optimizer}) {
        const Bytes held = at(f.bucket_peaks.at(static_cast<std::size_t>(bucket)).by_bucket, bucket);
        EXPECT_LE(held, at(before, bucket)) << name_of(bucket) << ' ' << world;
        at(before, bucket) = held;
      }
      EXPECT_GE(at(f.peaks.front().by_bucket, Bucket::weights) * world, Bytes(f.parameters * 2));
    }
  });
}

TEST(EstimateLaws, DdpAddsNoMoreThanItsBuckets) {
  over_many(41, 60, [](Dice& dice, const Model& model, const TrainingPlan& plan) {
    TrainingPlan p = plan;
    p.mesh = example::mesh(Sharding::ddp, 4);
    p.mesh.sync_each.value = dice.one_in(2);
    p.mesh.ddp_find_unused.value = dice.one_in(2) && !(p.checkpointing.on.value && p.checkpointing.reentrant.value);
    const Footprint one = example::played(plan, model.architecture());
    const Footprint many = example::played(p, model.architecture());
    const Bytes buckets = at(many.peaks.at(1).by_bucket, Bucket::communication);  // Loading may peak before them.
    EXPECT_GE(buckets, Bytes(many.trainable_parameters * 2));
    // Looking for unused parameters it clones what the model returns (_DDPSink).
    const Bytes outputs =
        p.mesh.ddp_find_unused.value
            ? Bytes(p.batch.micro_batch_size.value) * p.batch.sequence_length.value * model.number("vocab_size") * 4
            : Bytes();
    ASSERT_LE(one.peaks.size(), many.peaks.size());  // A step more, where buckets were rounded otherwise.
    for (std::size_t i = 1; i < one.peaks.size(); ++i) {
      EXPECT_GE(many.peaks[i].total, one.peaks[i].total + buckets) << i;
      EXPECT_LE(many.peaks[i].total, one.peaks[i].total + buckets + outputs + Bytes::mib(1)) << i;
    }
  });
}

TEST(EstimateLaws, TheSamePlanTwiceIsTheSameFootprint) {
  over_many(3, 100, [](Dice&, const Model& model, const TrainingPlan& plan) {
    const Footprint a = example::played(plan, model.architecture());
    const Footprint b = example::played(plan, model.architecture());
    ASSERT_EQ(a.peaks.size(), b.peaks.size());
    for (std::size_t i = 0; i < a.peaks.size(); ++i) EXPECT_EQ(a.peaks[i].by_bucket, b.peaks[i].by_bucket);
    ASSERT_EQ(a.at_peak.size(), b.at_peak.size());
    for (std::size_t i = 0; i < a.at_peak.size(); ++i) {
      EXPECT_EQ(a.at_peak[i].op, b.at_peak[i].op);
      EXPECT_EQ(a.at_peak[i].bytes, b.at_peak[i].bytes);
    }
    EXPECT_EQ(a.events, b.events);
  });
}

/// Every phase of `more` needs at least what it does in `less`.
void expect_no_less(const Footprint& more, const Footprint& less) {
  EXPECT_GE(more.peak.total, less.peak.total);
  ASSERT_EQ(more.peaks.size(), less.peaks.size());
  for (std::size_t i = 0; i < more.peaks.size(); ++i) {
    EXPECT_GE(more.peaks[i].total, less.peaks[i].total) << name_of(more.peaks[i].phase) << ' ' << more.peaks[i].step;
  }
}

using Change = std::function<void(Dice&, TrainingPlan&)>;

void never_less(std::uint64_t seed, const Change& change) {
  over_many(seed, 150, [&](Dice& dice, const Model& model, const TrainingPlan& plan) {
    const Architecture architecture = model.architecture();
    TrainingPlan more = plan;
    change(dice, more);
    expect_no_less(example::played(more, architecture), example::played(plan, architecture));
  });
}

TEST(EstimateLaws, MoreRowsNeverNeedLess) {
  never_less(4, [](Dice& dice, TrainingPlan& p) { p.batch.micro_batch_size.value += 1 + dice.below(4); });
}

TEST(EstimateLaws, LongerRowsNeverNeedLess) {
  never_less(5, [](Dice& dice, TrainingPlan& p) { p.batch.sequence_length.value += 1 + dice.below(64); });
}

TEST(EstimateLaws, MoreLayersNeverNeedLess) {
  over_many(6, 150, [](Dice& dice, const Model& model, const TrainingPlan& plan) {
    Model more = model;
    more.keys[model.layers_key] = std::to_string(model.layers() + 1 + dice.below(3));
    expect_no_less(example::played(plan, more.architecture()), example::played(plan, model.architecture()));
  });
}

TEST(EstimateLaws, AnAccumulationStepMoreNeverNeedsLess) {
  never_less(7, [](Dice&, TrainingPlan& p) { ++p.batch.gradient_accumulation_steps.value; });
}

TEST(EstimateLaws, AHigherRankNeverNeedsLess) {
  over_many(8, 150, [](Dice& dice, const Model& model, TrainingPlan plan) {
    // An 8-bit optimizer keeps the state of small tensors in fp32: there, growing past the limit saves memory.
    if (plan.optimizer.name.value == "adamw_8bit") plan.optimizer.name.value = "adamw_fused";
    TrainingPlan more = plan;
    more.adapter.rank.value += 1 + dice.below(32);
    expect_no_less(example::played(more, model.architecture()), example::played(plan, model.architecture()));
  });
}

TEST(EstimateLaws, KeepingOutputsOrGradientsNeverNeedsLess) {
  never_less(9, [](Dice&, TrainingPlan& p) { p.recipe.outputs_kept.value = true; });
  never_less(10, [](Dice&, TrainingPlan& p) { p.optimizer.set_grads_to_none.value = false; });
}

TEST(EstimateLaws, ClippingNeverNeedsLess) {
  never_less(11, [](Dice&, TrainingPlan& p) { p.optimizer.clip_gradients.value = true; });
}

TEST(EstimateLaws, TheSecondStepNeverNeedsLessThanTheFirstUntilItsEnd) {
  over_many(12, 150, [](Dice&, const Model& model, const TrainingPlan& plan) {
    const Footprint f = example::played(plan, model.architecture());
    for (const Phase phase : {Phase::forward, Phase::loss, Phase::backward}) {
      EXPECT_GE(example::peak_of(f, phase, 2).total, example::peak_of(f, phase, 1).total) << name_of(phase);
    }
  });
}

TEST(EstimateLaws, CheckpointingChangesNeitherWeightsNorStateNorInputs) {
  over_many(13, 100, [](Dice&, const Model& model, const TrainingPlan& plan) {
    const Architecture architecture = model.architecture();
    TrainingPlan other = plan;
    other.checkpointing.on.value = !plan.checkpointing.on.value;
    const Footprint a = example::played(plan, architecture);
    const Footprint b = example::played(other, architecture);
    EXPECT_EQ(a.parameters, b.parameters);
    EXPECT_EQ(a.trainable_parameters, b.trainable_parameters);
    EXPECT_EQ(a.peaks.front().by_bucket, b.peaks.front().by_bucket);
    for (std::size_t i = 0; i < a.peaks.size(); ++i) {
      EXPECT_EQ(at(a.peaks[i].by_bucket, Bucket::weights), at(b.peaks[i].by_bucket, Bucket::weights));
    }
    for (const Bucket bucket : {Bucket::weights, Bucket::optimizer, Bucket::inputs}) {
      const auto i = static_cast<std::size_t>(bucket);
      EXPECT_EQ(a.bucket_peaks[i].by_bucket[i], b.bucket_peaks[i].by_bucket[i]) << name_of(bucket);
    }
  });
}

TEST(EstimateLaws, EveryWeightIsHeldFromLoadToEnd) {
  over_many(14, 100, [](Dice&, const Model& model, TrainingPlan plan) {
    plan.precision.fp32_while_loading.value = false;
    const Footprint f = example::played(plan, model.architecture());
    const Bytes weights = at(f.peaks.back().by_bucket, Bucket::weights);
    for (const PhasePeak& p : f.peaks) {
      if (p.phase == Phase::load) continue;
      EXPECT_EQ(at(p.by_bucket, Bucket::weights), weights) << name_of(p.phase);
    }
    EXPECT_GE(f.peaks.front().total, weights);                                   // Loading may hold copies too.
    EXPECT_GE(at(f.peak.by_bucket, Bucket::weights).count(), f.parameters / 2);  // Four bits are the fewest.
  });
}

/// The same run with each of its optimizer's pages on the card.
TrainingPlan unpaged(TrainingPlan plan) {
  plan.optimizer.name.value = "adamw_8bit";
  return plan;
}

TEST(EstimateLaws, PagingMovesTheStateOutOfEveryTotalAndNothingElse) {
  over_many(16, 100, [](Dice&, const Model& model, TrainingPlan plan) {
    plan.optimizer.name.value = "paged_adamw_8bit";
    const Footprint paged = example::played(plan, model.architecture());
    const Footprint held = example::played(unpaged(plan), model.architecture());
    ASSERT_EQ(paged.peaks.size(), held.peaks.size());
    for (std::size_t i = 0; i < held.peaks.size(); ++i) {
      const ByBucket& a = paged.peaks[i].by_bucket;
      const ByBucket& b = held.peaks[i].by_bucket;
      EXPECT_EQ(at(b, Bucket::paged), Bytes(0));
      EXPECT_LE(paged.peaks[i].total, held.peaks[i].total);
      // Where the state comes in midway, the highest moment may be another.
      if (held.peaks[i].phase == Phase::optimizer_step || held.peaks[i].phase == Phase::between) continue;
      EXPECT_EQ(paged.peaks[i].total + at(a, Bucket::paged), held.peaks[i].total);
      EXPECT_EQ(at(a, Bucket::paged) + at(a, Bucket::optimizer), at(b, Bucket::optimizer));
    }
    std::int64_t managed = 0;  // Of the events none is managed memory.
    for (const LiveGroup& g : paged.at_peak) managed += g.bucket == Bucket::paged ? 1 : 0;
    EXPECT_EQ(managed, 0);
  });
}

TEST(EstimateLaws, SizesThatNoMachineHasAreRefusedOrNeverFit) {
  constexpr std::int64_t end = std::numeric_limits<std::int64_t>::max();
  const std::vector<Gpu> gpus = known_gpus();
  int refused = 0;
  over_many(15, 200, [&](Dice& dice, const Model& model, TrainingPlan plan) {
    const auto huge = [&] {
      return dice.pick({std::int64_t{1} << 31, std::int64_t{1} << 45, std::int64_t{1} << 60, end - 1, end});
    };
    const std::int64_t what = dice.below(4);
    if (what != 1) plan.batch.micro_batch_size.value = huge();
    if (what != 0) plan.batch.sequence_length.value = huge();
    if (what == 3) plan.adapter.rank.value = plan.batch.gradient_accumulation_steps.value = huge();
    const auto footprint = estimate(plan, model.architecture(), Detail::events);
    if (!footprint) {
      EXPECT_TRUE(footprint.errors().front().code.starts_with("estimate/too-")) << footprint.errors().front().message;
      ++refused;
      return;
    }
    for (const PhasePeak& p : footprint->peaks) {
      EXPECT_GE(p.total, Bytes(0));
      for (const Bytes b : p.by_bucket) EXPECT_GE(b, Bytes(0));
    }
    const Reservation reservation(footprint->events, {});
    for (const Gpu& gpu : gpus) EXPECT_EQ(fit(reservation, gpu).verdict, FitVerdict::does_not_fit) << gpu.name;
  });
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace oomplan
