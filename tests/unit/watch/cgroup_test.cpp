#include "cgroup.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace oomplan::watching {
namespace {

namespace fs = std::filesystem;

/// A /proc and a /sys of the test's own.
class Cgroups : public testing::Test {
 protected:
  Cgroups() : root_(fs::temp_directory_path() / ("oomplan-cgroup-" + std::to_string(getpid()))) {}
  ~Cgroups() override { fs::remove_all(root_); }

  void put(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  /// In which cgroups it is said to be; `flags` are the kernel's of a process.
  void put_job(const std::string& cgroups, const std::string& flags = "4194304", char state = 'S') {
    put("proc/7/cgroup", cgroups);
    put("proc/7/stat", std::string("7 (job) ") + state + " 1 7 7 0 -1 " + flags +
                           " 223 0 0 0 0 0 0 0 20 0 1 0 3862413 0 16 18446744073709551615\n");
  }
  void put_v2(const std::string& folder, std::int64_t current, const std::string& max, int oom, int kills) {
    const std::string at = "sys/fs/cgroup" + folder;
    put(at + "/memory.current", std::to_string(current) + "\n");
    put(at + "/memory.max", max + "\n");
    put(at + "/memory.peak", std::to_string(current) + "\n");
    put(at + "/memory.events", "low 0\nhigh 0\nmax 9\noom " + std::to_string(oom) + "\noom_kill " +
                                   std::to_string(kills) + "\noom_group_kill 0\n");
  }
  void put_v1(const std::string& folder, int fails, int kills) {
    const std::string at = "sys/fs/cgroup/memory" + folder;
    put(at + "/memory.usage_in_bytes", "10\n");
    put(at + "/memory.max_usage_in_bytes", std::to_string(40 + fails) + "\n");
    put(at + "/memory.limit_in_bytes", "64\n");
    put(at + "/memory.failcnt", std::to_string(fails) + "\n");
    put(at + "/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill " + std::to_string(kills) + "\n");
  }
  std::vector<CgroupUse> seen() {
    watch_.sample(7);
    return watch_.uses();
  }

  fs::path root_;
  CgroupWatch watch_{root_.string()};
};

TEST_F(Cgroups, CountsOnlyWhatHappenedSinceItLookedFirst) {
  put_job("0::/pod/job\n");
  put_v2("/pod/job", 100, "max", 0, 2);
  put_v2("/pod", 200, "1000", 4, 3);
  EXPECT_EQ(seen()[0].kills, 0);
  put_v2("/pod/job", 50, "max", 0, 3);
  put_v2("/pod", 990, "1000", 5, 4);
  const std::vector<CgroupUse> uses = seen();
  ASSERT_EQ(uses.size(), 2U);
  EXPECT_EQ(uses[0].path, "/pod/job");
  EXPECT_EQ(uses[0].limit, std::nullopt);
  EXPECT_EQ(uses[0].highest, 100);
  EXPECT_EQ(uses[0].kills, 1);
  EXPECT_EQ(uses[0].limit_met, 0);
  EXPECT_EQ(uses[1].limit, 1000);
  EXPECT_EQ(uses[1].highest, 990);
  EXPECT_EQ(uses[1].limit_met, 1);
}

TEST_F(Cgroups, APeakFromBeforeTheJobIsNotItsOwn) {
  put_job("0::/a\n");
  put_v2("/a", 500, "1000", 0, 0);
  seen();
  put_v2("/a", 100, "1000", 0, 0);
  put("sys/fs/cgroup/a/memory.peak", "500\n");
  EXPECT_EQ(seen()[0].highest, 500);  // it was in use when it was looked at first
}

TEST_F(Cgroups, V1CountsWhereItIsMounted) {
  put_job("5:cpu,cpuacct:/x\n4:memory:/job\n0::/y\n");
  put_v1("/job", 0, 0);
  seen();
  put_v1("/job", 7, 1);
  const std::vector<CgroupUse> uses = seen();
  ASSERT_EQ(uses.size(), 1U);
  EXPECT_EQ(uses[0].limit, 64);
  EXPECT_EQ(uses[0].highest, 47);
  EXPECT_EQ(uses[0].limit_met, 7);
  EXPECT_EQ(uses[0].kills, 1);
}

TEST_F(Cgroups, AContainerSeesItsOwnAtTheRootOfTheMount) {
  put_job("0::/docker/4f\n");
  put_v2("", 10, "64", 0, 0);
  const std::vector<CgroupUse> uses = seen();
  ASSERT_EQ(uses.size(), 1U);
  EXPECT_EQ(uses[0].path, "/");
  EXPECT_EQ(uses[0].limit, 64);
}

TEST_F(Cgroups, KeepsTheCountersOfAJobThatIsGone) {
  put_job("0::/a\n");
  put_v2("/a", 5, "10", 0, 0);
  seen();
  fs::remove_all(root_ / "proc");
  put_v2("/a", 0, "10", 1, 1);
  EXPECT_EQ(seen()[0].kills, 1);
}

// v1 says "/" of it then, and of the root's counters nothing is the job's.
TEST_F(Cgroups, AJobOnItsWayOutIsWhereItWas) {
  for (const auto& [flags, state] : {std::pair{"4194308", 'R'}, std::pair{"4227148", 'Z'}}) {
    put_job("4:memory:/job\n");
    put_v1("", 0, 0);
    put_v1("/job", 0, 0);
    seen();
    put_job("4:memory:/\n", flags, state);
    put_v1("/job", 7, 1);
    EXPECT_EQ(seen()[0].path, "/job") << state;
    EXPECT_EQ(seen()[0].kills, 1) << state;
  }
}

TEST_F(Cgroups, NothingIsReadWhereThereIsNothing) { EXPECT_TRUE(seen().empty()); }

}  // namespace
}  // namespace oomplan::watching
