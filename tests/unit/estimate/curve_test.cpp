#include "oomplan/estimate/curve.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "oomplan/catalog/catalog.hpp"
#include "oomplan/estimate/estimate.hpp"
#include "oomplan/estimate/fit_check.hpp"

namespace oomplan {
namespace {

TrainingPlan plan() {
  TrainingPlan p;
  p.batch.micro_batch_size.value = 2;
  p.batch.sequence_length.value = 256;
  p.batch.gradient_accumulation_steps.value = 2;
  p.precision.weights_dtype.value = WeightsDType::fp32;
  p.precision.autocast.value = Autocast::bf16;
  p.optimizer.name.value = "adamw_fused";
  p.kernels.attention.value = Attention::sdpa;
  p.optimizer.set_grads_to_none.value = true;
  return p;
}

Bytes total_of(const CurvePoint& point) {
  Bytes out;
  for (const Bytes bytes : point.by_group) out += bytes;
  return out;
}

TEST(Curve, ReachesThePeakWithItsBucketsHoweverThin) {
  for (const char* name : {"openai-community/gpt2", "meta-llama/Llama-3.2-1B", "Qwen/Qwen2.5-0.5B"}) {
    const auto model = find_model(name);
    ASSERT_TRUE(model);
    for (const bool checkpointed : {false, true}) {
      TrainingPlan p = plan();
      p.checkpointing.on.value = checkpointed;
      const auto footprint = estimate(p, *model);
      ASSERT_TRUE(footprint);
      for (const std::size_t most : {1U, 7U, 480U, 1'000'000U}) {
        const auto drawn = curve(p, *model, {}, most);
        ASSERT_TRUE(drawn);
        EXPECT_LE(drawn->points.size(), most);
        EXPECT_EQ(drawn->step, footprint->peak.step);
        const auto highest = std::ranges::max_element(drawn->points, {}, total_of);
        EXPECT_EQ(total_of(*highest), footprint->peak.total);
        EXPECT_EQ(by_bucket(*drawn, *highest), footprint->peak.by_bucket);
        EXPECT_EQ(highest->phase, footprint->peak.phase);
      }
    }
  }
}

TEST(Curve, CountsEveryLayer) {
  const auto model = find_model("openai-community/gpt2");
  ASSERT_TRUE(model);
  const auto drawn = curve(plan(), *model, {}, every_point);
  ASSERT_TRUE(drawn);
  for (int layer = 0; layer < 12; ++layer)
    EXPECT_GT(std::ranges::count(drawn->points, layer, &CurvePoint::layer), 0) << layer;
  for (const CurvePoint& point : drawn->points) EXPECT_LT(point.layer, 12);
}

TEST(Curve, KeepsWhatIsLargeApart) {
  const auto model = find_model("openai-community/gpt2");
  ASSERT_TRUE(model);
  const auto drawn = curve(plan(), *model);
  ASSERT_TRUE(drawn);
  const auto alone = [](const CurveGroup& group) { return !group.op.empty(); };
  EXPECT_TRUE(std::ranges::is_sorted(drawn->groups, {}, &CurveGroup::bucket));
  EXPECT_GT(std::ranges::count_if(drawn->groups, alone), 10);
  EXPECT_LT(drawn->groups.size(), 100U);
  const auto logits =
      std::ranges::find(drawn->groups, std::pair(Bucket::logits_and_loss, std::string("aten::_log_softmax")),
                        [](const CurveGroup& g) { return std::pair(g.bucket, g.op); });
  ASSERT_NE(logits, drawn->groups.end());
  Bytes most;
  for (const CurvePoint& point : drawn->points)
    most = std::max(most, point.by_group[static_cast<std::size_t>(logits - drawn->groups.begin())]);
  EXPECT_EQ(most, Bytes(2 * 256 * 50257 * 4));
  for (Bucket bucket : {Bucket::weights, Bucket::activations}) {  // the small ones are one
    EXPECT_LE(
        std::ranges::count_if(drawn->groups, [&](const CurveGroup& g) { return g.bucket == bucket && !alone(g); }), 1);
  }
}

TEST(Curve, HasWhatTheAllocatorReserves) {
  const auto model = find_model("openai-community/gpt2");
  ASSERT_TRUE(model);
  const auto footprint = estimate(plan(), *model, Detail::events);
  ASSERT_TRUE(footprint);
  const Bytes workspace = Bytes::mib(8);
  const Reservation reservation(footprint->events, {}, {workspace, footprint->cublas_handles});
  const auto drawn = curve(plan(), *model, workspace, every_point);
  ASSERT_TRUE(drawn);
  const auto most = std::ranges::max_element(drawn->points, {}, &CurvePoint::reserved);
  EXPECT_EQ(most->reserved, reservation.reserved().peak);
  for (const CurvePoint& point : drawn->points) EXPECT_GE(point.reserved, total_of(point));
}

TEST(FitCheck, SaysWhatAFitSays) {
  const auto model = find_model("openai-community/gpt2");
  ASSERT_TRUE(model);
  const TrainingPlan p = plan();
  auto footprint = estimate(p, *model, Detail::events);
  ASSERT_TRUE(footprint);
  FitCheck fit_check(p, *model);
  for (const char* size : {"1GiB", "2GiB", "2.5GiB", "3GiB", "3.5GiB", "4GiB", "24GiB"}) {
    const auto gpu = find_gpu(size);
    ASSERT_TRUE(gpu);
    const Reservation reservation(footprint->events, {}, {gpu->cublas_workspace, footprint->cublas_handles});
    const Fit held = fit(reservation, *gpu);
    const CheckedFit fit = fit_check.on(*gpu, limit_of(*gpu, usual_headroom));
    EXPECT_EQ(fit.fits, held.fits()) << size;
    EXPECT_TRUE(fit.at_least ? fit.needed <= held.needed : fit.needed == held.needed) << size;
    EXPECT_FALSE(fit.fits && fit_check.on(*gpu, fit.needed - Bytes(1)).fits) << size;
    EXPECT_EQ(fit_check.on(*gpu, gpu->total).fits, held.ends()) << size;
  }
}

// Between the least and the most of NCCL's buffers: both take the most.
TEST(FitCheck, TakesTheUpperEndAsAFitDoes) {
  const auto model = find_model("openai-community/gpt2");
  ASSERT_TRUE(model);
  TrainingPlan p = plan();
  p.mesh.sharding.value = Sharding::ddp;
  p.mesh.world_size.value = 2;
  p.mesh.sync_each.value = true;
  p.mesh.ddp_bucket_mib.value = 25;
  p.mesh.fsdp_replicas.value = 1;
  auto footprint = estimate(p, *model, Detail::events);
  ASSERT_TRUE(footprint);
  FitCheck fit_check(p, *model);
  auto gpu = find_gpu("24GiB");
  ASSERT_TRUE(gpu);
  const Reservation reservation(footprint->events, {}, {gpu->cublas_workspace, footprint->cublas_handles});
  const Range range = fit(reservation, *gpu, {}, p).range();
  for (const Bytes total : {range.lower, Bytes((range.lower.count() + range.upper.count()) / 2), range.upper}) {
    gpu->total = total;
    const Fit held = fit(reservation, *gpu, {}, p);
    EXPECT_EQ(held.ends(), total == range.upper);
    const CheckedFit fit = fit_check.on(*gpu, total);
    EXPECT_EQ(fit.fits, held.ends());
    EXPECT_TRUE(fit.at_least ? fit.needed <= held.needed : fit.needed == held.needed);
  }
}

TEST(LimitOf, LeavesTheHeadroomRoundedUp) {
  EXPECT_EQ(limit_of({.total = Bytes(1001)}, 0.05), Bytes(950));
  EXPECT_EQ(limit_of({.total = Bytes(1000)}, 0), Bytes(1000));
}

}  // namespace
}  // namespace oomplan
