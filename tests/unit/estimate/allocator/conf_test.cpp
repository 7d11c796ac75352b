// PYTORCH_ALLOC_CONF: what is taken, and what is refused with a place.
#include <gtest/gtest.h>

#include "sheet.hpp"

namespace oomplan {
namespace {

using example::settings;

/// "1:5 code: message", all of them.
std::string refusal(const std::string& conf) {
  const auto read = parse_alloc_conf(conf, "conf");
  if (read) return "taken";
  std::string out;
  for (const Diagnostic& d : read.errors()) {
    out += (out.empty() ? "" : "; ") + std::to_string(d.where.column) + " " + d.code + ": " + d.message;
    EXPECT_EQ(d.where.file, "conf");
    EXPECT_EQ(d.excerpt, conf);
  }
  return out;
}

TEST(AllocConf, NothingIsTheDefaults) {
  EXPECT_EQ(settings(""), AllocatorSettings());
  EXPECT_EQ(settings(" "), AllocatorSettings());
}

TEST(AllocConf, ReadsEverySetting) {
  const AllocatorSettings all = settings(
      "expandable_segments:True,large_segment_size_mb:32,max_split_size_mb:128,max_non_split_rounding_mb:64,"
      "garbage_collection_threshold:0.8,per_process_memory_fraction:0.5,backend:native,roundup_power2_divisions:8");
  EXPECT_TRUE(all.expandable_segments);
  EXPECT_EQ(all.large_segment, Bytes::mib(32));
  EXPECT_EQ(all.max_split, Bytes::mib(128));
  EXPECT_EQ(all.max_non_split_rounding, Bytes::mib(64));
  EXPECT_EQ(all.garbage_collection_threshold, 0.8);
  EXPECT_EQ(all.memory_fraction, 0.5);
  for (const auto divisions : all.roundup_divisions) EXPECT_EQ(divisions, 8);
}

TEST(AllocConf, BlanksAndATrailingCommaCountNothing) {
  EXPECT_EQ(settings(" max_split_size_mb : 64 , expandable_segments: True,"),
            settings("max_split_size_mb:64,expandable_segments:True"));
}

TEST(AllocConf, TheLatterOfTwoHolds) {
  EXPECT_EQ(settings("max_split_size_mb:64,max_split_size_mb:32"), settings("max_split_size_mb:32"));
}

TEST(AllocConf, TheLimitOfRoundingFollowsTheSegment) {
  EXPECT_EQ(settings("large_segment_size_mb:64").max_non_split_rounding, Bytes::mib(64));
  EXPECT_EQ(settings("max_non_split_rounding_mb:100,large_segment_size_mb:64").max_non_split_rounding, Bytes::mib(100));
}

TEST(AllocConf, RoundupListsFillFromBelow) {
  const auto divisions = settings("roundup_power2_divisions:[4:2,8:4,64:0,>:16]").roundup_divisions;
  const std::array<std::int64_t, 16> wanted{2, 2, 2, 4, 0, 0, 0, 16, 16, 16, 16, 16, 16, 16, 16, 16};
  EXPECT_EQ(divisions, wanted);
  EXPECT_EQ(settings("roundup_power2_divisions:[]"), AllocatorSettings());
  EXPECT_EQ(settings("roundup_power2_divisions:[1048576:2,>:4]").roundup_divisions.back(), 4);
}

TEST(AllocConf, KeysWithoutEffectOnTheCardAreTaken) {
  EXPECT_EQ(settings("pinned_num_register_threads:4,release_lock_on_cudamalloc:True"), AllocatorSettings());
}

TEST(AllocConf, AnUnknownKeyIsNamedWithTheNearest) {
  EXPECT_EQ(refusal("expandable_segment:True"),
            "1 estimate/unknown-alloc-key: torch knows no allocator setting 'expandable_segment'");
  EXPECT_EQ(parse_alloc_conf("max_split_size:64", "conf").errors().front().hint, "did you mean 'max_split_size_mb'?");
}

TEST(AllocConf, TheDriversPoolIsNotModelled) {
  EXPECT_EQ(refusal("backend:cudaMallocAsync"), "9 estimate/unmodelled: backend:cudaMallocAsync is not modelled");
}

TEST(AllocConf, ValuesThatTorchRefusesAreRefused) {
  const auto bad = [](const std::string& conf) {
    return refusal(conf).find(" estimate/bad-alloc-conf: ") != std::string::npos;
  };
  for (const char* conf : {"expandable_segments:true",
                           "expandable_segments:1",
                           "max_split_size_mb:19",
                           "max_split_size_mb:-1",
                           "max_split_size_mb:64MB",
                           "max_split_size_mb:",
                           "max_split_size_mb",
                           "max_split_size_mb=64",
                           ",",
                           "max_split_size_mb:64,,",
                           "large_segment_size_mb:10",
                           "max_split_size_mb:32,large_segment_size_mb:64",
                           "max_non_split_rounding_mb:10",
                           "garbage_collection_threshold:1.0",
                           "garbage_collection_threshold:0",
                           "garbage_collection_threshold:nan",
                           "per_process_memory_fraction:1.1",
                           "roundup_power2_divisions:3",
                           "roundup_power2_divisions:0",
                           "roundup_power2_divisions:[3:2]",
                           "roundup_power2_divisions:[64:3]",
                           "roundup_power2_divisions:[64:8,256:4",
                           "roundup_power2_divisions:[64]",
                           "backend:foo",
                           "max_split_size_mb:[64:2]",
                           "max_split_size_mb:99999999999999999999"}) {
    EXPECT_TRUE(bad(conf)) << conf << ": " << refusal(conf);
  }
}

TEST(AllocConf, AllThatIsWrongIsSaid) {
  EXPECT_EQ(refusal("max_split_size_mb:5,foo:1"),
            "21 estimate/unknown-alloc-key: torch knows no allocator setting 'foo'; "
            "19 estimate/bad-alloc-conf: max_split_size_mb: expected at least 20, found '5'");
}

TEST(AllocConf, HugeSizesSaturate) {
  EXPECT_EQ(settings("max_split_size_mb:9223372036854775807").max_split, Bytes::max());
  Allocator allocator(settings("large_segment_size_mb:9223372036854775807,max_split_size_mb:9223372036854775807"));
  EXPECT_FALSE(allocator.allocate(0, Bytes(Card::unlimited.count() + 1)));
}

}  // namespace
}  // namespace oomplan
