// The words of the vocabulary.
#include <algorithm>
#include <array>

#include "oomplan/diagnose/evidence.hpp"

namespace oomplan {
namespace {

constexpr std::array<std::string_view, 27> says_words{"gpu_alloc_failed",
                                                      "gpu_library_failed",
                                                      "gpu_kernel_limit",
                                                      "host_alloc_failed",
                                                      "kernel_killed",
                                                      "kernel_detail",
                                                      "kernel_short",
                                                      "cgroup_killed",
                                                      "daemon_killed",
                                                      "kubernetes_killed",
                                                      "node_killed",
                                                      "slurm_killed",
                                                      "shm_full",
                                                      "disk_full",
                                                      "killed",
                                                      "bus_error",
                                                      "other_failure",
                                                      "consequence",
                                                      "launcher",
                                                      "harmless",
                                                      "caught",
                                                      "hint",
                                                      "detail",
                                                      "setting",
                                                      "memory_state",
                                                      "progress",
                                                      "frame"};
constexpr std::array<std::string_view, 4> where_words{"gpu", "host", "storage", "none"};
constexpr std::array<std::string_view, 17> cause_words{"vram_exhausted",
                                                       "vram_fragmentation",
                                                       "vram_other_process",
                                                       "vram_leak_suspected",
                                                       "gpu_library_alloc",
                                                       "gpu_shared_mem_limit",
                                                       "cgroup_oom",
                                                       "global_host_oom",
                                                       "userspace_oom_daemon",
                                                       "k8s_oomkilled",
                                                       "slurm_oom",
                                                       "shm_exhausted",
                                                       "host_alloc_failed",
                                                       "disk_full",
                                                       "sigkill_unknown",
                                                       "unknown",
                                                       "not_oom"};
constexpr std::array<std::string_view, 3> confidence_words{"possible", "likely", "proved"};

template <class Enum, std::size_t n>
std::optional<Enum> named(const std::array<std::string_view, n>& words, std::string_view name) {
  const auto found = std::find(words.begin(), words.end(), name);
  if (found == words.end()) return std::nullopt;
  return static_cast<Enum>(found - words.begin());
}

}  // namespace

std::string_view name_of(Says says) { return says_words[static_cast<std::size_t>(says)]; }
std::optional<Says> says_named(std::string_view name) { return named<Says>(says_words, name); }
std::string_view name_of(Where where) { return where_words[static_cast<std::size_t>(where)]; }
std::optional<Where> where_named(std::string_view name) { return named<Where>(where_words, name); }
std::string_view name_of(Cause cause) { return cause_words[static_cast<std::size_t>(cause)]; }
std::optional<Cause> cause_named(std::string_view name) { return named<Cause>(cause_words, name); }
std::string_view name_of(Confidence confidence) { return confidence_words[static_cast<std::size_t>(confidence)]; }

const Reading* Evidence::find(std::string_view name) const {
  for (const Reading& fact : facts)
    if (fact.name == name) return &fact;
  return nullptr;
}

std::optional<std::int64_t> Evidence::number(std::string_view name) const {
  const Reading* fact = find(name);
  if (fact == nullptr || fact->kind == Reading::Kind::text || fact->kind == Reading::Kind::real) return std::nullopt;
  return fact->integer;
}

std::string Evidence::text_of(std::string_view name) const {
  const Reading* fact = find(name);
  return fact == nullptr ? std::string() : fact->text;
}

}  // namespace oomplan
