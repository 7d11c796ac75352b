// A process tree seen from outside.
#include <sys/statvfs.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "child.hpp"
#include "oomplan/measure/measure.hpp"
#include "process.hpp"

namespace oomplan::measure {
namespace {

constexpr std::chrono::microseconds between_looks{20'000};
constexpr std::chrono::microseconds first_pause{500};

std::int64_t dev_shm_used() {
  struct statvfs status {};
  if (::statvfs("/dev/shm", &status) != 0) return 0;
  return static_cast<std::int64_t>((status.f_blocks - status.f_bfree) * status.f_frsize);
}

void look(int pid, std::int64_t shm_before, TreeMemory& memory) {
  const std::vector<int> tree = process_tree(pid);
  std::vector<ProportionalMemory> parts;
  for (const int process : tree) {
    parts.push_back(proportional_of(std::to_string(process)));
    memory.peak_rss = std::max(memory.peak_rss, memory_of(std::to_string(process)).peak_rss);
  }
  // Without those that ended meanwhile: the ones that were read after them have their share of a page too.
  ProportionalMemory sum;
  for (std::size_t i = 0; i < tree.size(); ++i) {
    if (memory_of(std::to_string(tree[i])).rss == 0) continue;
    sum.total += parts[i].total;
    sum.anonymous += parts[i].anonymous;
    sum.shared += parts[i].shared;
  }
  if (sum.total > 0) ++memory.looks;  // it may have ended in between
  memory.processes = std::max(memory.processes, static_cast<std::int64_t>(tree.size()));
  memory.pss = std::max(memory.pss, sum.total);
  memory.anonymous = std::max(memory.anonymous, sum.anonymous);
  memory.shared = std::max(memory.shared, sum.shared);
  memory.dev_shm = std::max(memory.dev_shm, dev_shm_used() - shm_before);
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
