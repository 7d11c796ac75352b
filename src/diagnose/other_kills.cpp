#include "other_kills.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "case.hpp"
#include "reader.hpp"

namespace oomplan::diagnose {
namespace {

using namespace std::string_view_literals;

bool is_kill(const Evidence& e) {
  return e.says == Says::kernel_killed || e.says == Says::kernel_detail || e.says == Says::node_killed ||
         e.says == Says::kubernetes_killed || e.family == "systemd_oomd" || e.family == "earlyoom";
}

// Somebody died without a word, or the others found that out.
bool tells_of_vanished(const Evidence& e) {
  if (e.says == Says::killed || e.says == Says::bus_error || e.says == Says::consequence) return true;
  if (e.says == Says::slurm_killed || e.says == Says::cgroup_killed) return true;
  if (e.find("vanished") != nullptr || e.family == "dataloader_signal") return true;
  const std::string signal = signal_of(e);
  return e.says == Says::launcher && (signal == "SIGKILL" || signal == "SIGBUS");
}

// An error of talking to others comes of their death as well.
bool is_about_others(const Evidence& e) {
  constexpr std::array families{"network"sv, "elastic"sv, "process"sv, "mpi_abort"sv, "nccl_watchdog"sv};
  if (e.family.starts_with("nccl") || std::ranges::find(families, e.family) != families.end()) return true;
  constexpr std::array words{"onnection"sv, "peer"sv,  "Pipe"sv,   "pipe"sv,      "EOF"sv,        "imed out"sv,
                             "imeout"sv,    "Dist"sv,  "worker"sv, "Worker"sv,    "child"sv,      "Process"sv,
                             "process"sv,   "rank "sv, "signal"sv, "exit code"sv, "exit status"sv};
  return std::ranges::any_of(words, [&](std::string_view word) { return e.text.find(word) != std::string::npos; });
}

}  // namespace

bool tells_own_end(const Evidence& e, const std::vector<Line>& lines) {
  if (!e.line || e.find("quoted") != nullptr) return false;
  if (e.says == Says::gpu_alloc_failed || e.says == Says::gpu_kernel_limit || e.says == Says::disk_full) return true;
  if (e.says == Says::gpu_library_failed) return !is_vague(e) && may_be_of_memory(e);
  return e.says == Says::other_failure && below_frame(lines, *e.line) && !is_about_others(e);
}

OtherKills::OtherKills(const std::vector<Evidence>& all, const std::vector<Line>& lines,
                       const std::function<bool(std::size_t)>& survived) {
  if (std::ranges::none_of(all, is_kill)) return;
  for (std::size_t i = 0; i < all.size() && !someone_vanished_; ++i) {
    const Evidence& e = all[i];
    someone_vanished_ = tells_of_vanished(e);
    if (ended_.size() == 2 || std::ranges::find(ended_, e.where.file) != ended_.end()) continue;
    if (e.find("finished") != nullptr || (tells_own_end(e, lines) && !survived(i))) ended_.push_back(e.where.file);
  }
}

bool OtherKills::operator()(const Evidence& kill) const {
  if (someone_vanished_ || !is_kill(kill)) return false;
  return std::ranges::any_of(ended_, [&](const std::string& file) { return file != kill.where.file; });
}

}  // namespace oomplan::diagnose
