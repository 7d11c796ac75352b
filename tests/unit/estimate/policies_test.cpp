// What ranks of a world hold, against the same run on one GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oomplan/estimate/ranks.hpp"
#include "plans.hpp"

namespace oomplan {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

Architecture model() { return example::architecture(example::llama()); }

TrainingPlan plan(Sharding sharding, std::int64_t world) {
  TrainingPlan p = example::plan(2, 64);
  p.optimizer.name.value = "adamw_foreach";
  p.mesh = example::mesh(sharding, world);
  return p;
}

Bytes peak(const TrainingPlan& p, Phase phase, int step) {
  return example::peak_of(example::played(p, model()), phase, step).total;
}

Bytes held(const TrainingPlan& p, Bucket bucket, Phase phase = Phase::optimizer_step) {
  return at(example::peak_of(example::played(p, model()), phase, 2).by_bucket, bucket);
}

TEST(Ddp, AddsABucketOfEveryGradientToEveryPhase) {
  const TrainingPlan one = plan(Sharding::none, 1);
  const TrainingPlan many = plan(Sharding::ddp, 8);
  const Bytes gradients = Bytes(example::played(one, model()).trainable_parameters * 2);
  for (const Phase phase : {Phase::forward, Phase::loss, Phase::backward, Phase::optimizer_step}) {
    for (const int step : {1, 2}) {
      const Bytes more = peak(many, phase, step) - peak(one, phase, step);
      EXPECT_GE(more, gradients) << name_of(phase);
      EXPECT_LE(more, gradients + Bytes(512)) << name_of(phase);
    }
  }
}

TEST(Ddp, WithViewsGradientsLieInTheBuckets) {
  TrainingPlan many = plan(Sharding::ddp, 8);
  many.mesh.ddp_bucket_views.value = true;
  EXPECT_EQ(held(many, Bucket::gradients), Bytes());
  EXPECT_LE(peak(many, Phase::optimizer_step, 2) - peak(plan(Sharding::none, 1), Phase::optimizer_step, 2), Bytes(512));
}

TEST(Ddp, GradientsThatStayMoveToTheNewBuckets) {
  TrainingPlan many = plan(Sharding::ddp, 8);
  many.mesh.ddp_bucket_views.value = true;
  many.optimizer.set_grads_to_none.value = false;
  EXPECT_EQ(held(many, Bucket::communication), held(plan(Sharding::ddp, 8), Bucket::communication));
}

TEST(Ddp, HoldsNoBucketForWhatIsFrozen) {
  TrainingPlan many = plan(Sharding::ddp, 2);
  many.adapter.kind.value = Adapter::lora;
  const Footprint f = example::played(many, model());
  EXPECT_EQ(at(f.peak.by_bucket, Bucket::communication), Bytes(f.trainable_parameters * 4).rounded_up(512));
}

TEST(Fsdp2, HoldsAPartOfWeightsGradientsAndState) {
  const TrainingPlan one = plan(Sharding::none, 1);
  for (const std::int64_t world : {2, 4, 8}) {  // Divisors of every first dimension.
    const TrainingPlan many = plan(Sharding::fsdp2, world);
    const Bytes rounding = Bytes(512) * world * 2 * 21;  // Of two states of each of its parameters.
    for (const Bucket bucket : {Bucket::weights, Bucket::gradients, Bucket::optimizer}) {
      EXPECT_GE(held(many, bucket) * world, held(one, bucket)) << name_of(bucket) << ' ' << world;
      EXPECT_LE(held(many, bucket) * world, held(one, bucket) + rounding) << name_of(bucket) << ' ' << world;
    }
  }
}

TEST(Fsdp2, PadsWhatDoesNotDivide) {
  const TrainingPlan one = plan(Sharding::none, 1);
  EXPECT_GT(held(plan(Sharding::fsdp2, 3), Bucket::weights) * 3, held(one, Bucket::weights));
}

std::vector<RankKind> kinds(const TrainingPlan& p) { return *rank_kinds(p, model()); }

// 1000 words, 512, 256 and 128 rows.
TEST(Fsdp2, RanksAreOfKindsWhereTheyDoNotDivideEveryDimension) {
  EXPECT_EQ(kinds(plan(Sharding::none, 1)), (std::vector<RankKind>{{"all", 0, 1}}));
  EXPECT_EQ(kinds(plan(Sharding::ddp, 3)), (std::vector<RankKind>{{"all", 0, 3}}));
  EXPECT_EQ(kinds(plan(Sharding::fsdp2, 8)), (std::vector<RankKind>{{"all", 0, 8}}));
  EXPECT_EQ(kinds(plan(Sharding::fsdp2, 3)), (std::vector<RankKind>{{"shards 0 to 1", 0, 2}, {"shard 2", 2, 1}}));
  TrainingPlan replicas = plan(Sharding::fsdp2, 6);
  replicas.mesh.fsdp_replicas.value = 2;
  EXPECT_EQ(kinds(replicas), (std::vector<RankKind>{{"shards 0 to 1", 0, 4}, {"shard 2", 2, 2}}));
}

TEST(Fsdp2, WithMoreRanksThanRowsTheLastOnesHoldNoStateOfThem) {
  const TrainingPlan p = plan(Sharding::fsdp2, 2000);
  const std::vector<RankKind> all = kinds(p);
  std::int64_t ranks = 0;
  for (const RankKind& kind : all) ranks += kind.count;
  EXPECT_EQ(ranks, 2000);
  EXPECT_EQ(all.back().shard, 1000);
  const auto last = estimate_shard(p, model(), 1999);
  ASSERT_TRUE(last.ok());
  const PhasePeak& step = example::peak_of(*last, Phase::optimizer_step, 2);
  EXPECT_LT(at(step.by_bucket, Bucket::optimizer), held(p, Bucket::optimizer));
  EXPECT_EQ(at(step.by_bucket, Bucket::weights), held(p, Bucket::weights));
}

// A rank's state is of its rows, and every rank's memory for shards and for what is gathered is that of a whole chunk.
TEST(Fsdp2, StateOfAllRanksIsThatOfTheWholeModel) {
  const TrainingPlan p = plan(Sharding::fsdp2, 3);
  const auto of_shard = [&](std::int64_t shard, Bucket bucket) {
    return at(example::peak_of(*estimate_shard(p, model(), shard), Phase::optimizer_step, 2).by_bucket, bucket);
  };
  EXPECT_EQ(of_shard(0, Bucket::optimizer), held(p, Bucket::optimizer));
  EXPECT_EQ(of_shard(1, Bucket::optimizer), held(p, Bucket::optimizer));
  EXPECT_LT(of_shard(2, Bucket::optimizer), held(p, Bucket::optimizer));
  const Bytes all = of_shard(0, Bucket::optimizer) * 2 + of_shard(2, Bucket::optimizer);
  const Bytes whole = held(plan(Sharding::none, 1), Bucket::optimizer);
  EXPECT_GE(all, whole);
  EXPECT_LE(all, whole + Bytes(512) * 3 * 2 * 21);
  for (const Bucket bucket : {Bucket::weights, Bucket::gradients, Bucket::gathered})
    EXPECT_EQ(of_shard(2, bucket), held(p, bucket)) << name_of(bucket);
}

TEST(Fsdp2, KeepsGatheredParametersThatItDoesNotReshard) {
  TrainingPlan p = plan(Sharding::fsdp2, 4);
  const Bytes resharded = held(p, Bucket::gathered, Phase::loss);
  p.mesh.fsdp_reshard.value = Reshard::never;
  EXPECT_GT(held(p, Bucket::gathered, Phase::loss), resharded);
  EXPECT_EQ(held(p, Bucket::gathered), Bytes());
}

TEST(Fsdp2, WithoutReductionKeepsWholeGradientsInTheirReducedType) {
  TrainingPlan p = plan(Sharding::fsdp2, 4);
  p.batch.gradient_accumulation_steps.value = 2;
  p.mesh.fsdp_reduce_dtype.value = MixedDType::fp32;
  const Bytes reduced = peak(p, Phase::backward, 2);
  p.mesh.sync_each.value = false;
  EXPECT_GT(peak(p, Phase::backward, 2), reduced);
}

TrainingPlan accelerated(Sharding sharding, std::int64_t world) {
  TrainingPlan p = plan(sharding, world);
  p.mesh.fsdp_units.value = ShardUnits::accelerate;
  p.mesh.fsdp_param_dtype.value = p.mesh.fsdp_reduce_dtype.value = MixedDType::bf16;
  p.mesh.fsdp_fp32_trained.value = true;
  return p;
}

TEST(Fsdp, WhatIsTrainedIsHeldInFp32) {
  for (const Sharding sharding : {Sharding::fsdp1, Sharding::fsdp2}) {
    TrainingPlan p = accelerated(sharding, 4);
    const Bytes raised = held(p, Bucket::optimizer);
    p.mesh.fsdp_fp32_trained.value = false;
    EXPECT_GT(raised, held(p, Bucket::optimizer)) << name_of(Bucket::optimizer);
    EXPECT_LE(raised, held(p, Bucket::optimizer) * 2);
  }
}

TEST(Fsdp, OffloadLeavesNoShardGradientOrStateOnTheGpu) {
  for (const Sharding sharding : {Sharding::fsdp1, Sharding::fsdp2}) {
    TrainingPlan p = accelerated(sharding, 4);
    p.mesh.fsdp_offload.value = true;
    for (const Bucket bucket : {Bucket::weights, Bucket::gradients, Bucket::optimizer}) {
      EXPECT_EQ(held(p, bucket), Bytes()) << name_of(bucket);
    }
    EXPECT_GT(held(p, Bucket::gathered, Phase::backward), Bytes());
  }
}

TEST(Fsdp2, AcceleratesEmbeddingIsNotKeptAsTheRootIs) {
  TrainingPlan p = accelerated(Sharding::fsdp2, 4);
  const Bytes apart = held(p, Bucket::gathered, Phase::loss);
  p.mesh.fsdp_units.value = ShardUnits::blocks;
  EXPECT_LT(apart, held(p, Bucket::gathered, Phase::loss));
}

TEST(Fsdp1, PrefetchHoldsTwoUnitsInBackward) {
  TrainingPlan p = accelerated(Sharding::fsdp1, 4);
  const Bytes one = held(p, Bucket::gathered, Phase::backward);
  p.mesh.fsdp_prefetch.value = BackwardPrefetch::pre;
  EXPECT_GE(peak(p, Phase::backward, 2), peak(accelerated(Sharding::fsdp1, 4), Phase::backward, 2));
  EXPECT_GE(held(p, Bucket::gathered, Phase::backward), one);
}

std::vector<std::string> errors(const TrainingPlan& p) {
  std::vector<std::string> out;
  const auto footprint = estimate(p, model());
  if (!footprint) {
    for (const Diagnostic& d : footprint.errors()) out.push_back(d.code + ": " + d.message);
  }
  return out;
}

TEST(Mesh, WhatWasHeldAgainstNoTruthIsUndecided) {
  TrainingPlan p = plan(Sharding::fsdp2, 4);
  EXPECT_TRUE(errors(p).empty());
  p.optimizer.name.value = "adamw_8bit";
  for (const char* name : {"adamw_8bit", "lion_32bit", "paged_ademamix_32bit"}) {
    p.optimizer.name.value = name;
    EXPECT_THAT(errors(p), Contains(HasSubstr("estimate/bad-mesh: bitsandbytes has no sharding strategy"))) << name;
  }
  p.optimizer.name.value = "adafactor";
  EXPECT_THAT(errors(p), Contains(HasSubstr("estimate/bad-mesh: transformers' Adafactor mixes plain tensors")));
  p.precision.autocast.value = Autocast::bf16;
  EXPECT_THAT(errors(p), Contains(HasSubstr("autocast under FSDP2")));
  p.mesh.sharding.value = Sharding::ddp;
  EXPECT_TRUE(errors(p).empty());
}

TEST(Mesh, AFlatTensorIsOfOneType) {
  TrainingPlan p = plan(Sharding::fsdp1, 4);
  p.adapter.kind.value = Adapter::lora;
  p.quantization.kind.value = Quantization::nf4;
  p.quantization.linear.value = QuantizedLinear::bitsandbytes;
  p.mesh.fsdp_orig_params.value = true;
  p.mesh.fsdp_units.value = ShardUnits::accelerate;
  p.optimizer.name.value = "adamw_fused";
  p.quantization.storage.value = QuantStorage::bf16;
  EXPECT_TRUE(errors(p).empty());
  p.quantization.storage.value = QuantStorage::fp32;
  EXPECT_THAT(errors(p),
              ElementsAre(HasSubstr("FSDP1 cannot flatten 4-bit weights that are stored as fp32 with norms in bf16")));
  p.precision.weights_dtype.value = WeightsDType::fp32;
  EXPECT_TRUE(errors(p).empty());
}

/// Lightning's policy of blocks: the gradient of a flat parameter is as large as what is frozen in it.
TEST(Mesh, AdaptersMayBePartOfABlocksFlatParameter) {
  TrainingPlan p = plan(Sharding::fsdp1, 4);
  p.optimizer.name.value = "adamw_fused";
  p.mesh.fsdp_orig_params.value = true;
  p.adapter.kind.value = Adapter::lora;
  p.adapter.dtype.value = AdapterDType::as_base;
  EXPECT_TRUE(errors(p).empty());
  const Bytes flat = peak(p, Phase::backward, 2);
  p.mesh.fsdp_units.value = ShardUnits::accelerate;
  EXPECT_GT(flat, peak(p, Phase::backward, 2));
  p.mesh.fsdp_units.value = ShardUnits::blocks;
  p.adapter.dtype.value = AdapterDType::fp32;
  p.precision.weights_dtype.value = WeightsDType::bf16;
  EXPECT_THAT(errors(p), ElementsAre(HasSubstr("adapters of another type than the weights that they are flattened")));
}

TEST(Mesh, ZerosPartitionsTakeOptimizersThatAskForNoPartOfAModel) {
  TrainingPlan p = plan(Sharding::zero2, 4);
  p.mesh.zero_dtype.value = MixedDType::bf16;
  p.mesh.zero_reduce_bucket.value = 1'000'000;
  const auto taken = [&](const char* name) {
    p.optimizer.name.value = name;
    return errors(p).empty();
  };
  for (const char* name : {"adamw_8bit", "paged_adamw_32bit", "lion_8bit", "rmsprop", "adafactor", "sgd"}) {
    EXPECT_TRUE(taken(name)) << name;
  }
  for (const char* name : {"muon", "adam_mini", "adagrad", "torchao_adamw_8bit"}) EXPECT_FALSE(taken(name)) << name;
}

TEST(Mesh, AnOffloadedOptimizerIsDeepSpeedsOwn) {
  TrainingPlan p = plan(Sharding::zero2, 4);
  p.mesh.zero_dtype.value = MixedDType::bf16;
  p.mesh.zero_reduce_bucket.value = 1'000'000;
  p.mesh.zero_offload_optimizer.value = p.mesh.zero_replaces_optimizer.value = true;
  const auto said = [&](const char* name) {
    p.optimizer.name.value = name;
    const auto all = errors(p);
    return all.empty() ? std::string() : all.front();
  };
  const std::vector<const char*> taken{"adamw_fused", "sgd",        "rmsprop",         "adamw_8bit",
                                       "lion_8bit",   "lion_32bit", "paged_lion_8bit", "paged_adamw_32bit"};
  for (const char* name : taken) EXPECT_EQ(said(name), "") << name;
  EXPECT_THAT(said("adafactor"), HasSubstr("estimate/bad-mesh: DeepSpeed's CPUAdam stops at the two eps"));
  EXPECT_THAT(said("paged_ademamix_8bit"),
              HasSubstr("estimate/bad-mesh: DeepSpeed's CPUAdam stops at the three betas"));
  EXPECT_THAT(said("adagrad"), HasSubstr("estimate/bad-mesh: DeepSpeed refuses CPUAdagrad"));
  EXPECT_THAT(said("muon"), HasSubstr("estimate/unmodelled")) << "its matrices are no part of a flat tensor";
  p.mesh.zero_replaces_optimizer.value = false;
  EXPECT_EQ(said("adafactor"), "");
  EXPECT_EQ(said("rmsprop"), "");
  EXPECT_THAT(said("adamw_8bit"), HasSubstr("estimate/unmodelled")) << "of kernels that were measured on a GPU";
  p.mesh.zero_offload_optimizer.value = false;
  p.mesh.zero_replaces_optimizer.value = true;
  EXPECT_EQ(said("adafactor"), "") << "on the GPU it is the one that is named";
}

TEST(Mesh, DdpLooksForUnusedParametersPastReentrantCheckpoints) {
  TrainingPlan p = plan(Sharding::ddp, 4);
  p.checkpointing.on.value = p.checkpointing.reentrant.value = true;
  EXPECT_TRUE(errors(p).empty());
  p.mesh.ddp_find_unused.value = true;
  EXPECT_THAT(errors(p), Contains(HasSubstr("estimate/bad-mesh: DDP with find_unused_parameters stops")));
  p.checkpointing.reentrant.value = false;
  EXPECT_TRUE(errors(p).empty());
}

TEST(Mesh, ALossThatIsMadeOnTheHostIsUndecided) {
  TrainingPlan p = accelerated(Sharding::fsdp2, 4);
  p.adapter.kind.value = Adapter::lora;
  p.recipe.loss.value = Loss::chunked_logprob;
  p.mesh.fsdp_offload.value = true;
  EXPECT_THAT(errors(p), Contains(HasSubstr("a loss that is made on the host")));
  p.mesh.fsdp_offload.value = false;
  EXPECT_TRUE(errors(p).empty());
}

TEST(Mesh, NumbersOfRanksGoTogether) {
  TrainingPlan p = plan(Sharding::fsdp2, 8);
  p.mesh.fsdp_replicas.value = 3;
  EXPECT_THAT(errors(p), Contains(HasSubstr("estimate/bad-mesh: fsdp_replicas: 8 ranks do not make 3 equal groups")));
  p.mesh.fsdp_replicas.value = 2;
  p.mesh.fsdp_reshard.value = Reshard::smaller;
  p.mesh.fsdp_reshard_ranks.value = 3;
  EXPECT_THAT(errors(p), Contains(HasSubstr("fsdp_reshard_ranks: 3 is no part of 4 ranks")));
  p.mesh.fsdp_reshard_ranks.value = 2;
  EXPECT_TRUE(errors(p).empty());
}

TEST(Mesh, ManyRanksHaveNcclsBuffersBesideTheTensors) {
  const auto gpu = find_gpu("h100-80gb");
  ASSERT_TRUE(gpu.ok());
  EXPECT_EQ(runtime_terms(*gpu).size(), 2U);
  TrainingPlan plan;
  for (const MeshFacts& mesh : {example::mesh(Sharding::ddp, 2), example::mesh(Sharding::fsdp2, 8)}) {
    plan.mesh = mesh;
    EXPECT_EQ(runtime_terms(*gpu, plan).back().bytes, Bytes::mib(1526));
  }
}

}  // namespace
}  // namespace oomplan
