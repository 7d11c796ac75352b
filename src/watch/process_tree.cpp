#include "process_tree.hpp"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "files.hpp"

namespace oomplan::watching {

std::optional<Process> process_in(const std::string& stat) {
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  char state = 0;
  int parent = 0;
  unsigned flags = 0;
  long pages = 0;
  const char* rest = stat.c_str() + name_end + 1;
  const int read = std::sscanf(  // NOLINT(cert-err34-c)
      rest, " %c %d %*s %*s %*s %*s %u %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %ld", &state, &parent,
      &flags, &pages);
  if (read != 4 || state == 'Z') return std::nullopt;
  constexpr unsigned pf_exiting = 0x4;  // include/linux/sched.h
  return Process{static_cast<pid_t>(std::atoi(stat.c_str())), parent, pages, (flags & pf_exiting) != 0};
}

namespace {

std::vector<Process> all_processes() {
  std::vector<Process> out;
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(opendir("/proc"), closedir);
  while (const dirent* entry = proc ? readdir(proc.get()) : nullptr) {
    if (entry->d_name[0] < '1' || entry->d_name[0] > '9') continue;
    if (const auto process = process_in(text_of(std::string("/proc/") + entry->d_name + "/stat")))
      out.push_back(*process);
  }
  std::ranges::sort(out, {}, &Process::pid);
  return out;
}

bool is_below(std::vector<Process>& all, Process& process, pid_t root) {
  if (process.of_the_tree || process.parent == root) return process.of_the_tree = true;
  const auto parent = std::ranges::lower_bound(all, process.parent, {}, &Process::pid);
  if (parent == all.end() || parent->pid != process.parent || parent->parent == process.pid) return false;
  return process.of_the_tree = parent->of_the_tree;
}

}  // namespace

TreeUse tree_use(pid_t root) {
  std::vector<Process> all = all_processes();
  // Numbers wrap around, so that a parent may come after its child.
  for (bool found = true; found;) {
    found = false;
    for (Process& process : all) found = (!process.of_the_tree && is_below(all, process, root)) || found;
  }
  TreeUse out;
  const Process* largest = nullptr;
  for (const Process& process : all) {
    if (!process.of_the_tree) continue;
    out.rss += process.pages * sysconf(_SC_PAGESIZE);
    ++out.processes;
    if (largest == nullptr || process.pages > largest->pages) largest = &process;
  }
  out.largest = largest == nullptr ? 0 : largest->pid;
  return out;
}

std::optional<std::int64_t> address_space_of(pid_t pid) {
  return number_after(text_of("/proc/" + std::to_string(pid) + "/limits"), "Max address space");
}

}  // namespace oomplan::watching
