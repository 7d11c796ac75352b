// Files of /proc and /sys, in which names are anybody's; and what comes of them in the account of a job.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "cgroup.hpp"
#include "files.hpp"
#include "oomplan/diagnose/diagnose.hpp"
#include "process_tree.hpp"
#include "require.hpp"

namespace {

using namespace oomplan;

const Rulebook& rules() {
  static const Rulebook book = *Rulebook::load();
  return book;
}

/// A job that the kernel killed in the cgroup `path`.
void killed_in(const std::string& path) {
  Ended end{.exit_code = 137, .signal = 9};
  end.samples.cgroups.push_back({.path = path, .limit = 1 << 20, .highest = 1 << 20, .kills = 1, .limit_met = 1});
  const std::string account = account_of(end);
  for (const char c : account) require(c == '\n' || static_cast<unsigned char>(c) >= 0x20, "nothing drives a terminal");
  require(std::ranges::count(account, '\n') == 4, "a name does not make lines");
  if (path.size() > 500) return;  // longer ones than a sentence may be
  require(diagnose_text(rules(), account, "log").verdict.cause == Cause::cgroup_oom, "an account is understood");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  (void)watching::process_in(text);
  (void)watching::number_after(text, "oom_kill");
  (void)watching::number_after(text, "Max address space");
  const watching::Membership at = watching::membership_in(text);
  require(at.path.find('\n') == std::string::npos, "a path is in one line");
  if (!at.path.empty()) killed_in(at.path);
  return 0;
}
