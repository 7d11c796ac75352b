// The rows on the host, its limits, and whether rows come quickly enough.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host_plans.hpp"

namespace oomplan {
namespace {

using namespace host_plans;
using testing::IsEmpty;
using testing::SizeIs;

TrainingPlan with_workers(std::int64_t workers, RowsAs rows_as = RowsAs::numpy, WorkerStart start = WorkerStart::fork) {
  TrainingPlan out = plan();
  out.loader.workers.value = workers;
  out.loader.rows_as.value = rows_as;
  out.loader.start.value = start;
  return out;
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
