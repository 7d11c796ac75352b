#include <gmock/gmock.h>

#include <cmath>
#include <random>
#include <vector>

#include "cgroup.hpp"
#include "oomplan/measure/measure.hpp"
#include "size_sketch.hpp"
#include "temporary.hpp"

namespace oomplan::measure {
namespace {

TEST(Watch, SeesThePeakOfAProcessAndItsChildren) {
  const std::string child = "python3 -c 'import time; x = bytearray(100 << 20); time.sleep(1.5)'";
  const auto watched = watch({"/bin/sh", "-c", child + " & " + child + " & wait"}, false);
  ASSERT_TRUE(watched.ok());
  EXPECT_EQ(watched->exit, 0);
  EXPECT_GE(watched->memory.processes, 3);
  EXPECT_GE(watched->memory.anonymous, 200 << 20);
  EXPECT_GE(watched->memory.peak_rss, 100 << 20);
  EXPECT_LE(watched->memory.peak_rss, 200 << 20);
  EXPECT_GE(watched->memory.pss, watched->memory.anonymous);
}

TEST(Watch, CountsSharedPagesOnce) {
  const std::string script =
      "import os, time; x = bytearray(100 << 20); pid = os.fork(); time.sleep(1.5); pid and os.wait()";
  const auto watched = watch({"python3", "-c", script}, false);
  ASSERT_TRUE(watched.ok());
  EXPECT_GE(watched->memory.anonymous, 100 << 20);
  EXPECT_LE(watched->memory.anonymous, 170 << 20);
}

TEST(Watch, CountsSharedPagesOnceWhileProcessesEnd) {
  const std::string script = R"(
import os, time
x = bytearray(64 << 20)
for _ in range(60):
    for i in range(8):
        if os.fork() == 0: time.sleep(0.004 + 0.002 * i); os._exit(0)
    for _ in range(8): os.wait()
)";
  const auto watched = watch({"python3", "-c", script}, false);
  ASSERT_TRUE(watched.ok());
  EXPECT_GE(watched->memory.anonymous, 64 << 20);
  EXPECT_LE(watched->memory.anonymous, 84 << 20);
}

TEST(Watch, KeepsOutputAndTellsHowItEnded) {
  EXPECT_EQ(watch({"/bin/echo", "text"}, true)->out, "text\n");
  EXPECT_EQ(watch({"/bin/sh", "-c", "exit 3"}, true)->exit, 3);
  EXPECT_EQ(watch({"/bin/sh", "-c", "kill -9 $$"}, true)->exit, 137);
  EXPECT_EQ(watch({"/no/such/program"}, true).errors()[0].code, "measure/cannot-run");
}

CgroupMemory memory_in(const Temporary& root, const std::string& membership) {
  const auto cgroup = cgroup_of(root.path(), membership);
  return cgroup ? memory_of(*cgroup) : CgroupMemory{};
}

TEST(Cgroup, OfBothVersions) {
  const Temporary folder;
  folder.file("job/memory.peak", "123\n");
  folder.file("job/memory.stat", "anon 1\nfile 45\nfile_mapped 6\n");
  folder.file("memory/old/memory.max_usage_in_bytes", "678\n");
  folder.file("memory/old/memory.stat", "cache 1\ntotal_cache 9\n");
  EXPECT_EQ(memory_in(folder, "0::/job\n").peak, 123);
  EXPECT_EQ(memory_in(folder, "0::/job\n").file, 45);
  EXPECT_EQ(memory_in(folder, "5:cpu:/x\n4:memory:/old\n0::/none\n").peak, 678);
  EXPECT_EQ(memory_in(folder, "4:memory:/old\n").file, 9);
  EXPECT_FALSE(memory_in(folder, "0::/none\n").peak.has_value());
}

TEST(Cgroup, OneOfItsOwnIsUnderTheSameLimits) {
  const Temporary folder;
  folder.file("v1/memory.use_hierarchy", "1\n");
  folder.file("flat/memory.use_hierarchy", "0\n");
  const auto v1 = [&](const std::string& name) { return folder_for_own(folder.path(), {folder.path() + name, true}); };
  EXPECT_EQ(v1("/v1"), folder.path() + "/v1");
  EXPECT_EQ(v1("/flat"), "");
  folder.file("slice/cgroup.subtree_control", "cpu memory pids\n");
  folder.file("slice/free/memory.max", "max\n");
  folder.file("slice/bound/memory.max", "1000\n");
  folder.file("slice/deep/er/memory.max", "max\n");
  const auto v2 = [&](const std::string& name) { return folder_for_own(folder.path(), {folder.path() + name, false}); };
  EXPECT_EQ(v2("/slice"), folder.path() + "/slice");
  EXPECT_EQ(v2("/slice/free"), folder.path() + "/slice");
  EXPECT_EQ(v2("/slice/bound"), "");
  EXPECT_EQ(v2("/slice/deep/er"), "");
  EXPECT_EQ(v2(""), "");
}

TEST(SizeSketch, IsWithinOnePercent) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> lengths(7, 2);
  SizeSketch sketch;
  std::vector<std::int64_t> all;
  for (int i = 0; i < 100'000; ++i) all.push_back(static_cast<std::int64_t>(lengths(random)));
  double sum = 0;
  for (const std::int64_t size : all) sketch.add(size), sum += static_cast<double>(size);
  std::sort(all.begin(), all.end());
  const RowSizes sizes = sketch.sizes();
  EXPECT_NEAR(static_cast<double>(sizes.p50), static_cast<double>(all[49'999]),
              0.011 * static_cast<double>(all[49'999]));
  EXPECT_NEAR(static_cast<double>(sizes.p99), static_cast<double>(all[98'999]),
              0.011 * static_cast<double>(all[98'999]));
  EXPECT_EQ(sizes.longest, all.back());
  EXPECT_NEAR(sizes.mean, sum / 1e5, 1e-6 * sizes.mean);
  EXPECT_EQ(SizeSketch().sizes().longest, 0);
}

}  // namespace
}  // namespace oomplan::measure
