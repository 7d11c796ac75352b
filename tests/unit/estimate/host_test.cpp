#include "oomplan/estimate/host.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace oomplan {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

/// Figures that are easy to add by hand.
PythonCosts costs() {
  PythonCosts out;
  out.forked_worker.bytes = Bytes(1'000);
  out.forked_object_worker.bytes = Bytes(2'000);
  out.helper.bytes = Bytes(500);
  out.integer.bytes = Bytes(32);
  out.slot.bytes = Bytes(8);
  out.list.bytes = Bytes(88);
  out.text.bytes = Bytes(49);
  out.pickled_integer.bytes = Bytes(5);
  out.page.bytes = Bytes(4096);
  return out;
}

const std::vector<Library> torch{{"torch", "PyTorch", Bytes(100'000), Bytes(70'000), "measured"}};

/// 1,000 rows of 512 int64.
LoaderProfile profile() { return {"profile.json", 1000, Bytes(1'000'000), Bytes(4'096'000), 4096, Bytes(4096), 2000}; }

TrainingPlan plan() {
  TrainingPlan out;
  out.batch.micro_batch_size.value = 16;
  out.batch.gradient_accumulation_steps.value = 1;
  out.batch.sequence_length.value = 1024;
  LoaderPlan& loader = out.loader;
  for (auto one : {&LoaderPlan::ranks, &LoaderPlan::epochs, &LoaderPlan::columns}) (loader.*one).value = 1;
  loader.prefetch.value = 2;
  loader.shuffle.value = true;
  loader.rows_as.value = RowsAs::numpy;
  return out;
}

TrainingPlan with_workers(std::int64_t workers, RowsAs rows_as = RowsAs::numpy, WorkerStart start = WorkerStart::fork) {
  TrainingPlan out = plan();
  out.loader.workers.value = workers;
  out.loader.rows_as.value = rows_as;
  out.loader.start.value = start;
  return out;
}

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

HostFootprint footprint(const TrainingPlan& plan, const HostModel& model) {
  const LoaderProfile given = profile();
  return host_footprint(plan, &model, &given, torch, costs());
}

const HostModel none;

HostFootprint footprint(const TrainingPlan& plan) { return footprint(plan, none); }

Bytes at(const HostFootprint& footprint, std::string_view name, HostMoment moment,
         HostPlace place = HostPlace::process) {
  const auto found = std::ranges::find_if(
      footprint.terms, [&](const HostTerm& term) { return term.name == name && term.place == place; });
  return found == footprint.terms.end() ? Bytes(-1) : found->at[static_cast<std::size_t>(moment)];
}

Bytes running(const HostFootprint& footprint, std::string_view name) {
  const auto found = std::ranges::find(footprint.terms, name, &HostTerm::name);
  return found == footprint.terms.end() ? Bytes(-1) : at(footprint, name, HostMoment::running, found->place);
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

TEST(HostFootprint, JoinsExpertsInMemoryOfItsOwn) {
  TrainingPlan of = of_ranks(1, Sharding::none);
  HostModel mixture = model();
  mixture.parameters[1].expert = true;
  EXPECT_THAT(footprint(of, mixture).missing, SizeIs(1));
  of.loader.weights_on.value = WeightsOn::device;
  EXPECT_THAT(footprint(of, mixture).missing, IsEmpty());
}

TEST(HostFootprint, HowManyRanksAMachineHasIsSaid) {
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

TEST(HostFootprint, LoadsInAnotherDTypeIntoEachRank) {
  TrainingPlan of = of_ranks(4, Sharding::ddp);
  EXPECT_EQ(loading(of, DType::fp32), Bytes(4LL * 4 * 12'002'000));
  EXPECT_EQ(loading(of, DType::bf16), Bytes(-1)) << "pages of the checkpoint's files, as they are";
  const HostFootprint out = footprint(of, model());
  EXPECT_EQ(at(out, "checkpoint's files", HostMoment::loading, HostPlace::page_cache), Bytes(2 * 12'002'000));
  EXPECT_EQ(at(out, "checkpoint's files", HostMoment::running, HostPlace::page_cache), Bytes(0));
}

TEST(HostFootprint, LoadsAReferenceOnceThePolicyIsGone) {
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

TEST(HostFootprint, LoadsToAGpuWhereTheLoaderDoes) {
  TrainingPlan of = of_ranks(4, Sharding::ddp);
  of.loader.weights_on.value = WeightsOn::device;
  EXPECT_EQ(loading(of, DType::fp32), Bytes(-1));
  of.loader.weights_on.value = WeightsOn::host_of_several;
  EXPECT_EQ(loading(of, DType::fp32), Bytes(4LL * 4 * 12'002'000));
  of.mesh.world_size.value = of.loader.ranks.value = 1;
  EXPECT_EQ(loading(of, DType::fp32), Bytes(-1));
}

TEST(HostFootprint, LoadsByTheFirstRankAloneUnderFsdp) {
  TrainingPlan of = of_ranks(4, Sharding::fsdp2);
  EXPECT_EQ(loading(of, DType::fp32), Bytes(4LL * 4 * 12'002'000));
  of.mesh.fsdp_first_loads.value = true;
  EXPECT_EQ(loading(of, DType::fp32), Bytes(4 * 12'002'000));
  of.mesh.fsdp_fp32_trained.value = true;
  EXPECT_EQ(loading(of, DType::bf16), Bytes(4 * 12'002'000)) << "raised before it is sharded";
}

TEST(HostFootprint, LoadsNothingIntoRanksOfZero3AndOfQuantizedModels) {
  TrainingPlan of = of_ranks(4, Sharding::zero3);
  EXPECT_EQ(loading(of, DType::fp32), Bytes(-1));
  of.mesh.sharding.value = Sharding::zero2;
  EXPECT_EQ(loading(of, DType::fp32), Bytes(4LL * 4 * 12'002'000));
  of.quantization.kind.value = Quantization::nf4;
  EXPECT_EQ(loading(of, DType::fp32), Bytes(-1));
}

TEST(HostFootprint, HasTheModelWhileRowsArePreparedWhereItIsLoadedFirst) {
  TrainingPlan of = of_ranks(1, Sharding::none);
  const auto preparing = [&] {
    return at(footprint(of, model(DType::fp32, DType::fp32)), "weights being loaded", HostMoment::preparing);
  };
  EXPECT_EQ(preparing(), Bytes(0));
  of.loader.weights_before_rows.value = true;
  EXPECT_EQ(preparing(), Bytes(4 * 12'002'000));
}

TEST(HostFootprint, OfAnUnknownModelOrLoaderIsNotKnown) {
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

TEST(HostFootprint, OffloadsFsdp2sShardsEachPageLocked) {
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

TEST(HostFootprint, OffloadsFsdp1sFlatParametersAndAGradientOfAll) {
  TrainingPlan of = of_ranks(4, Sharding::fsdp1);
  of.mesh.fsdp_offload.value = true;
  const HostFootprint out = footprint(of, model(DType::bf16, DType::bf16, false));
  const Bytes rounded((8 << 20) + 2 * (512 << 10));
  EXPECT_EQ(at(out, "weights on the host", HostMoment::running, HostPlace::pinned), 4 * rounded);
  EXPECT_EQ(at(out, "gradients on the host", HostMoment::running, HostPlace::pinned), 4 * rounded);
  EXPECT_EQ(running(out, "optimizer's state on the host"), Bytes(-1)) << "nothing is trained";
}

TEST(HostFootprint, OffloadsZero2sPartition) {
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

TEST(HostFootprint, OffloadsZero3sShardsAndKeepsWhatWasLocked) {
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

TEST(HostFootprint, OfAnOptimizerWithOtherStateIsNotKnown) {
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

TEST(HostFootprint, SavesByTheFirstRankOrByEach) {
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

TEST(HostFootprint, SavesAFileAtATime) {
  TrainingPlan of = of_ranks(1, Sharding::none);
  of.saving.saves.value = true;
  HostModel large = model();
  large.parameters.front().elements = 100'000'000'000;
  of.framework = "transformers 5.23.0";
  EXPECT_EQ(saving(of, large), Bytes(50'000'000'000));
  of.framework = "trl 0.21.0 on transformers 4.55.4";
  EXPECT_EQ(saving(of, large), Bytes(5'000'000'000));
}

TEST(HostFootprint, OfARankThatLoadsItself) {
  const HostFootprint out = footprint(plan());
  EXPECT_EQ(running(out, "dataset"), Bytes(4'096'000));
  EXPECT_EQ(running(out, "batches"), Bytes(2 * 16 * 4096));
  EXPECT_EQ(out.ram(), Bytes(100'000 + 70'000 + 4'096'000 + 2 * 16 * 4096));
  EXPECT_EQ(out.shared(), Bytes(0));
}

TEST(HostFootprint, QueuesWorkersTimesPrefetchAndTheBatchOfTheStep) {
  TrainingPlan of = with_workers(4);
  of.loader.prefetch.value = 3;
  EXPECT_EQ(footprint(of).shared(), Bytes(13 * 16 * 4096));
}

TEST(HostFootprint, QueuesNoMoreThanAnEpochHas) {
  TrainingPlan of = with_workers(4);
  of.batch.micro_batch_size.value = 300;
  EXPECT_EQ(footprint(of).shared(), Bytes(4 * 300 * 4096));
}

TEST(HostFootprint, RoundsEachTensorInSharedMemoryUpToAPage) {
  TrainingPlan of = with_workers(1);
  of.batch.micro_batch_size.value = 1;
  of.loader.row_values.value = 3;
  of.loader.columns.value = 3;
  EXPECT_EQ(footprint(of).shared(), Bytes(3 * 3 * 4096));
}

TEST(HostFootprint, PadsABatchToTheSequence) {
  TrainingPlan of = with_workers(1);
  of.loader.padded.value = true;
  EXPECT_EQ(footprint(of).shared(), Bytes(3 * 16 * 1024 * 8));
}

TEST(HostFootprint, GivesEachRankItsOwn) {
  TrainingPlan of = with_workers(2);
  of.loader.ranks.value = 8;
  const HostFootprint out = footprint(of);
  EXPECT_EQ(running(out, "ranks"), Bytes(800'000));
  EXPECT_EQ(running(out, "workers"), Bytes(16'000));
  EXPECT_EQ(running(out, "dataset"), Bytes(8 * 4'096'000));
  EXPECT_EQ(running(out, "libraries' files"), Bytes(70'000));
}

TEST(HostFootprint, SpawnedWorkersImportAndHoldTheirOwn) {
  const HostFootprint out = footprint(with_workers(2, RowsAs::numpy, WorkerStart::spawn));
  EXPECT_EQ(running(out, "workers"), Bytes(200'000));
  EXPECT_EQ(running(out, "workers' datasets"), Bytes(2 * 4'096'000));
  EXPECT_EQ(running(out, "multiprocessing's helpers"), Bytes(500));
  EXPECT_EQ(out.worst(), HostMoment::starting);
  EXPECT_EQ(out.ram() - out.ram(HostMoment::running), Bytes(4'096'000) - out.shared());
}

TEST(HostFootprint, AForkServerIsOneHelperMore) {
  EXPECT_EQ(running(footprint(with_workers(2, RowsAs::numpy, WorkerStart::forkserver)), "multiprocessing's helpers"),
            Bytes(1000));
}

TEST(HostFootprint, ObjectsTakeFortyBytesAToken) {
  const HostFootprint out = footprint(with_workers(0, RowsAs::list));
  EXPECT_EQ(running(out, "dataset"), Bytes(1000 * (512 * 40 + 96)));
  EXPECT_EQ(running(out, "rows copied on write"), Bytes(-1));
}

// A row of 16 KiB of ints: four pages, and a quarter of each shared with the next row.
TEST(HostFootprint, AForkedWorkerCopiesThePagesOfTheIntsThatItSees) {
  const double seen_by_one = 0.75 * 0.5 + 0.25 * 0.75;
  const auto each = static_cast<std::int64_t>(1000 * (512 * 32 * seen_by_one + 88));
  EXPECT_EQ(running(footprint(with_workers(2, RowsAs::list)), "rows copied on write"), Bytes(2 * each));
}

TEST(HostFootprint, OneWorkerSeesAll) {
  EXPECT_EQ(running(footprint(with_workers(1, RowsAs::list)), "rows copied on write"), Bytes(1000 * (512 * 32 + 88)));
}

TEST(HostFootprint, PersistentWorkersSeeMoreWithEveryEpoch) {
  TrainingPlan of = with_workers(2, RowsAs::list);
  of.loader.epochs.value = 3;
  const Bytes once = running(footprint(of), "rows copied on write");
  of.loader.persistent.value = true;
  EXPECT_GT(running(footprint(of), "rows copied on write"), once);
}

TEST(HostFootprint, OfATextOnlyThePageOfItsCountIsCopied) {
  TrainingPlan of = with_workers(1, RowsAs::list);
  of.loader.values.value = RowValues::bytes;
  of.loader.row_values.value = 100'000;
  EXPECT_EQ(running(footprint(of), "rows copied on write"), Bytes(1000 * 4096));
}

TEST(HostFootprint, MappedFilesArePageCacheOnce) {
  TrainingPlan of = with_workers(2, RowsAs::mapped);
  of.loader.ranks.value = 4;
  const HostFootprint out = footprint(of);
  EXPECT_EQ(out.page_cache(), Bytes(4'096'000));
  EXPECT_EQ(running(out, "dataset"), Bytes(-1));
}

TEST(HostFootprint, EveryStreamShufflesInABufferOfItsOwn) {
  TrainingPlan of = with_workers(2, RowsAs::stream);
  of.loader.shuffle_buffer.value = 10;
  EXPECT_EQ(running(footprint(of), "shuffle buffers"), Bytes(2 * 10 * (512 * 40 + 96)));
  of.loader.shuffle_buffer.value = 1'000'000;
  EXPECT_EQ(running(footprint(of), "shuffle buffers"), Bytes(2 * 1000 * (512 * 40 + 96)));
}

TEST(HostFootprint, PinnedCopiesArePowersOfTwo) {
  TrainingPlan of = with_workers(1);
  of.batch.micro_batch_size.value = 9;
  of.loader.pin_memory.value = true;
  EXPECT_EQ(running(footprint(of), "pinned copies"), Bytes(3 * 65536));
}

TEST(HostFootprint, MapIsBeforeTraining) {
  TrainingPlan of = plan();
  of.loader.map_processes.value = 4;
  const HostFootprint out = footprint(of);
  EXPECT_EQ(out.worst(), HostMoment::preparing);
  EXPECT_EQ(out.ram(HostMoment::running), footprint(plan()).ram());
}

TEST(HostFootprint, MapForksOneProcessTooAndNoneOfAStream) {
  TrainingPlan of = plan();
  of.loader.map_processes.value = 1;
  EXPECT_EQ(footprint(of).worst(), HostMoment::preparing);
  of.loader.rows_as.value = RowsAs::stream;
  EXPECT_EQ(footprint(of).worst(), HostMoment::running);
}

TEST(HostFootprint, MapHoldsRowsBeforeTheyAreCut) {
  TrainingPlan of = plan();
  of.loader.map_processes.value = 1;
  const Bytes before = footprint(of).ram();
  of.loader.row_values.value = 100'000;
  EXPECT_GT(footprint(of).ram(HostMoment::preparing), before + Bytes::gib(3));
}

TEST(HostFootprint, SaysWhatIsMissingWithoutAProfile) {
  const HostFootprint out = host_footprint(with_workers(2), &none, nullptr, torch, costs());
  EXPECT_THAT(out.missing, SizeIs(2));
  EXPECT_FALSE(out.shared_is_known);
}

TEST(HostFootprint, NeedsNoProfileForPaddedBatchesOfMappedRows) {
  TrainingPlan of = with_workers(2, RowsAs::mapped);
  of.loader.padded.value = true;
  of.loader.row_values.value = 512;
  const HostFootprint out = host_footprint(of, &none, nullptr, torch, costs());
  EXPECT_THAT(out.missing, IsEmpty());
  EXPECT_EQ(out.shared(), Bytes(5 * 16 * 1024 * 8));
}

TEST(HostFootprint, SaturatesWhereNoMachineGoes) {
  TrainingPlan of = with_workers(1'000'000'000'000, RowsAs::list, WorkerStart::spawn);
  for (auto one : {&LoaderPlan::ranks, &LoaderPlan::prefetch, &LoaderPlan::columns, &LoaderPlan::row_values}) {
    (of.loader.*one).value = 1'000'000'000'000;
  }
  of.loader.pin_memory.value = true;
  EXPECT_TRUE(footprint(of).ram().saturated());
}

// ---- Limits --------------------------------------------------------------------------------------------------------

FitVerdict held_against(const HostFootprint& footprint, const HostLimits& limits) {
  return fit(footprint, limits).front().verdict;
}

TEST(HostFit, SaysNearTheLimitSo) {
  const HostFootprint of = footprint(plan());
  EXPECT_EQ(held_against(of, {.ram = of.ram() - Bytes(1)}), FitVerdict::does_not_fit);
  EXPECT_EQ(held_against(of, {.ram = of.ram()}), FitVerdict::at_the_edge);
  EXPECT_EQ(held_against(of, {.ram = of.ram() * 2}), FitVerdict::fits);
}

TEST(HostFit, ABatchMayTakeAnothersPlace) {
  TrainingPlan plenty = with_workers(4);
  plenty.loader.prefetch.value = 1;
  plenty.batch.micro_batch_size.value = 64;
  const HostFootprint of = footprint(plenty);
  const Bytes batch(64 * 4096);
  EXPECT_EQ(held_against(of, {.shared = of.shared() + batch - Bytes(1)}), FitVerdict::at_the_edge);
  EXPECT_EQ(held_against(of, {.shared = of.shared() + batch}), FitVerdict::fits);
}

TEST(HostFit, ACgroupCanGiveFilesBack) {
  HostFootprint of = footprint(plan());
  of.terms.at(1).at.fill(Bytes::mib(100));
  ASSERT_EQ(of.terms.at(1).place, HostPlace::files);
  EXPECT_EQ(held_against(of, {.cgroup = Bytes::mib(50)}), FitVerdict::at_the_edge);
  EXPECT_EQ(held_against(of, {.ram = Bytes::mib(50)}), FitVerdict::does_not_fit);
}

TEST(HostFit, WhatIsNotKnownNeverFits) {
  const HostFootprint of = host_footprint(with_workers(2), &none, nullptr, torch, costs());
  EXPECT_EQ(held_against(of, {.ram = Bytes::gib(1000)}), FitVerdict::undecided);
  EXPECT_EQ(held_against(of, {.shared = Bytes::gib(1000)}), FitVerdict::undecided);
  EXPECT_EQ(held_against(of, {.ram = Bytes(1)}), FitVerdict::does_not_fit);
}

// ---- The feed ------------------------------------------------------------------------------------------------------

TEST(HostFeed, HoldsTheReadersAgainstTheStep) {
  EXPECT_EQ(feed(with_workers(2), profile(), 0.1).keeps_up(), true);
  EXPECT_EQ(feed(with_workers(2), profile(), 0.001).keeps_up(), false);
  EXPECT_DOUBLE_EQ(*feed(with_workers(2), profile(), 0.1).taken_per_second, 160);
}

TEST(HostFeed, DoesNotGuess) {
  EXPECT_EQ(feed(plan(), profile(), std::nullopt).keeps_up(), std::nullopt);
  TrainingPlan packed = plan();
  packed.loader.packed.value = true;
  EXPECT_EQ(feed(packed, profile(), 1.0).keeps_up(), std::nullopt);
  packed.loader.row_values.value = 256;
  EXPECT_DOUBLE_EQ(*feed(packed, profile(), 1.0).taken_per_second, 64);
  packed.loader.values.value = RowValues::bytes;
  EXPECT_EQ(feed(packed, profile(), 1.0).keeps_up(), std::nullopt);
}

TEST(HostFeed, OfAWholeLoaderIsNotMultipliedByItsWorkers) {
  LoaderProfile timed = profile();
  timed.loader = {100, 2};
  EXPECT_EQ(feed(with_workers(2), timed, 0.15).keeps_up(), false);
  EXPECT_EQ(feed(with_workers(2), timed, 0.17).keeps_up(), true);
  EXPECT_EQ(feed(with_workers(4), timed, 0.17).keeps_up(), std::nullopt);
  timed.loader->workers = std::nullopt;
  EXPECT_EQ(feed(with_workers(4), timed, 0.17).keeps_up(), true);
  TrainingPlan packed = with_workers(2);
  packed.loader.packed.value = true;
  packed.loader.row_values.value = 256;
  EXPECT_EQ(feed(packed, timed, 0.17).keeps_up(), std::nullopt);
}

}  // namespace
}  // namespace oomplan
