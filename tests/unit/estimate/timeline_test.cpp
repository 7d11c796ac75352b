// The timeline of hand-written runs, of which every figure can be counted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string_view>

#include "readings.hpp"
#include "unroll.hpp"

namespace oomplan::estimator {
namespace {

constexpr std::int64_t kib = 1024;

/// What the blocks of a run do, in KiB. Forward: keeps 4, makes and frees 2, hands on 3 and frees what it was handed.
/// The head makes 8. Backward: makes a gradient, hands down 3, frees what forward kept. At last all gradients go.
struct Script {
  int blocks = 5;
  std::int64_t gradient = 1;
  int odd_block = -1;            ///< Keeps 8 and not 4.
  bool gradients_leave = false;  ///< Gradients go outside of any block.
  bool outer = false;            ///< Each block frees something that was made outside of any.
  bool kernels = false;          ///< In backward a kernel of each block takes 64 for itself.
};

class Player {
 public:
  explicit Player(const Script& script) : s_(script) {}

  Recorder play() {
    r_.step = 1;
    r_.mark(Phase::forward);
    for (int i = 0; s_.outer && i < s_.blocks; ++i) outer_.push_back(make(1, "outer", Bucket::inputs));
    for (int i = 0; i < s_.blocks; ++i) in_block(i, [&] { forward(i); });
    head();
    for (int i = s_.blocks - 1; i >= 0; --i) in_block(i, [&] { backward(i); });
    r_.release(flowing_);
    r_.mark(Phase::optimizer_step);
    for (int i = 0; i < s_.blocks; ++i) in_block(s_.gradients_leave ? -1 : i, [&] { let_go_of_gradient(i); });
    return std::move(r_);
  }

 private:
  void forward(int i) {
    kept_.push_back(make(i == s_.odd_block ? 8 : 4, "kept", Bucket::activations));
    r_.release(make(2, "passing", Bucket::temporaries));
    hand_on();
    if (s_.outer) r_.release(outer_[static_cast<std::size_t>(i)]);
  }

  void head() {
    r_.mark(Phase::loss);
    const StorageId logits = make(8, "logits", Bucket::logits_and_loss);
    r_.release(flowing_);
    flowing_ = StorageId::none;
    r_.mark(Phase::backward);
    r_.release(logits);
  }

  void backward(int i) {
    gradients_.push_back(make(s_.gradient, "gradient", Bucket::gradients));
    if (s_.kernels) r_.release(make(64, "kernel", Bucket::runtime));
    hand_on();
    r_.release(kept_[static_cast<std::size_t>(i)]);
  }

  void let_go_of_gradient(int i) { r_.release(gradients_[static_cast<std::size_t>(s_.blocks - 1 - i)]); }

  void hand_on() {
    const StorageId next = make(3, "flowing", Bucket::temporaries);
    if (flowing_ != StorageId::none) r_.release(flowing_);
    flowing_ = next;
  }

  StorageId make(std::int64_t size, const char* op, Bucket bucket) {
    r_.scope.bucket = bucket;
    return r_.allocate({size * kib}, DType::uint8, op);
  }

  void in_block(int i, const std::function<void()>& work) {
    r_.scope.layer = static_cast<std::int16_t>(i);
    work();
    r_.scope.layer = -1;
  }

