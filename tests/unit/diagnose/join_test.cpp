#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oomplan/diagnose/diagnose.hpp"
#include "request.hpp"
#include "rules.hpp"
#include "support.hpp"

namespace oomplan::diagnose {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t mib = std::int64_t{1} << 20;
constexpr std::int64_t gib = std::int64_t{1} << 30;

Reading size(std::string text, std::int64_t bytes) {
  return {.name = "requested", .kind = Reading::Kind::bytes, .text = std::move(text), .integer = bytes};
}
Reading named(std::string name, std::int64_t bytes) {
  return {.name = std::move(name), .kind = Reading::Kind::bytes, .text = "", .integer = bytes};
}

LiveGroup tensors(std::vector<std::int64_t> shape, DType dtype, Phase born, std::int64_t count = 1) {
  std::int64_t bytes = bytes_of(dtype);
  for (const std::int64_t n : shape) bytes *= n;
  return {.born = born,
          .op = "aten::x",
          .shape = std::move(shape),
          .dtype = dtype,
          .count = count,
          .bytes = Bytes(bytes).rounded_up(512) * count};
}

TEST(Request, ATextMeansWhatRoundsToIt) {
  const SizeRange range = range_of(size("7.83 GiB", static_cast<std::int64_t>(7.83 * gib)));
  EXPECT_TRUE(range.holds(std::int64_t{16384} * 128256 * 4));
  EXPECT_TRUE(range.holds(static_cast<std::int64_t>(7.8251 * gib)));
  EXPECT_FALSE(range.holds(static_cast<std::int64_t>(7.8249 * gib)));
  EXPECT_FALSE(range.holds(static_cast<std::int64_t>(7.8352 * gib)));
  EXPECT_FALSE(range_of(size("1000", 1000)).holds(1001));
}

TEST(Request, TheAllocatorAsksForMoreThanTheTensor) {
  EXPECT_EQ(asked_for(512), 2 * mib);
  EXPECT_EQ(asked_for(mib), 2 * mib);
  EXPECT_EQ(asked_for(mib + 1), 20 * mib);
  EXPECT_EQ(asked_for(10 * mib), 10 * mib);
  EXPECT_EQ(asked_for(10 * mib + 1), 12 * mib);
}

TEST(Request, FindsATensorByWhatTheAllocatorAsksForIt) {
  const std::vector<LiveGroup> all{tensors({5, 1024, 256}, DType::fp32, Phase::loss),
                                   tensors({11, 1024, 1024}, DType::fp32, Phase::loss)};
  const std::vector<Match> found = matches_of(size("20.00 MiB", 20 * mib), all, Phase::loss);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].bytes, 5 * mib);
}

TEST(Request, PrefersThePhaseThenTheExactSize) {
  const std::vector<LiveGroup> all{
      tensors({5, 1024, 1024}, DType::fp32, Phase::forward, 9), tensors({5, 1024, 1024}, DType::fp32, Phase::loss),
      tensors({7, 1024, 1024}, DType::fp32, Phase::loss), tensors({3}, DType::fp32, Phase::loss)};
  const std::vector<Match> found = matches_of(size("20.00 MiB", 20 * mib), all, Phase::loss);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].tensors.born, Phase::loss);
  EXPECT_TRUE(found[0].same_phase);
  EXPECT_EQ(found[1].bytes, 20 * mib);
  EXPECT_EQ(matches_of(size("20.00 MiB", 20 * mib), all, {}).front().tensors.count, 9);
}

/// A run that holds 10 GiB once loaded and 20 GiB at the most, in the loss.
Prediction prediction() {
  Prediction out{.config = "c.yaml"};
  const auto peak = [](Phase phase, std::int64_t weights, std::int64_t loss) {
    PhasePeak p{.phase = phase, .step = 1, .total = Bytes(weights + loss)};
    at(p.by_bucket, Bucket::weights) = Bytes(weights);
    at(p.by_bucket, Bucket::logits_and_loss) = Bytes(loss);
    return p;
  };
  out.peaks = {peak(Phase::load, 10 * gib, 0), peak(Phase::forward, 10 * gib, 2 * gib),
               peak(Phase::loss, 10 * gib, 10 * gib)};
  return out;
}

Diagnosis failure(const std::string& phase, std::int64_t allocated, std::int64_t total) {
  Diagnosis out{.out_of_memory = true, .place = Where::gpu};
  out.verdict.cause = Cause::vram_exhausted;
  out.moment.phase = phase;
  if (const MomentText* moment = book().rules().find_moment(phase)) out.moment.played = moment->played;
  out.facts = {size("2.00 GiB", 2 * gib), named("allocated", allocated), named("total", total)};
  return out;
}

TEST(Join, ComparesThePhaseOfTheFailure) {
  const Join found = join(failure("forward", 11 * gib, 24 * gib), prediction());
  EXPECT_EQ(found.phase, "forward");
  EXPECT_THAT(found.compared, ElementsAre(Compared{"tensors", 12 * gib, 13 * gib}));
  EXPECT_THAT(found.contradictions, IsEmpty());
  EXPECT_EQ(found.requested, "2.00 GiB");
  EXPECT_THAT(found.matches, IsEmpty());
}

TEST(Join, FarMoreThanTheConfigCanHoldIsAnotherRun) {
  EXPECT_THAT(join(failure("loss", 26 * gib, 80 * gib), prediction()).contradictions, IsEmpty());
  EXPECT_THAT(join(failure("loss", 26 * gib + 1, 80 * gib), prediction()).contradictions,
              ElementsAre(HasSubstr("predicts 20.00 GiB of tensors at the most, and the log shows 26.00 GiB")));
}

TEST(Join, FarLessThanTheLoadedModelIsAnotherModel) {
  EXPECT_THAT(join(failure("loss", 5 * gib, 8 * gib), prediction()).contradictions,
              ElementsAre(HasSubstr("predicts 10.00 GiB once the model is loaded, and only 5.00 GiB")));
  EXPECT_THAT(join(failure("load", 5 * gib, 8 * gib), prediction()).contradictions, IsEmpty());
}

TEST(Join, AnotherGpuAndARunThatShouldFitAreSaid) {
  Prediction p = prediction();
  p.gpu = "a100-80gb";
  p.gpu_total = 79 * gib;
  p.needed = 22 * gib;
  EXPECT_THAT(join(failure("loss", 19 * gib, 24 * gib), p).contradictions,
              ElementsAre("the GPU of the log has 24.00 GiB, and the one of --gpu 79.00 GiB",
                          HasSubstr("needs 22.00 GiB of the 79.00 GiB of --gpu, and yet it ran out")));
}

TEST(Join, HoldsTheCategoriesOfASnapshotAgainstBuckets) {
  Diagnosis d = failure("loss", 15 * gib, 24 * gib);
  d.accounts.push_back({.requested = gib, .categories = {{"weights", 9 * gib, 1, {}}, {"other", gib, 1, {}}}});
  EXPECT_THAT(join(d, prediction()).compared,
              ElementsAre(Compared{"tensors", 20 * gib, 17 * gib}, Compared{"weights", 10 * gib, 9 * gib}));
}

TEST(Join, SaysWhyThereIsNoPrediction) {
  const Join found = join(failure("loss", gib, gib), {.config = "c.yaml", .problem = "no such file"});
  EXPECT_EQ(found.problem, "no such file");
  EXPECT_THAT(found.compared, IsEmpty());
}

}  // namespace
}  // namespace oomplan::diagnose
