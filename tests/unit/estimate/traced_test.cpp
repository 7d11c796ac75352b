// A played run as a memory snapshot: read back and played again it is the same run.
#include "oomplan/estimate/traced.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

#include "oomplan/catalog/catalog.hpp"
#include "oomplan/estimate/estimate.hpp"
#include "oomplan/estimate/recording.hpp"

namespace oomplan {
namespace {

TrainingPlan plan(const std::string& conf) {
  TrainingPlan p;
  p.batch.micro_batch_size.value = 2;
  p.batch.sequence_length.value = 128;
  p.batch.gradient_accumulation_steps.value = 1;
  p.precision.weights_dtype.value = WeightsDType::fp32;
  p.precision.autocast.value = Autocast::bf16;
  p.optimizer.name.value = "adamw_foreach";
  p.kernels.attention.value = Attention::sdpa;
  p.optimizer.set_grads_to_none.value = true;
  p.runtime.alloc_conf.value = conf;
  return p;
}

TEST(Traced, PlaysAsTheRunThatItIsOf) {
  const auto model = find_model("openai-community/gpt2");
  ASSERT_TRUE(model);
  for (const std::string conf :
       {"", "expandable_segments:True", "max_split_size_mb:64", "roundup_power2_divisions:4"}) {
    const TrainingPlan p = plan(conf);
    const auto snapshot = snapshot_of(p, *model, Bytes::mib(8));
    ASSERT_TRUE(snapshot) << conf;
    const auto recording = recording_of(*snapshot, 0);
    ASSERT_TRUE(recording) << conf;
    EXPECT_TRUE(recording->start.empty()) << conf;  // it was recorded from the beginning on
    const PlayedRecording played = play_as_recorded(*recording);
    EXPECT_EQ(played.agreement.at_their_address, played.agreement.allocations) << conf;
    EXPECT_EQ(played.agreement.same, played.agreement.segments) << conf;

    const auto footprint = estimate(p, *model, Detail::events);
    ASSERT_TRUE(footprint);
    ASSERT_FALSE(footprint->cublas_handles.empty());
    const Reservation reservation(footprint->events, *parse_alloc_conf(conf, ""),
                                  {Bytes::mib(8), footprint->cublas_handles}, {SegmentOrder::descending});
    EXPECT_EQ(played.statistics.peak_reserved, reservation.reserved().peak) << conf;
    EXPECT_EQ(played.statistics.peak_allocated, reservation.reserved().allocated) << conf;
  }
}

TEST(Traced, EveryAllocationSaysItsOpItsBucketAndItsPhase) {
  const auto model = find_model("openai-community/gpt2");
  ASSERT_TRUE(model);
  const auto snapshot = snapshot_of(plan(""), *model);
  ASSERT_TRUE(snapshot);
  std::set<std::string> files;
  std::set<std::string> functions;
  for (const SnapshotEvent& event : snapshot->traces.at(0)) {
    if (event.action != SnapshotEvent::Action::allocate) continue;
    const SnapshotStack& stack = snapshot->stacks.at(event.stack);
    ASSERT_EQ(stack.size(), 3U);
    files.insert(snapshot->frames[stack[0]].file);
    for (const std::uint32_t frame : stack) functions.insert(snapshot->frames[frame].function);
  }
  EXPECT_TRUE(files.contains("transformer.h.0.mlp"));
  EXPECT_TRUE(files.contains("transformer.h.11.mlp"));
  EXPECT_FALSE(files.contains("transformer.h.*.mlp"));
  for (const char* name : {"parameter", "weights", "activations", "gradients", "optimizer", "load of step 0",
                           "forward of step 1", "backward of step 2"}) {
    EXPECT_TRUE(functions.contains(name)) << name;
  }
}

TEST(Allocator, BeginsWithWhatAnotherHeld) {
  for (const bool expandable : {false, true}) {
    AllocatorSettings settings;
    settings.expandable_segments = expandable;
    std::mt19937_64 random(7);
    Allocator one(settings);
    std::set<std::uint32_t> live;
    for (int i = 0; i < 4000; ++i) {
      const auto slot = static_cast<std::uint32_t>(random() % 300);
      if (live.erase(slot) > 0) {
        one.free(slot);
      } else {
        ASSERT_TRUE(
            one.allocate(slot, Bytes(static_cast<std::int64_t>(random() % (std::uint64_t{1} << (9 + i % 16))) + 1)));
        live.insert(slot);
      }
      if (i % 1000 == 999) one.empty_cache();
    }
    const std::vector<HeldSegment> held = one.held();
    Allocator other(settings);
    ASSERT_TRUE(other.hold(held));
    EXPECT_EQ(other.statistics().reserved, one.statistics().reserved);
    EXPECT_EQ(other.statistics().allocated, one.statistics().allocated);
    EXPECT_EQ(other.statistics().fragmented, one.statistics().fragmented);
    for (const std::uint32_t slot : live) EXPECT_EQ(other.address(slot), one.address(slot));
    const std::vector<HeldSegment> again = other.held();
    ASSERT_EQ(again.size(), held.size());
    for (std::size_t i = 0; i < held.size(); ++i) {
      EXPECT_EQ(again[i].address, held[i].address);
      EXPECT_EQ(again[i].size, held[i].size);
      EXPECT_EQ(again[i].small, held[i].small);
      EXPECT_EQ(again[i].pieces.size(), held[i].pieces.size());
    }
  }
}

}  // namespace
}  // namespace oomplan
