// The played allocator against PyTorch's own (tests/data/allocator), to the byte.
#include <gtest/gtest.h>

#include "project.hpp"
#include "replayed.hpp"

namespace oomplan::replayed {
namespace {

const std::vector<Case>& cases() {
  static const std::vector<Case> all = read_truth(project_folder() + "/tests/data/allocator/truth.json");
  return all;
}

TEST(AllocatorTruth, EveryFigureIsExact) {
  for (const Case& c : cases()) {
    const Outcome outcome = compare(c, play(c));
    for (const Difference& d : outcome.wrong) {
      ADD_FAILURE() << c.id << " " << c.conf << ": " << d.what << " " << d.played << ", not " << d.truth;
    }
  }
}

// A truth that lacks a kind of setting would let its rules break unseen.
TEST(AllocatorTruth, CoversEverySettingAndFailures) {
  for (const char* key : {"expandable_segments", "large_segment_size_mb", "max_split_size_mb",
                          "max_non_split_rounding_mb", "garbage_collection_threshold", "roundup_power2_divisions:[",
                          "roundup_power2_divisions:", "per_process_memory_fraction"}) {
    int failures = 0;
    int all = 0;
    for (const Case& c : cases()) {
      if (c.conf.find(key) == std::string::npos) continue;
      ++all;
      failures += c.truth.failure ? 1 : 0;
    }
    EXPECT_GE(all, 2) << key;
    EXPECT_GE(failures, 1) << key;
    EXPECT_LT(failures, all) << key;
  }
}

TEST(AllocatorTruth, AWrongFigureIsSeen) {
  Case c = cases().front();
  c.truth.peak_reserved += 1;
  ++c.truth.retries;
  c.truth.failure.reset();
  const Result played = play(cases().front());
  EXPECT_GE(compare(c, played).wrong.size(), 2U);
  EXPECT_GT(compare(c, played).worst, 0);
}

}  // namespace
}  // namespace oomplan::replayed
