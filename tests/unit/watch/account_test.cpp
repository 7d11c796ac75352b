#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oomplan/watch/watch.hpp"

namespace oomplan {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t mib = std::int64_t{1} << 20;

Ended killed(const std::vector<CgroupUse>& cgroups, std::optional<std::int64_t> host_kills) {
  Ended out{.exit_code = 137, .signal = 9, .seconds = 12.34};
  out.samples.cgroups = cgroups;
  out.samples.host_kills = host_kills;
  return out;
}

TEST(Account, TheLimitThatWasMetIsNamed) {
  const std::string text =
      account_of(killed({{"/pod/job", {}, 60 * mib, 1, 0}, {"/pod", 64 * mib, 64 * mib, 1, 3}}, 1));
  EXPECT_THAT(text, HasSubstr("the job was ended by SIGKILL after 12.3 s\n"));
  EXPECT_THAT(text, HasSubstr("the kernel killed 1 process for memory: cgroup /pod met its limit of 64.00 MiB"));
}

TEST(Account, ANeighboursDeathIsNotTheJobs) {
  const std::string text = account_of(killed({{"/pods/job", {}, mib, 0, 0}, {"/pods", 64 * mib, 64 * mib, 1, 3}}, 1));
  EXPECT_THAT(text, HasSubstr("the kernel killed 1 process for memory on this host meanwhile"));
  EXPECT_THAT(text, Not(HasSubstr("met its limit")));
}

TEST(Account, AKillWithoutALimitIsTheHosts) {
  EXPECT_THAT(account_of(killed({{"/job", 64 * mib, 10 * mib, 2, 0}}, 2)),
              HasSubstr("killed 2 processes of the job's cgroup for memory, and no cgroup had met its limit"));
}

TEST(Account, NobodyIsSaidToBeKilledOnlyWhereItIsKnown) {
  EXPECT_THAT(account_of(killed({}, 0)), HasSubstr("the kernel killed 0 processes for memory on this host meanwhile"));
  EXPECT_THAT(account_of(killed({}, {})), Not(HasSubstr("the kernel killed")));
}

TEST(Account, WhatTheJobNamesCannotDriveATerminal) {
  EXPECT_THAT(account_of(killed({{"/\x1b[2J", mib, mib, 1, 1}}, 1)), Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace oomplan
