// The model on the host: while it is loaded, offloaded, saved.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host_plans.hpp"

namespace oomplan {
namespace {

using namespace host_plans;
using testing::IsEmpty;
using testing::SizeIs;

/// Two blocks of a matrix of 1,000 by 1,000 and a norm of 1,000, beside an embedding of 10,000 by 1,000.
HostModel model(DType held = DType::bf16, DType loaded = DType::bf16, bool trained = true) {
  const auto parameter = [&](std::int64_t elements, std::int64_t rows, int layer, bool decayed) {
    HeldParameter out;
    out.elements = elements;
    out.rows = rows;
    out.layers = layer < 0 ? 1 : 2;
    out.layer = layer;
    out.dtype = held;
    out.trained = trained;
    out.decayed = decayed;
    return out;
  };
  return {{parameter(10'000'000, 10'000, -1, true), parameter(1'000'000, 1'000, 0, true),
           parameter(1'000, 1'000, 0, false)},
          loaded,
          DType::bf16,
          12'002'000,
          false,
          2};
}

/// Each holds its weights until the trainer moves them.
TrainingPlan of_ranks(std::int64_t ranks, Sharding sharding) {
  TrainingPlan out = plan();
  out.loader.ranks.value = out.mesh.world_size.value = ranks;
  out.loader.ranks.origin.kind = Origin::Kind::config;
  out.mesh.sharding.value = sharding;
  out.mesh.fsdp_replicas.value = out.mesh.tensor_parallel.value = out.mesh.pipeline_parallel.value = 1;
  out.loader.weights_on.value = WeightsOn::host;
  return out;
}

Bytes saving(const TrainingPlan& plan, const HostModel& model) {
  return at(footprint(plan, model), "checkpoint being saved", HostMoment::saving);
}

TEST(HostModel, JoinsExpertsInMemoryOfItsOwn) {
  TrainingPlan of = of_ranks(1, Sharding::none);
  HostModel mixture = model();
  mixture.parameters[1].expert = true;
  EXPECT_THAT(footprint(of, mixture).missing, SizeIs(1));
  of.loader.weights_on.value = WeightsOn::device;
  EXPECT_THAT(footprint(of, mixture).missing, IsEmpty());
}

TEST(HostModel, HowManyRanksAMachineHasIsSaid) {
  TrainingPlan of = of_ranks(1, Sharding::ddp);
  of.mesh.world_size.value = 16;
  of.loader.ranks.origin.kind = Origin::Kind::assumed;
  EXPECT_THAT(footprint(of, model()).missing, SizeIs(1));
  of.loader.ranks.origin.kind = Origin::Kind::config;
  EXPECT_THAT(footprint(of, model()).missing, IsEmpty());
}

Bytes loading(const TrainingPlan& plan, DType loaded) {
  return at(footprint(plan, model(loaded, loaded)), "weights being loaded", HostMoment::loading);
}

TEST(HostModel, LoadsInAnotherDTypeIntoEachRank) {
  TrainingPlan of = of_ranks(4, Sharding::ddp);
  EXPECT_EQ(loading(of, DType::fp32), Bytes(4LL * 4 * 12'002'000));
  EXPECT_EQ(loading(of, DType::bf16), Bytes(-1)) << "pages of the checkpoint's files, as they are";
  const HostFootprint out = footprint(of, model());
  EXPECT_EQ(at(out, "checkpoint's files", HostMoment::loading, HostPlace::page_cache), Bytes(2 * 12'002'000));
  EXPECT_EQ(at(out, "checkpoint's files", HostMoment::running, HostPlace::page_cache), Bytes(0));
}

TEST(HostModel, LoadsAReferenceOnceThePolicyIsGone) {
  TrainingPlan of = of_ranks(1, Sharding::none);
  of.saving.saves.value = true;
  HostModel two = model(DType::fp32, DType::fp32);
  const std::vector<HeldParameter> policy = two.parameters;
  for (HeldParameter p : policy) {
    p.of_policy = p.trained = false;
    two.parameters.push_back(p);
  }
  const auto weights = [&] { return at(footprint(of, two), "weights being loaded", HostMoment::loading); };
  EXPECT_EQ(weights(), Bytes(4 * 12'002'000));
  of.framework = "trl 0.21.0 on transformers 4.55.4";
  EXPECT_EQ(weights(), Bytes(2 * 4 * 12'002'000));
  EXPECT_EQ(saving(of, two), Bytes(4 * 12'002'000)) << "the policy alone is saved";
}

TEST(HostModel, LoadsToAGpuWhereTheLoaderDoes) {
  TrainingPlan of = of_ranks(4, Sharding::ddp);
  of.loader.weights_on.value = WeightsOn::device;
  EXPECT_EQ(loading(of, DType::fp32), Bytes(-1));
  of.loader.weights_on.value = WeightsOn::host_of_several;
  EXPECT_EQ(loading(of, DType::fp32), Bytes(4LL * 4 * 12'002'000));
  of.mesh.world_size.value = of.loader.ranks.value = 1;
  EXPECT_EQ(loading(of, DType::fp32), Bytes(-1));
}

TEST(HostModel, LoadsByTheFirstRankAloneUnderFsdp) {
  TrainingPlan of = of_ranks(4, Sharding::fsdp2);
  EXPECT_EQ(loading(of, DType::fp32), Bytes(4LL * 4 * 12'002'000));
  of.mesh.fsdp_first_loads.value = true;
  EXPECT_EQ(loading(of, DType::fp32), Bytes(4 * 12'002'000));
  of.mesh.fsdp_fp32_trained.value = true;
  EXPECT_EQ(loading(of, DType::bf16), Bytes(4 * 12'002'000)) << "raised before it is sharded";
}

TEST(HostModel, LoadsNothingIntoRanksOfZero3AndOfQuantizedModels) {
  TrainingPlan of = of_ranks(4, Sharding::zero3);
  EXPECT_EQ(loading(of, DType::fp32), Bytes(-1));
  of.mesh.sharding.value = Sharding::zero2;
  EXPECT_EQ(loading(of, DType::fp32), Bytes(4LL * 4 * 12'002'000));
  of.quantization.kind.value = Quantization::nf4;
  EXPECT_EQ(loading(of, DType::fp32), Bytes(-1));
}

TEST(HostModel, HasTheModelWhileRowsArePreparedWhereItIsLoadedFirst) {
  TrainingPlan of = of_ranks(1, Sharding::none);
  const auto preparing = [&] {
    return at(footprint(of, model(DType::fp32, DType::fp32)), "weights being loaded", HostMoment::preparing);
  };
  EXPECT_EQ(preparing(), Bytes(0));
  of.loader.weights_before_rows.value = true;
  EXPECT_EQ(preparing(), Bytes(4 * 12'002'000));
}

TEST(HostModel, OfAnUnknownModelOrLoaderIsNotKnown) {
  TrainingPlan of = of_ranks(1, Sharding::none);
  EXPECT_THAT(footprint(of, model()).missing, IsEmpty());
  const LoaderProfile given = profile();
  EXPECT_THAT(host_footprint(of, nullptr, &given, torch, costs()).missing, SizeIs(1));
  of.loader.weights_on.value = WeightsOn::unknown;
  EXPECT_THAT(footprint(of, model()).missing, SizeIs(1));
  of.saving.saves.value = true;
  EXPECT_THAT(footprint(of, model()).missing, SizeIs(2));
  of.loader.weights_on.value = WeightsOn::host;
  of.mesh.tensor_parallel.value = 2;
  EXPECT_THAT(footprint(of, model()).missing, SizeIs(2));
}

TEST(HostModel, OffloadsFsdp2sShardsEachPageLocked) {
  TrainingPlan of = of_ranks(4, Sharding::fsdp2);
  of.mesh.fsdp_offload.value = true;
  HostFootprint out = footprint(of, model());
  const Bytes shard(2 * (2'500'000 + 2 * 250'000 + 2 * 250));
  EXPECT_EQ(running(out, "weights on the host"), 4 * shard);
  EXPECT_EQ(running(out, "gradients on the host"), 4 * shard);
  EXPECT_EQ(running(out, "optimizer's state on the host"), 4 * 2 * shard);
  EXPECT_EQ(at(out, "weights on the host", HostMoment::preparing), Bytes(0));
  of.mesh.fsdp_pin.value = true;
  out = footprint(of, model());
  const Bytes rounded((8 << 20) + 2 * (512 << 10) + 2 * 512);
  EXPECT_EQ(at(out, "weights on the host", HostMoment::running, HostPlace::pinned), 4 * rounded);
  EXPECT_EQ(at(out, "gradients on the host", HostMoment::running, HostPlace::pinned), 4 * rounded);
  EXPECT_EQ(running(out, "optimizer's state on the host"), 4 * 2 * shard) << "which torch does not lock";
}

TEST(HostModel, OffloadsFsdp1sFlatParametersAndAGradientOfAll) {
  TrainingPlan of = of_ranks(4, Sharding::fsdp1);
  of.mesh.fsdp_offload.value = true;
  const HostFootprint out = footprint(of, model(DType::bf16, DType::bf16, false));
  const Bytes rounded((8 << 20) + 2 * (512 << 10));
  EXPECT_EQ(at(out, "weights on the host", HostMoment::running, HostPlace::pinned), 4 * rounded);
  EXPECT_EQ(at(out, "gradients on the host", HostMoment::running, HostPlace::pinned), 4 * rounded);
  EXPECT_EQ(running(out, "optimizer's state on the host"), Bytes(-1)) << "nothing is trained";
}

TEST(HostModel, OffloadsZero2sPartition) {
  TrainingPlan of = of_ranks(4, Sharding::zero2);
  of.mesh.zero_offload_optimizer.value = true;
  HostFootprint out = footprint(of, model());
  constexpr std::int64_t partition = 12'002'000 / 4;
  EXPECT_EQ(running(out, "weights on the host"), Bytes(4 * 6 * partition)) << "fp32, and as the model is";
  EXPECT_EQ(running(out, "gradients on the host"), Bytes(4 * (4 * partition + 2 * 10'000'000)));
  EXPECT_EQ(running(out, "optimizer's state on the host"), Bytes(4 * 8 * partition));
  // The embedding is in all four partitions, the matrices and norms behind it in the last.
  of.batch.gradient_accumulation_steps.value = 2;
  const std::int64_t accumulated = 2 * (4 * 10'000'000 + 2 * 1'000'000 + 2 * 1'000);
  EXPECT_EQ(running(footprint(of, model()), "gradients on the host"),
            running(out, "gradients on the host") + Bytes(accumulated));
  of.batch.gradient_accumulation_steps.value = 1;
  of.mesh.zero_pin_optimizer.value = true;
  out = footprint(of, model());
  EXPECT_EQ(at(out, "weights on the host", HostMoment::running, HostPlace::pinned), Bytes(4LL * (24 << 20)));
}

TEST(HostModel, OffloadsZero3sShardsAndKeepsWhatWasLocked) {
  TrainingPlan of = of_ranks(4, Sharding::zero3);
  of.mesh.zero_offload_optimizer.value = true;
  HostFootprint out = footprint(of, model());
  constexpr std::int64_t partition = 12'002'000 / 4;
  EXPECT_EQ(running(out, "weights on the host"), Bytes(4 * 4 * partition));
  EXPECT_EQ(running(out, "gradients on the host"), Bytes(4 * 6 * partition));
  of.mesh.zero_offload_params.value = true;
  out = footprint(of, model());
  EXPECT_EQ(at(out, "weights on the host", HostMoment::running, HostPlace::pinned), Bytes(4LL * (8 << 20)));
  of.mesh.zero_pin_params.value = true;
  out = footprint(of, model());
  const Bytes before((8 << 20) + 2 * (512 << 10) + 2 * 512);
  EXPECT_EQ(at(out, "weights on the host", HostMoment::running, HostPlace::pinned), 4 * (Bytes(8 << 20) + before));
  of.mesh.zero_sub_group.value = 1'000'000;
  EXPECT_EQ(running(footprint(of, model()), "gradients on the host"), Bytes(4 * 6 * partition)) << "not locked";
}

TEST(HostModel, OfAnOptimizerWithOtherStateIsNotKnown) {
  TrainingPlan of = of_ranks(4, Sharding::fsdp2);
  of.mesh.fsdp_offload.value = true;
  HostModel held = model();
  held.state_tensors = -1;
  EXPECT_THAT(footprint(of, held).missing, SizeIs(1));
  of.mesh.fsdp_offload.value = false;
  EXPECT_THAT(footprint(of, held).missing, IsEmpty());
  of.checkpointing.offload.value = Offload::streamed;
  EXPECT_THAT(footprint(of, held).missing, SizeIs(1));
}

TEST(HostModel, SavesByTheFirstRankOrByEach) {
  TrainingPlan of = of_ranks(4, Sharding::ddp);
  EXPECT_EQ(saving(of, model()), Bytes(-1)) << "nothing is saved";
  of.saving.saves.value = true;
  EXPECT_EQ(saving(of, model()), Bytes(2 * 12'002'000));
  of.mesh.sharding.value = Sharding::zero2;
  EXPECT_EQ(saving(of, model()), Bytes(4 * 2 * 12'002'000)) << "DeepSpeed clones it in every rank";
  HostModel tied = model();
  tied.tied = true;
  EXPECT_EQ(saving(of, tied), Bytes(4 * 2 * 22'002'000)) << "by both of its names";
  of.mesh.sharding.value = Sharding::zero3;
  EXPECT_EQ(saving(of, model()), Bytes(-1));
  of.mesh.zero_gathers_to_save.value = true;
  EXPECT_EQ(saving(of, model()), Bytes(2 * 12'002'000));
  of.mesh.sharding.value = Sharding::fsdp2;
  EXPECT_EQ(saving(of, model()), Bytes(-1));
  of.mesh.fsdp_full_state.value = true;
  EXPECT_EQ(saving(of, model()), Bytes(2 * 2 * 12'002'000)) << "the optimizer's state";
  EXPECT_EQ(saving(of, model(DType::bf16, DType::bf16, false)), Bytes(2 * 12'002'000));
  of.mesh.sharding.value = Sharding::ddp;
  of.adapter.kind.value = Adapter::lora;
  EXPECT_EQ(saving(of, model(DType::bf16, DType::bf16, false)), Bytes(-1)) << "what is trained alone";
}

TEST(HostModel, SavesAFileAtATime) {
  TrainingPlan of = of_ranks(1, Sharding::none);
  of.saving.saves.value = true;
  HostModel large = model();
  large.parameters.front().elements = 100'000'000'000;
  of.framework = "transformers 5.23.0";
  EXPECT_EQ(saving(of, large), Bytes(50'000'000'000));
  of.framework = "trl 0.21.0 on transformers 4.55.4";
  EXPECT_EQ(saving(of, large), Bytes(5'000'000'000));
}

}  // namespace
}  // namespace oomplan