  Script s_;
  Recorder r_{};
  StorageId flowing_ = StorageId::none;
  std::vector<StorageId> outer_{};
  std::vector<StorageId> kept_{};
  std::vector<StorageId> gradients_{};
};

Recorder played(const Script& script) { return Player(script).play(); }

FullPeak of(const std::vector<FullPeak>& moments, Phase phase) {
  for (const FullPeak& m : moments) {
    if (m.phase == phase) return m;
  }
  ADD_FAILURE() << "no " << name_of(phase);
  return {};
}

const Storage& storage(const Recorder& r, const Live& live) {
  return r.storages[static_cast<std::size_t>(live.storage)];
}

std::int64_t bytes_at(const Recorder& r, const Repetition& repetition, const Peak& moment) {
  std::int64_t bytes = 0;
  for (const Live& live : alive_at(r, repetition, moment)) bytes += live.count * storage(r, live).bytes;
  return bytes;
}

TEST(Timeline, PeaksOfARunPlayedWhole) {
  const std::vector<FullPeak> moments = peaks(played({.blocks = 3}), {3, 3});
  ASSERT_EQ(moments.size(), 4U);
  EXPECT_EQ(moments[0].phase, Phase::forward);
  EXPECT_EQ(moments[0].bytes, (3 * 4 + 2 * 3) * kib);  // What flows in and what flows out.
  EXPECT_EQ(moments[1].phase, Phase::loss);
  EXPECT_EQ(moments[1].bytes, (3 * 4 + 3 + 8) * kib);
  EXPECT_EQ(moments[2].phase, Phase::backward);
  EXPECT_EQ(moments[2].bytes, (3 * 4 + 8) * kib);  // As it begins.
  EXPECT_EQ(moments[3].phase, Phase::optimizer_step);
  EXPECT_EQ(moments[3].bytes, 3 * kib);
  for (const Peak& m : moments) EXPECT_EQ(m.step, 1);
}

TEST(Timeline, FiveBlocksStandForAHundred) {
  const Recorder r = played({});
  const Repetition repetition{5, 100};
  EXPECT_EQ(repetition.times(2), 96);
  ASSERT_TRUE(repeats_exactly(r, repetition));
  const std::vector<FullPeak> moments = peaks(r, repetition);
  EXPECT_EQ(of(moments, Phase::forward).bytes, (100 * 4 + 2 * 3) * kib);
  EXPECT_EQ(of(moments, Phase::loss).bytes, (100 * 4 + 3 + 8) * kib);
  EXPECT_EQ(of(moments, Phase::optimizer_step).bytes, 100 * kib);
  EXPECT_EQ(event_count(r, repetition), 100 * (5 + 4 + 1) - 2 + 4);
}

TEST(Timeline, WhereBackwardGrowsItsPeakIsInTheFirstBlock) {
  const Recorder r = played({.gradient = 16});
  const Peak backward = of(peaks(r, {5, 100}), Phase::backward);
  EXPECT_EQ(backward.bytes, (100 * 16 + 4 + 2 * 3) * kib);  // All gradients and what the first block kept.
}

TEST(Timeline, WhatTheRepeatedBlocksMadeIsCountedForEachOfThem) {
  const Recorder r = played({});
  const Repetition repetition{5, 100};
  std::int64_t kept = 0;
  for (const Live& l : alive_at(r, repetition, of(peaks(r, repetition), Phase::forward))) {
    if (std::string_view(storage(r, l).op) != "kept") continue;
    kept += l.count;
    if (storage(r, l).layer != 2) continue;
    EXPECT_EQ(l.count, 96);
    EXPECT_EQ(l.first_layer, 2);
    EXPECT_EQ(l.last_layer, 97);
  }
  EXPECT_EQ(kept, 100);
}

TEST(Timeline, LayersBehindTheRepeatedOnesHaveTheirRealNumbers) {
  const Recorder r = played({});
  const Repetition repetition{5, 100};
  std::vector<int> first;
  for (const Live& l : alive_at(r, repetition, of(peaks(r, repetition), Phase::loss))) first.push_back(l.first_layer);
  EXPECT_THAT(first, ::testing::UnorderedElementsAre(0, 1, 2, 98, 99, 99, -1));  // 99 flows still.
}

TEST(Timeline, HalfWayBackTheEarlierBlocksKeepTheirsAndTheLaterHaveGradients) {
  const Recorder r = played({});
  const Repetition repetition{5, 100};
  Peak half;  // The middle block's gradient in backward, the tenth time: block 97 - 9.
  for (std::size_t i = 0; i < r.events.size(); ++i) {
    const Storage& s = r.storages[static_cast<std::size_t>(r.events[i].storage)];
    if (r.events[i].allocates && s.layer == 2 && std::string_view(s.op) == "gradient") {
      half.moment.event = static_cast<std::int32_t>(i);
    }
  }
  const Timeline timeline(r, repetition);
  while (timeline.at(half.moment.stretch).end <= half.moment.event) ++half.moment.stretch;
  half.moment.turn = 9;
  std::int64_t kept = 0, gradients = 0;
  for (const Live& l : alive_at(r, repetition, half)) {
    const std::string_view op = storage(r, l).op;
    (op == "kept" ? kept : gradients) += op == "flowing" ? 0 : l.count;
    if (storage(r, l).layer != 2 || op == "flowing") continue;
    EXPECT_EQ(l.first_layer, op == "kept" ? 2 : 88);
    EXPECT_EQ(l.last_layer, op == "kept" ? 88 : 97);
  }
  EXPECT_EQ(kept, 89);
  EXPECT_EQ(gradients, 12);
}

TEST(Timeline, EveryPeakIsTheSumOfWhatIsAliveAndTheSameAsPlayedWhole) {
  for (const std::int64_t gradient : {1, 3, 4, 5, 16}) {
    const Recorder few = played({.gradient = gradient});
    const Recorder all = played({.blocks = 23, .gradient = gradient});
    const Repetition repeated{5, 23};
    const Repetition whole{23, 23};
    ASSERT_TRUE(repeats_exactly(few, repeated));
    const std::vector<FullPeak> a = peaks(few, repeated);
    const std::vector<FullPeak> b = peaks(all, whole);
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      EXPECT_EQ(a[i].bytes, b[i].bytes) << gradient << ' ' << name_of(a[i].phase);
      EXPECT_EQ(bytes_at(few, repeated, a[i]), a[i].bytes) << gradient << ' ' << name_of(a[i].phase);
      EXPECT_EQ(bytes_at(all, whole, b[i]), b[i].bytes) << gradient << ' ' << name_of(a[i].phase);
    }
    const std::vector<Peak> of_buckets = bucket_peaks(few, repeated);
    const std::vector<Peak> of_buckets_whole = bucket_peaks(all, whole);
    for (std::size_t i = 0; i < bucket_count; ++i) EXPECT_EQ(of_buckets[i].bytes, of_buckets_whole[i].bytes) << i;
    EXPECT_EQ(event_count(few, repeated), event_count(all, whole));
  }
}

TEST(Timeline, ABucketsPeakCountsItsOwnBytesOnly) {
  const std::vector<Peak> moments = bucket_peaks(played({}), {5, 100});
  const auto peak = [&](Bucket bucket) { return moments[static_cast<std::size_t>(bucket)]; };
  EXPECT_EQ(peak(Bucket::activations).bytes, 400 * kib);
  EXPECT_EQ(peak(Bucket::temporaries).bytes, 2 * 3 * kib);
  EXPECT_EQ(peak(Bucket::logits_and_loss).bytes, 8 * kib);
  EXPECT_EQ(peak(Bucket::logits_and_loss).phase, Phase::loss);
  EXPECT_EQ(peak(Bucket::gradients).bytes, 100 * kib);
  EXPECT_EQ(peak(Bucket::gradients).phase, Phase::backward);
  EXPECT_EQ(peak(Bucket::optimizer).bytes, 0);
}

TEST(Timeline, WhatKernelsTakeIsOfNoPeak) {
  const std::vector<FullPeak> without = peaks(played({.blocks = 5}), {5, 100});
  const std::vector<FullPeak> with = peaks(played({.blocks = 5, .kernels = true}), {5, 100});
  ASSERT_EQ(with.size(), without.size());
  for (std::size_t i = 0; i < with.size(); ++i) EXPECT_EQ(with[i].bytes, without[i].bytes);
}

TEST(Timeline, WhatKernelsTakeHasSlotsBehindThoseOfTensors) {
  const Recorder recorder = played({.blocks = 5, .kernels = true});
  const Unrolled run = unroll(Timeline(recorder, {5, 100}));
  int kernels = 0;
  std::uint32_t highest = 0;
  for (const oomplan::Event& e : run.events) {
    if (e.kind != oomplan::Event::Kind::allocate) continue;
    EXPECT_EQ(e.slot >= run.first_scratch, e.value == 64 * kib);
    kernels += e.value == 64 * kib ? 1 : 0;
    if (e.slot < run.first_scratch) highest = std::max(highest, e.slot);
  }
  EXPECT_EQ(kernels, 100);
  EXPECT_EQ(run.first_scratch, highest + 1);  // None is left out between.
}

TEST(Timeline, AnEmptyRunHasNoPeak) {
  Recorder r;
  EXPECT_TRUE(peaks(r, {0, 0}).empty());
  r.mark(Phase::load);
  ASSERT_EQ(peaks(r, {0, 0}).size(), 1U);
  EXPECT_EQ(peaks(r, {0, 0})[0].bytes, 0);
  EXPECT_TRUE(alive_at(r, {0, 0}, peaks(r, {0, 0})[0]).empty());
}

TEST(Repetition, HoldsWhereTheMiddleAndItsNeighboursAreAlike) {
  const Repetition repetition{5, 9};
  EXPECT_TRUE(repeats_exactly(played({}), repetition));
  EXPECT_TRUE(repeats_exactly(played({.odd_block = 0}), repetition));  // The ends may differ.
  EXPECT_TRUE(repeats_exactly(played({.odd_block = 4}), repetition));
}

TEST(Repetition, FailsWhereOneOfThemDiffers) {
  for (const int block : {1, 2, 3}) EXPECT_FALSE(repeats_exactly(played({.odd_block = block}), {5, 9})) << block;
}

TEST(Repetition, FailsWhereWhatABlockMadeGoesFarFromIt) {
  EXPECT_FALSE(repeats_exactly(played({.gradients_leave = true}), {5, 9}));
}

TEST(Repetition, FailsWhereABlockFreesWhatWasMadeOutside) {
  EXPECT_FALSE(repeats_exactly(played({.outer = true}), {5, 9}));
}

}  // namespace
}  // namespace oomplan::estimator
