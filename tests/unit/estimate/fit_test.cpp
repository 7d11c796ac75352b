#include <gtest/gtest.h>

#include <vector>

#include "oomplan/estimate/estimate.hpp"
#include "oomplan/estimate/fit_check.hpp"
#include "plans.hpp"

namespace oomplan {
namespace {

Gpu gpu(Bytes total) {
  return {.name = "test",
          .total = total,
          .context = Bytes::mib(500),
          .cublas_workspace = Bytes::mib(8),
          .context_source = "measured"};
}

/// A run that makes tensors of `sizes` one after the other, and lets all go at its end.
Footprint footprint(const std::vector<Bytes>& sizes) {
  Footprint f;
  f.events.push_back({Event::Kind::mark, 0, PhaseOfStep{Phase::forward, 1}.code()});
  std::uint32_t slot = 0;
  for (const Bytes size : sizes) {
    f.events.push_back({Event::Kind::allocate, slot++, size.count()});
    f.peak.total += size;
  }
  for (std::uint32_t i = 0; i < slot; ++i) f.events.push_back({Event::Kind::free, i, 0});
  f.peak.phase = Phase::forward;
  f.peak.step = 1;
  f.peaks = {f.peak};
  return f;
}

Reservation of(const std::vector<Bytes>& sizes) { return {footprint(sizes).events, {}}; }

constexpr Bytes beside = Bytes::mib(516);  // The context and a workspace for each of two threads.

TEST(Fit, NeedsWhatTheRunEndsInTheContextAndAWorkspaceForEachOfTwoThreads) {
  const Fit out = fit(of({Bytes::gib(10)}), gpu(Bytes::gib(24)));
  EXPECT_EQ(out.needed, Bytes::gib(10) + beside);
  EXPECT_EQ(out.headroom, Bytes::gib(14) - beside);
  EXPECT_EQ(out.verdict, FitVerdict::fits);
  Bytes terms;
  for (const RuntimeTerm& term : out.runtime) {
    EXPECT_FALSE(term.name.empty());
    EXPECT_FALSE(term.source.empty()) << term.name;
    terms += term.bytes;
  }
  EXPECT_EQ(terms, beside);
  EXPECT_EQ(out.gpu.name, "test");
}

// The workspaces lie in the pool: of 8 MiB each, in a segment of 20 MiB. 15 MiB are a whole segment of 16.
TEST(Fit, SaysWhatTorchPrints) {
  const Footprint run = footprint({Bytes::mib(15), Bytes::gib(10)});
  const Reservation reservation(run.events, {}, {Bytes::mib(8), {2, 3}});
  const Fit out = fit(reservation, gpu(Bytes::gib(24)));
  ASSERT_TRUE(out.torch.has_value());
  EXPECT_EQ(out.torch->allocated, Bytes::gib(10) + Bytes::mib(16 + 8 + 8));
  EXPECT_EQ(out.torch->reserved, Bytes::gib(10) + Bytes::mib(16 + 20));
  EXPECT_EQ(out.nvidia_smi(), out.torch->reserved + Bytes::mib(500));
  EXPECT_EQ(out.needed, out.torch->reserved + Bytes::mib(500));
  EXPECT_FALSE(fit(reservation, gpu(Bytes::gib(10))).torch.has_value());
}

TEST(Reservation, CountsTheWorkspacesApartFromTheTensors) {
  Footprint f = footprint({Bytes::mib(40)});
  count_reserved(f, Reservation(f.events, {}, {Bytes::mib(8), {1}}).reserved());
  EXPECT_EQ(at(f.peak.by_bucket, Bucket::runtime), Bytes::mib(8));
  EXPECT_EQ(at(f.peak.by_bucket, Bucket::fragmentation), Bytes::mib(12));
  EXPECT_EQ(f.peak.tensors(), Bytes::mib(40));
  EXPECT_EQ(f.peak.total, Bytes::mib(60));
}

/// A segment of 30 MiB, and one of 60 of which 30 are in use for good; where the request comes to lie in the first,
/// nothing can be given back.
std::vector<Event> run_of_either_order() {
  const auto take = [](std::uint32_t slot, std::int64_t mib) {
    return Event{Event::Kind::allocate, slot, Bytes::mib(mib).count()};
  };
  const auto drop = [](std::uint32_t slot) { return Event{Event::Kind::free, slot, 0}; };
  return {{Event::Kind::mark, 0, PhaseOfStep{Phase::forward, 1}.code()},
          take(0, 30),
          take(1, 60),
          drop(1),
          take(1, 30),
          drop(0),
          take(2, 29),
          take(3, 40)};
}

// A kernel's own memory counts in what is allocated, and in no moment's tensors.
TEST(Reservation, CountsWhatKernelsTakeApartFromTheTensors) {
  Footprint run = footprint({Bytes::gib(1)});
  const std::uint32_t scratch = 1;
  run.events.insert(run.events.begin() + 2,
                    {{Event::Kind::allocate, scratch, Bytes::gib(2).count()}, {Event::Kind::free, scratch, 0}});
  const Reservation reservation(run.events, {}, {Bytes(), {}, scratch});
  const Reserved& reserved = reservation.reserved();
  EXPECT_EQ(reserved.allocated, Bytes::gib(3));
  EXPECT_EQ(reserved.peak, Bytes::gib(3));
  ASSERT_EQ(reserved.moments.size(), 1);
  EXPECT_EQ(reserved.moments.front().requested, Bytes::gib(1));
  EXPECT_EQ(reserved.moments.front().workspaces, Bytes());
  const Fit out = fit(reservation, gpu(Bytes::gib(24)));
  ASSERT_TRUE(out.torch.has_value());
  EXPECT_EQ(out.torch->kernels, Bytes::gib(2));
  EXPECT_EQ(out.needed, Bytes::gib(3) + beside);
}

// Of two free blocks of 30 MiB one is taken for 20 MiB, and then the other's segment can go: which of them depends on
// where the second segment lies.
TEST(Reservation, WhereTheOrderOfSegmentsDecidesTheWorseOneDoes) {
  const std::vector<Event> events = run_of_either_order();
  const Reservation below(events, {}, {}, {SegmentOrder::descending});
  const Reservation above(events, {}, {}, {SegmentOrder::ascending});
  const Reservation both(events, {});
  EXPECT_NE(below.ends_in({Bytes::mib(100)}), above.ends_in({Bytes::mib(100)}));
  EXPECT_FALSE(both.ends_in({Bytes::mib(100)}));
  EXPECT_GE(both.reserved().smallest, std::max(below.reserved().smallest, above.reserved().smallest));
  EXPECT_EQ(both.reserved().peak, below.reserved().peak);
}

// The first order is the one that drivers mostly have: it gives the lower end, whichever of the two it is.
TEST(Range, OfTheAddressOrderIsWhatBothOrdersNeed) {
  using Orders = std::vector<SegmentOrder>;
  const Orders descending{SegmentOrder::descending, SegmentOrder::ascending};
  const Orders ascending{SegmentOrder::ascending, SegmentOrder::descending};
  Bytes widest;
  for (const Orders& orders : {descending, ascending}) {
    const Reservation first(run_of_either_order(), {}, {}, {orders.front()});
    const Reservation both(run_of_either_order(), {}, {}, orders);
    EXPECT_EQ(both.reserved().smallest_usual, first.reserved().smallest);
    EXPECT_LE(both.reserved().smallest_usual, both.reserved().smallest);
    const Fit out = fit(both, gpu(Bytes::gib(24)));
    EXPECT_EQ(out.range().upper, out.needed);
    EXPECT_EQ(out.range().upper - out.range().lower, both.reserved().smallest - both.reserved().smallest_usual);
    widest = std::max(widest, out.range().upper - out.range().lower);
  }
  EXPECT_GT(widest, Bytes(0));
}

TEST(Range, OfACardThatOnlyTheUsualOrderFitsReachesDownToIt) {
  const std::vector<SegmentOrder> orders{SegmentOrder::ascending, SegmentOrder::descending};
  const Reservation first(run_of_either_order(), {}, {}, {orders.front()});
  const Reservation run(run_of_either_order(), {}, {}, orders);
  const SegmentOrder usual = first.ends_in({Bytes::mib(100)}) ? orders.front() : orders.back();
  const Reservation either(run_of_either_order(), {}, {},
                           {usual, usual == orders.front() ? orders.back() : orders.front()});
  const Fit out = fit(either, gpu(Bytes::mib(100) + beside), {}, {}, {}, 0);
  EXPECT_EQ(out.verdict, FitVerdict::does_not_fit);
  EXPECT_TRUE(out.may_fit());
  EXPECT_LE(out.range().lower, out.gpu.total);
  EXPECT_GT(out.range().upper, out.gpu.total);
  ASSERT_EQ(out.range().contributions.size(), 1U);
  EXPECT_EQ(out.range().contributions.front().name, "address order");
}

TEST(Range, IsClosedWhereNothingIsUnknown) {
  const Fit out = fit(of({Bytes::gib(10)}), gpu(Bytes::gib(24)));
  EXPECT_EQ(out.range(), (Range{out.needed, out.needed}));
  EXPECT_FALSE(out.may_fit());
  EXPECT_FALSE(fit(of({Bytes::gib(10)}), gpu(Bytes::gib(8))).may_fit());
}

TrainingPlan two_ranks() {
  TrainingPlan plan;
  plan.mesh.world_size.value = 2;
  plan.mesh.sharding.value = Sharding::ddp;
  return plan;
}

// A card that the least of NCCL's buffers would leave enough of: the verdict takes the most.
TEST(Range, TheVerdictTakesItsUpperEnd) {
  const Reservation run = of({Bytes::gib(20)});
  const Bytes least = Bytes::gib(20) + beside + Bytes::mib(544);
  const Bytes most = Bytes::gib(20) + beside + Bytes::mib(1526);
  for (const Bytes total : {least, Bytes::gib(20) + beside + Bytes::gib(1), most - Bytes(1)}) {
    const Fit out = fit(run, gpu(total), {}, two_ranks(), {}, 0);
    EXPECT_EQ(out.verdict, FitVerdict::does_not_fit) << total.count();
    EXPECT_TRUE(out.may_fit()) << total.count();
    EXPECT_EQ(out.range().lower, least);
    EXPECT_EQ(out.range().upper, most);
    EXPECT_EQ(out.needed, most);
  }
  EXPECT_TRUE(fit(run, gpu(most), {}, two_ranks()).ends());
  EXPECT_FALSE(fit(run, gpu(most), {}, two_ranks()).may_fit());
  EXPECT_FALSE(fit(run, gpu(least - Bytes(1)), {}, two_ranks()).may_fit());
}

TrainingPlan beside_vllm(double share) {
  TrainingPlan plan;
  plan.recipe.kind.value = RecipeKind::grpo;
  plan.recipe.generation.value = Generation::vllm;
  plan.recipe.vllm_share.value = share;
  return plan;
}

// Its share is of the whole card, whatever else is on it, so that a larger card has less left than one might think.
TEST(Range, VllmHasItsShareOfTheWholeCard) {
  const Reservation run = of({Bytes::gib(10)});
  const TrainingPlan plan = beside_vllm(0.5);
  for (const std::int64_t gib : {22, 24, 80}) {
    const Fit out = fit(run, gpu(Bytes::gib(gib)), {}, plan, {}, 0);
    EXPECT_EQ(out.needed, Bytes::gib(10) + beside + Bytes::gib(gib / 2)) << gib;
    EXPECT_EQ(out.verdict, FitVerdict::fits) << gib;
    EXPECT_EQ(out.range().lower, out.needed - Bytes::mib(1291)) << gib;
    EXPECT_FALSE(out.torch.has_value()) << gib;
  }
  EXPECT_EQ(fit(run, gpu(Bytes::gib(20)), {}, plan, {}, 0).verdict, FitVerdict::does_not_fit);
  EXPECT_TRUE(fit(run, gpu(Bytes::gib(20)), {}, plan, {}, 0).may_fit());
  EXPECT_FALSE(fit(run, gpu(Bytes::gib(18)), {}, plan, {}, 0).may_fit());
}

// A plan whose completions come from elsewhere may have a share that nobody reads.
TEST(Range, WithoutVllmItsShareIsNothing) {
  TrainingPlan plan = beside_vllm(0.5);
  plan.recipe.generation.value = Generation::transformers;
  EXPECT_EQ(fit(of({Bytes::gib(10)}), gpu(Bytes::gib(24)), {}, plan).needed, Bytes::gib(10) + beside);
  // To a server the weights go over a communicator.
  plan.recipe.generation.value = Generation::elsewhere;
  EXPECT_EQ(fit(of({Bytes::gib(10)}), gpu(Bytes::gib(24)), {}, plan).needed,
            Bytes::gib(10) + beside + Bytes::mib(1526));
}

TEST(Range, VllmStopsWhereItsWeightsLeaveNoRoomForItsCache) {
  TrainingPlan plan = beside_vllm(0.5);
  Footprint run = footprint({Bytes::gib(1)});
  run.parameters = 8'000'000'000;
  const auto said = undecided_on(plan, run, gpu(Bytes::gib(24)));
  ASSERT_TRUE(said.has_value());
  EXPECT_EQ(said->code, "estimate/vllm-stops");
  EXPECT_NE(said->message.find("it may take 12.00 GiB, and its copy of the weights takes 14.90 GiB"), std::string::npos)
      << said->message;
  EXPECT_NE(said->hint.find("above 0.63"), std::string::npos) << said->hint;
  EXPECT_FALSE(undecided_on(plan, run, gpu(Bytes::gib(40))).has_value());
  // In 4 bits they take a quarter at the least.
  plan.quantization.kind.value = Quantization::nf4;
  EXPECT_FALSE(undecided_on(plan, run, gpu(Bytes::gib(24))).has_value());
  plan.recipe.vllm_share.value = 0.1;
  EXPECT_TRUE(undecided_on(plan, run, gpu(Bytes::gib(24))).has_value());
  // What does not fit anyway is not undecided; no part of a card is more than the card.
  run.peak.total = Bytes::gib(24);
  EXPECT_FALSE(undecided_on(plan, run, gpu(Bytes::gib(24))).has_value());
  run.peak.total = Bytes::gib(1);
  run.parameters = 800'000'000'000;
  const auto never = undecided_on(plan, run, gpu(Bytes::gib(24)));
  ASSERT_TRUE(never.has_value());
  EXPECT_EQ(never->hint, "no part of this GPU is enough for it");
}

TEST(Range, AddsUpWhatIsUnknown) {
  const Fit out = fit(of({Bytes::gib(20)}), gpu(Bytes::gib(24)), {}, two_ranks(),
                      {{"lengths", "nobody says", Bytes::gib(1), Bytes::gib(3)}, {"known", "", {}, {}}});
  EXPECT_EQ(out.range().upper, out.needed);
  EXPECT_EQ(out.range().lower, out.needed - Bytes::gib(2) - Bytes::mib(1526 - 544));
  ASSERT_EQ(out.range().contributions.size(), 2U);
  EXPECT_EQ(out.range().contributions.front().name, "lengths");
  EXPECT_EQ(out.range().contributions.back().name, "NCCL communicators");
}

Bytes tensors_of(const TrainingPlan& plan) {
  return example::played(plan, example::architecture(example::llama())).peak.tensors();
}

TEST(Range, OfDpoIsThatOfItsCompletions) {
  TrainingPlan p = example::plan(8, 512);
  p.recipe.kind.value = RecipeKind::dpo;
  p.recipe.loss.value = Loss::chunked_logprob;
  p.recipe.reference.value = Reference::precomputed;
  p.batch.completion_length.origin.kind = Origin::Kind::assumed;
  const Architecture model = example::architecture(example::llama());
  const auto unknown = [&] { return unknown_of(p, model, example::played(p, model)); };
  TrainingPlan least = p;
  least.batch.completion_length.value = 1;
  ASSERT_EQ(unknown().size(), 1U);
  EXPECT_EQ(unknown().front().name, "completion length");
  EXPECT_EQ(unknown().front().upper - unknown().front().lower, tensors_of(p) - tensors_of(least));
  EXPECT_GT(unknown().front().upper, Bytes());
  p.batch.completion_length.origin.kind = Origin::Kind::command_line;
  EXPECT_TRUE(unknown().empty());
  p.batch.completion_length = {1, {Origin::Kind::assumed}};
  EXPECT_TRUE(unknown().empty());
}

TEST(Range, OfTorchaosOptimizerIsThatOfItsStepsBuffers) {
  TrainingPlan p = example::plan(1, 8);
  p.optimizer.name.value = "torchao_adamw_4bit";
  const Architecture model = example::architecture(example::llama());
  const auto unknown = unknown_of(p, model, example::played(p, model));
  ASSERT_EQ(unknown.size(), 1U);
  EXPECT_EQ(unknown.front().name, "compiled optimizer step");
  EXPECT_GT(unknown.front().upper, Bytes());
}

TEST(Fit, EndsToTheLastByteAndNotWithOneLess) {
  const Reservation run = of({Bytes::gib(20)});
  const Fit just = fit(run, gpu(Bytes::gib(20) + beside));
  EXPECT_EQ(just.verdict, FitVerdict::at_the_edge);
  EXPECT_TRUE(just.ends());
  EXPECT_FALSE(just.fits());
  EXPECT_EQ(just.headroom, Bytes(0));
  EXPECT_EQ(fit(run, just.gpu, {}, {}, {}, 0).verdict, FitVerdict::fits);
  const Fit not_quite = fit(run, gpu(Bytes::gib(20) + beside - Bytes(1)));
  EXPECT_EQ(not_quite.verdict, FitVerdict::does_not_fit);
  EXPECT_EQ(not_quite.headroom, Bytes(-1));
}

TEST(Fit, LeavesTheHeadroomThatIsWanted) {
  const Reservation run = of({Bytes::gib(100)});
  EXPECT_EQ(fit(run, gpu(Bytes::gib(104) + beside)).verdict, FitVerdict::at_the_edge);
  EXPECT_EQ(fit(run, gpu(Bytes::gib(106) + beside)).verdict, FitVerdict::fits);
  EXPECT_EQ(fit(run, gpu(Bytes::gib(106) + beside)).wanted,
            (Bytes::gib(106) + beside) - limit_of(gpu(Bytes::gib(106) + beside), 0.05));
  EXPECT_EQ(fit(run, gpu(Bytes::gib(106) + beside), {}, {}, {}, 0.1).verdict, FitVerdict::at_the_edge);
}

TEST(Fit, ARunThatNoCardHoldsNeverFits) {
  const Reservation run = of({Bytes::gib(50'000), Bytes::gib(50'000)});
  EXPECT_TRUE(run.reserved().peak.saturated());
  const Fit out = fit(run, gpu(Bytes::gib(24)));
  EXPECT_EQ(out.verdict, FitVerdict::does_not_fit);
  EXPECT_TRUE(out.at_least);
  EXPECT_EQ(out.needed, Bytes::gib(100'000) + beside);
  EXPECT_EQ(undecided_on(run, gpu(Bytes::gib(24))), std::nullopt);
}

TEST(Fit, ACardBeyondThoseThatThePlayedAllocatorKnowsIsUndecided) {
  const Reservation run = of({Bytes::gib(50'000), Bytes::gib(50'000)});
  const Gpu vast = gpu(Bytes::gib(200'000));
  EXPECT_EQ(fit(run, vast).verdict, FitVerdict::undecided);
  ASSERT_TRUE(undecided_on(run, vast).has_value());
  EXPECT_EQ(undecided_on(run, vast)->code, "estimate/unmodelled");
  EXPECT_EQ(undecided_on(of({Bytes::gib(1)}), vast), std::nullopt);
}

TEST(Fit, PagedMemoryGivesWay) {
  const Reservation run = of({Bytes::gib(10)});
  const Fit both = fit(run, gpu(Bytes::gib(24)), Bytes::gib(8));
  EXPECT_EQ(both.needed, Bytes::gib(10) + beside);
  EXPECT_EQ(both.paged_to_host(), Bytes(0));
  const Fit some = fit(run, gpu(Bytes::gib(16) + beside), Bytes::gib(8));
  EXPECT_EQ(some.verdict, FitVerdict::fits);
  EXPECT_EQ(some.paged_to_host(), Bytes::gib(2));
  EXPECT_EQ(fit(run, gpu(Bytes::gib(10) + beside), Bytes::gib(8)).paged_to_host(), Bytes::gib(8));
}

// The segment of the first tensor holds nothing when the second comes, and cannot hold it.
TEST(Reservation, ACardSmallerThanWhatIsReservedMayDo) {
  Footprint f;
  f.events = {{Event::Kind::mark, 0, PhaseOfStep{Phase::forward, 1}.code()},
              {Event::Kind::allocate, 0, Bytes::mib(30).count()},
              {Event::Kind::free, 0, 0},
              {Event::Kind::allocate, 0, Bytes::mib(40).count()},
              {Event::Kind::free, 0, 0}};
  f.peak = {.phase = Phase::forward, .step = 1, .total = Bytes::mib(40), .by_bucket = {}};
  f.peaks = {f.peak};
  const Reservation run(f.events, {});
  EXPECT_EQ(run.reserved().peak, Bytes::mib(70));
  EXPECT_EQ(run.reserved().smallest, Bytes::mib(40));
  EXPECT_TRUE(run.ends_in({Bytes::mib(40)}));
  EXPECT_FALSE(run.ends_in({Bytes::mib(40) - Bytes(1)}));
  count_reserved(f, run.reserved());
  EXPECT_EQ(f.peak.total, Bytes::mib(70));
  EXPECT_EQ(at(f.peak.by_bucket, Bucket::slack), Bytes::mib(30));
}

TEST(Reservation, OfAFractionOfTheCardNoMoreIsTaken) {
  AllocatorSettings half;
  half.memory_fraction = 0.5;
  const Reservation run(footprint({Bytes::gib(10)}).events, half);
  EXPECT_EQ(run.reserved().peak, Bytes::gib(10));
  EXPECT_GE(run.reserved().smallest, Bytes::gib(20));
  EXPECT_LE(run.reserved().smallest, Bytes::gib(20) + Bytes(1));
  EXPECT_TRUE(run.ends_in({run.reserved().smallest}));
  EXPECT_FALSE(run.ends_in({Bytes::gib(20) - Bytes(2)}));
}

TEST(Fit, NeedsNoMoreThanACardThatItFits) {
  for (const std::int64_t mib : {516, 600, 1000, 5000, 24'000}) {
    const Fit out = fit(of({Bytes::mib(mib), Bytes::mib(3), Bytes::mib(12)}), gpu(Bytes::mib(mib + 40) + beside));
    EXPECT_EQ(out.ends(), out.headroom >= Bytes(0)) << mib;
  }
}

TEST(Reservation, WhatLiesBesideATensorInItsSegmentIsFragmentation) {
  const Footprint all = footprint({Bytes::mib(2)});  // In a segment of 20 MiB.
  Footprint f = all;
  count_reserved(f, Reservation(all.events, {}).reserved());
  EXPECT_EQ(at(f.peak.by_bucket, Bucket::fragmentation), Bytes::mib(18));
  EXPECT_EQ(at(f.peak.by_bucket, Bucket::slack), Bytes(0));
  EXPECT_EQ(f.peak.total, Bytes::mib(20));
}

Gpu of_capability(std::string capability) {
  Gpu g = gpu(Bytes::gib(24));
  g.title = "NVIDIA Test";
  g.compute_capability = std::move(capability);
  return g;
}

TEST(Undecided, OnlyWhereFlashAttentionWasPlayedForAGpuThatHasNone) {
  TrainingPlan plan;
  Footprint f;
  EXPECT_FALSE(undecided_on(plan, f, of_capability("7.5")));
  f.newer_kernel = "flash attention";
  EXPECT_FALSE(undecided_on(plan, f, of_capability("8.0")));
  EXPECT_FALSE(undecided_on(plan, f, of_capability("12.0")));
  EXPECT_FALSE(undecided_on(plan, f, of_capability("")));  // CUDA has none: a size, or another maker's.
  const auto why = undecided_on(plan, f, of_capability("7.5"));
  ASSERT_TRUE(why);
  EXPECT_EQ(why->code, "estimate/unmodelled");
  f.newer_kernel.clear();
  plan.recipe.loss.value = Loss::liger_fused_linear;
  EXPECT_FALSE(undecided_on(plan, f, of_capability("8.0")));
  ASSERT_TRUE(undecided_on(plan, f, of_capability("7.5")));
  EXPECT_EQ(why->message,
            "NVIDIA Test (compute capability 7.5) does not run flash attention, and what it runs instead is not "
            "modelled yet");
}

TEST(Undecided, WhatWasPlayedForAnOlderGpuSaysNothingOfANewerOne) {
  TrainingPlan plan;
  plan.kernels.older_gpu.value = true;
  const auto why = undecided_on(plan, {}, of_capability("8.0"));
  ASSERT_TRUE(why);
  EXPECT_EQ(why->message, "attention is played as on a compute capability below 8.0, and NVIDIA Test has 8.0");
  EXPECT_FALSE(undecided_on(plan, {}, of_capability("7.5")));
  EXPECT_FALSE(undecided_on(plan, {}, of_capability("")));
}

// Grouped heads without a mask: flash attention, or where there is none the scores of all pairs of tokens.
TEST(FitCheck, HoldsEachCardAgainstTheAttentionThatItHas) {
  const Architecture model = example::architecture(example::llama());
  TrainingPlan p = example::plan(2, 2048);
  FitCheck check(p, model);
  const CheckedFit newer = check.on(of_capability("8.0"), Bytes::gib(24));
  const CheckedFit older = check.on(of_capability("7.5"), Bytes::gib(24));
  ASSERT_TRUE(newer.errors.empty());
  ASSERT_TRUE(older.errors.empty());
  EXPECT_GT(older.needed, newer.needed + Bytes(2 * 4 * 2048 * 2048 * 4));
  p.kernels.older_gpu.value = true;
  FitCheck of_older(p, model);
  EXPECT_EQ(of_older.on(of_capability("7.5"), Bytes::gib(24)).needed, older.needed);
  EXPECT_EQ(of_older.on(of_capability("8.0"), Bytes::gib(24)).needed, newer.needed);
}

}  // namespace
}  // namespace oomplan
