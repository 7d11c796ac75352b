#include "torch/recorder.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace oomplan::estimator {
namespace {

TEST(Recorder, RoundsEachStorageUpTo512) {
  Recorder r;
  const auto bytes = [&](const Dims& shape, DType dtype) { return r.at(r.allocate(shape, dtype, "op")).bytes; };
  EXPECT_EQ(bytes({0}, DType::fp32), 0);
  EXPECT_EQ(bytes({}, DType::fp32), 512);
  EXPECT_EQ(bytes({1}, DType::boolean), 512);
  EXPECT_EQ(bytes({128}, DType::fp32), 512);
  EXPECT_EQ(bytes({129}, DType::fp32), 1024);
  EXPECT_EQ(bytes({3, 100}, DType::int64), 2560);  // 2400.
  EXPECT_EQ(bytes({1024}, DType::bf16), 2048);
}

TEST(Recorder, WritesAllocationsAndFreesInTheirOrder) {
  Recorder r;
  const StorageId a = r.allocate({1}, DType::fp32, "a");
  const StorageId b = r.allocate({1}, DType::fp32, "b");
  r.release(a);
  r.release(b);
  ASSERT_EQ(r.events.size(), 4U);
  const auto is = [&](std::size_t i, StorageId id, bool allocates) {
    EXPECT_EQ(r.events[i].storage, id) << i;
    EXPECT_EQ(r.events[i].allocates, allocates) << i;
  };
  is(0, a, true);
  is(1, b, true);
  is(2, a, false);
  is(3, b, false);
}

TEST(Recorder, FreesWithTheLastReference) {
  Recorder r;
  const StorageId a = r.allocate({1}, DType::fp32, "a");
  r.retain(a);
  r.release(a);
  EXPECT_EQ(r.events.size(), 1U);
  r.release(a);
  EXPECT_EQ(r.events.size(), 2U);
}

TEST(Recorder, AStorageKnowsWhatWasAtWorkWhenItWasBorn) {
  Recorder r;
  r.scope = {.layer = 3, .module = 7, .phase = Phase::forward, .bucket = Bucket::logits_and_loss};
  const Storage& s = r.at(r.allocate({2, 5}, DType::bf16, "aten::mm"));
  EXPECT_EQ(s.layer, 3);
  EXPECT_EQ(s.module, 7);
  EXPECT_EQ(s.born, Phase::forward);
  EXPECT_EQ(s.bucket, Bucket::logits_and_loss);
  EXPECT_EQ(s.dtype, DType::bf16);
  EXPECT_STREQ(s.op, "aten::mm");
  EXPECT_EQ(s.shape, (Dims{2, 5}));
}

TEST(Recorder, AFreeBelongsToTheBlockAtWorkAndNotToTheOwner) {
  Recorder r;
  r.scope.layer = 1;
  const StorageId a = r.allocate({1}, DType::fp32, "a");
  r.scope.layer = 2;
  r.release(a);
  EXPECT_EQ(r.events[0].layer, 1);
  EXPECT_EQ(r.events[1].layer, 2);
}

TEST(Recorder, AMarkBeginsAPhaseAtTheNextEvent) {
  Recorder r;
  r.mark(Phase::load);
  r.allocate({1}, DType::fp32, "a");
  r.step = 1;
  r.mark(Phase::forward);
  EXPECT_EQ(r.at(r.allocate({1}, DType::fp32, "b")).born, Phase::forward);
  ASSERT_EQ(r.marks.size(), 2U);
  EXPECT_EQ(r.marks[0].first, 0);
  EXPECT_EQ(r.marks[0].step, 0);
  EXPECT_EQ(r.marks[1].first, 1);
  EXPECT_EQ(r.marks[1].step, 1);
  EXPECT_EQ(r.marks[1].phase, Phase::forward);
}

TEST(Recorder, AnAbsurdSizeSaturates) {
  Recorder r;
  const std::int64_t huge = std::int64_t{1} << 40;
  EXPECT_EQ(r.at(r.allocate({huge, huge}, DType::fp32, "a")).bytes, std::numeric_limits<std::int64_t>::max());
}

}  // namespace
}  // namespace oomplan::estimator
