// A process tree seen from outside.
#include <sys/statvfs.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include "child.hpp"
#include "oomplan/measure.hpp"
#include "process.hpp"

namespace oomplan::measure {
namespace {

constexpr std::chrono::microseconds between_looks{20'000};
constexpr std::chrono::microseconds first_pause{500};
constexpr int most_tries = 3;

std::int64_t dev_shm_used() {
  struct statvfs status {};
  if (::statvfs("/dev/shm", &status) != 0) return 0;
  return static_cast<std::int64_t>((status.f_blocks - status.f_bfree) * status.f_frsize);
}

/// None where one of them ended meanwhile: those that were read after it have its share of a page too.
std::optional<ProportionalMemory> together(const std::vector<int>& tree, TreeMemory& memory) {
  ProportionalMemory sum;
  std::vector<bool> lived;
  for (const int process : tree) {
    const ProportionalMemory part = proportional_of(std::to_string(process));
    sum.total += part.total;
    sum.anonymous += part.anonymous;
    sum.shared += part.shared;
    lived.push_back(part.total > 0);
  }
  bool ended = false;
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const ProcessMemory now = memory_of(std::to_string(tree[i]));
    memory.peak_rss = std::max(memory.peak_rss, now.peak_rss);
    ended = ended || (lived[i] && now.rss == 0);
  }
  return ended ? std::nullopt : std::optional(sum);
}

void look(int pid, std::int64_t shm_before, TreeMemory& memory) {
  std::optional<ProportionalMemory> sum;
  for (int i = 0; !sum && i < most_tries; ++i) {
    const std::vector<int> tree = process_tree(pid);
    memory.processes = std::max(memory.processes, static_cast<std::int64_t>(tree.size()));
    sum = together(tree, memory);
  }
  memory.dev_shm = std::max(memory.dev_shm, dev_shm_used() - shm_before);
  if (!sum || sum->total == 0) return;  // it may have ended in between
  ++memory.looks;
  memory.pss = std::max(memory.pss, sum->total);
  memory.anonymous = std::max(memory.anonymous, sum->anonymous);
  memory.shared = std::max(memory.shared, sum->shared);
}

}  // namespace

Result<Watched> watch(const std::vector<std::string>& words, bool keep_output) {
  Watched out;
  Child child;
  const auto begin = std::chrono::steady_clock::now();
  const std::int64_t shm_before = dev_shm_used();
  if (Result<bool> started = child.start(words, keep_output); !started) return started.errors();
  for (auto pause = first_pause; !child.poll(out); pause = std::min(2 * pause, between_looks)) {
    look(child.pid(), shm_before, out.memory);
    std::this_thread::sleep_for(pause);
  }
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return out;
}

}  // namespace oomplan::measure
