// Which sentence everything else follows from.
#include <algorithm>

#include "case.hpp"
#include "hole.hpp"

namespace oomplan::diagnose {
namespace {

constexpr int no_root = 100;

// The sources of truth, best first. Who killed knows; an allocator with numbers knows what it lacked; a runtime error
// knows only that; a launcher knows an exit code.
int tier_of_launcher(const Evidence& evidence) {
  const std::string signal = signal_of(evidence);
  if (signal == "SIGBUS") return 30;
  if (signal == "SIGKILL") return 40;
  if (signal == "SIGTERM" || signal == "SIGINT") return 62;
  if (!signal.empty()) return 50;
  if (evidence.family == "dataloader_signal") return 45;
  const auto code = evidence.number("exitcode").value_or(evidence.number("exit_code").value_or(1));
  return code == 0 ? no_root : 70;
}

int tier_of(const Evidence& evidence) {
  switch (evidence.says) {
    case Says::kernel_killed:
      return 0;
    case Says::kernel_detail:
      return evidence.find("constraint") != nullptr ? 1 : evidence.find("pid") != nullptr ? 2 : 8;
    case Says::cgroup_killed:
      return evidence.number("events").value_or(1) == 0 ? no_root : 5;  // memory.events that counts no kill
    case Says::slurm_killed:
    case Says::kubernetes_killed:
    case Says::daemon_killed:
    case Says::node_killed:
      return 5;
    case Says::gpu_alloc_failed:
      if (evidence.find("absurd") != nullptr) return 20;
      return evidence.find("requested") != nullptr ? 10 : 20;
    case Says::host_alloc_failed:
    case Says::shm_full:
    case Says::disk_full:
    case Says::gpu_kernel_limit:
      return 10;
    case Says::gpu_library_failed:
      return 20;
    case Says::kernel_short:
      return 25;
    case Says::memory_state:
      return evidence.number("ooms").value_or(0) > 0 ? 28 : no_root;
    case Says::bus_error:
      return 30;
    case Says::killed:
      return 41;
    case Says::other_failure:
      return evidence.find("errno") != nullptr ? 59 : 60;
    case Says::launcher:
      return tier_of_launcher(evidence);
    case Says::caught:
      return 80;
    case Says::harmless:
      return 85;
    case Says::consequence:
      return 90;
    default:
      return no_root;
  }
}

bool same_speaker(const Evidence& a, const Evidence& b) {
  return a.where.file == b.where.file && a.rank == b.rank && a.source == b.source;
}

constexpr int steps_of_a_run_that_goes_on = 5;

bool is_traceback(const Evidence& e) { return e.says == Says::frame && e.find("path") == nullptr; }

// The program says that it goes on, and the next thing that it does is not to die.
bool was_handled(const std::vector<Evidence>& all, const Evidence& failure) {
  bool handled = false;
  for (const Evidence& e : all) {
    if (e.order < failure.order) continue;
    if (handled && e.says == Says::progress) return true;
    if (handled && is_traceback(e)) return false;
    handled = handled || e.says == Says::caught;
  }
  return false;
}

// Or it goes on for long without a word.
bool went_on(const std::vector<Evidence>& all, const Evidence& failure) {
  int steps = 0;
  for (const Evidence& e : all) {
    if (e.order <= failure.order) continue;
    if (is_traceback(e) || e.says == Says::launcher || e.says == Says::killed) return false;
    if (e.says == Says::progress && e.find("step") != nullptr && same_speaker(e, failure)) ++steps;
  }
  return steps >= steps_of_a_run_that_goes_on;
}

// A limit that was met "at some point" killed nothing if anything came after.
bool was_soft(const std::vector<Evidence>& all, const Evidence& failure) {
  if (failure.find("soft") == nullptr) return false;
  return std::any_of(all.begin(), all.end(),
                     [&](const Evidence& e) { return e.order > failure.order && e.says == Says::progress; });
}

bool was_survived(const std::vector<Evidence>& all, const Evidence& failure) {
  return was_soft(all, failure) || was_handled(all, failure) || went_on(all, failure);
}

// An allocator's failure in a program that tries smaller and smaller sizes on purpose, or that skips a batch.
bool can_be_survived(const Evidence& e) {
  return e.says == Says::gpu_alloc_failed || e.says == Says::host_alloc_failed || e.says == Says::gpu_library_failed ||
         e.find("soft") != nullptr;
}

}  // namespace

std::string signal_of(const Evidence& evidence) {
  if (const Reading* signal = evidence.find("signal")) return signal->text;
  std::int64_t code = evidence.number("exitcode").value_or(evidence.number("exit_code").value_or(0));
  if (code > 128 && code < 160) code = 128 - code;
  return code < 0 ? std::string(signal_named(std::to_string(code))) : std::string();
}

const Evidence* root_of(const std::vector<Evidence>& evidence, bool& survived) {
  const Evidence* best = nullptr;
  const Evidence* best_survived = nullptr;
  int asked = 0;  // each question reads all evidence, so there are not many
  for (const Evidence& e : evidence) {
    const int tier = tier_of(e);
    if (tier >= no_root) continue;
    if (can_be_survived(e) && asked < 64) {
      ++asked;
      if (was_survived(evidence, e)) {
        if (best_survived == nullptr) best_survived = &e;
        continue;
      }
    }
    if (best == nullptr || tier < tier_of(*best)) best = &e;
  }
  survived = best_survived != nullptr && (best == nullptr || tier_of(*best) >= 70);
  return survived ? best_survived : best;
}

}  // namespace oomplan::diagnose
