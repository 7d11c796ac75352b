#include "survivors.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <new>
#include <span>

#include "parallel.hpp"

namespace oomplan::cli {
namespace {

constexpr std::array bug_signals{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

/// What is known of a task, in memory that parent and child share.
struct Trace {
  std::atomic<bool> in_hand{false};
  std::atomic<bool> suspect{false};
  std::atomic<int> ended_by{0};
};

/// Empty where the system has no memory to share.
std::span<Trace> shared_traces(std::size_t count) {
  void* const memory = ::mmap(nullptr, std::max<std::size_t>(count, 1) * sizeof(Trace), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return {};
  auto* const first = static_cast<Trace*>(memory);
  for (std::size_t i = 0; i < count; ++i) new (first + i) Trace();
  return {first, count};
}

int status_of(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) == -1 && errno == EINTR) {
  }
  return status;
}

/// Nothing of this process is written or put away: the child has done that.
[[noreturn]] void end_as(int status) {
  if (WIFEXITED(status)) ::_exit(WEXITSTATUS(status));
  std::signal(WTERMSIG(status), SIG_DFL);
  std::raise(WTERMSIG(status));
  ::_exit(128 + WTERMSIG(status));
}

/// Notes what the signal says of the tasks in hand; false where it says nothing.
bool note(std::span<Trace> traces, int signal) {
  if (std::ranges::count(bug_signals, signal) == 0) return false;
  const auto in_hand = std::ranges::count_if(traces, [](const Trace& one) { return one.in_hand.load(); });
  for (Trace& one : traces) {
    if (!one.in_hand.exchange(false)) continue;
    if (in_hand == 1) one.ended_by = signal;
    one.suspect = true;
  }
  return in_hand > 0;
}

/// Comes back in a child, or where there can be none.
void go_on_in_child(std::span<Trace> traces) {
  const pid_t parent = ::getpid();
  while (true) {
    const pid_t child = ::fork();
    if (child < 0) return;
    if (child == 0) {
#ifdef __linux__  // elsewhere a child whose parent is killed judges on to its end
      ::prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
      if (::getppid() != parent) ::_exit(128 + SIGTERM);
      return;
    }
    const int status = status_of(child);
    if (!WIFSIGNALED(status) || !note(traces, WTERMSIG(status))) end_as(status);
  }
}

}  // namespace

void for_each_surviving(std::size_t count, const std::function<void(std::size_t)>& task,
                        const std::function<void(std::size_t, int)>& lost) {
  const std::span<Trace> traces = shared_traces(count);
  if (traces.empty()) return for_each_index(count, task);
  go_on_in_child(traces);
  const auto once = [&](std::size_t i) {
    traces[i].in_hand = true;
    task(i);
    traces[i].in_hand = false;
  };
  for (std::size_t i = 0; i < count; ++i) {
    if (traces[i].ended_by != 0) lost(i, traces[i].ended_by);
    if (traces[i].ended_by == 0 && traces[i].suspect) once(i);
  }
  for_each_index(count, [&](std::size_t i) {
    if (!traces[i].suspect) once(i);
  });
}

}  // namespace oomplan::cli
