// A process tree seen from outside.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "cgroup.hpp"
#include "oomplan/measure.hpp"
#include "process.hpp"

namespace oomplan::measure {
namespace {

constexpr std::size_t most_output = std::size_t{16} << 20;
constexpr std::chrono::milliseconds between_looks{20};

std::int64_t dev_shm_used() {
  struct statvfs status {};
  if (::statvfs("/dev/shm", &status) != 0) return 0;
  return static_cast<std::int64_t>((status.f_blocks - status.f_bfree) * status.f_frsize);
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

/// In the child: the words become a program. What goes wrong is told through `failure`.
[[noreturn]] void become(const std::vector<std::string>& words, int output, int failure) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  ::dup2(output, STDOUT_FILENO);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  const int error = errno;
  [[maybe_unused]] const ssize_t told = ::write(failure, &error, sizeof error);
  ::_exit(127);
}

Diagnostic cannot_run(const std::string& program, int error) {
  return {.code = "measure/cannot-run", .message = "cannot run '" + program + "': " + std::strerror(error)};
}

class Child {
 public:
  Result<bool> start(const std::vector<std::string>& words, bool keep_output) {
    std::array<int, 2> output{-1, -1};
    std::array<int, 2> failure{-1, -1};
    if (::pipe2(failure.data(), O_CLOEXEC) != 0) return cannot_run(words[0], errno);
    if (keep_output && ::pipe2(output.data(), O_CLOEXEC) != 0) return cannot_run(words[0], errno);
    pid_ = ::fork();
    if (pid_ < 0) return cannot_run(words[0], errno);
    if (pid_ == 0) become(words, keep_output ? output[1] : STDERR_FILENO, failure[1]);
    ::close(failure[1]);
    if (keep_output) ::close(output[1]);
    output_ = output[0];
    if (keep_output) ::fcntl(output_, F_SETFL, O_NONBLOCK);
    int error = 0;
    const bool failed = ::read(failure[0], &error, sizeof error) == sizeof error;
    ::close(failure[0]);
    if (!failed) return true;
    ::waitpid(pid_, nullptr, 0);
    return cannot_run(words[0], error);
  }

  /// Whether it is over.
  bool poll(Watched& out) {
    drain(out.out);
    int status = 0;
    rusage usage{};
    if (::wait4(pid_, &status, WNOHANG, &usage) != pid_) return false;
    drain(out.out);
    if (output_ >= 0) ::close(output_);
    out.exit = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    out.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    // Until it became a program it was a copy of this process, and the kernel counts that too.
    const std::int64_t peak = std::int64_t{usage.ru_maxrss} * 1024;
    if (peak > before_) out.memory.peak_rss = std::max(out.memory.peak_rss, peak);
    return true;
  }

  int pid() const { return pid_; }

 private:
  void drain(std::string& out) const {
    std::array<char, 65536> piece;
    while (output_ >= 0) {
      const ssize_t got = ::read(output_, piece.data(), piece.size());
      if (got <= 0) return;
      if (out.size() < most_output) out.append(piece.data(), static_cast<std::size_t>(got));
    }
  }

  const std::int64_t before_ = memory_of_this_process().peak_rss;
  int pid_ = -1;
  int output_ = -1;
};

void look(int pid, std::int64_t shm_before, TreeMemory& memory) {
  ProportionalMemory sum;
  const std::vector<int> tree = process_tree(pid);
  for (const int process : tree) {
    const ProportionalMemory part = proportional_of(std::to_string(process));
    sum.total += part.total;
    sum.anonymous += part.anonymous;
    sum.shared += part.shared;
    memory.peak_rss = std::max(memory.peak_rss, memory_of(std::to_string(process)).peak_rss);
  }
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
  while (!child.poll(out)) {
    look(child.pid(), shm_before, out.memory);
    std::this_thread::sleep_for(between_looks);
  }
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const CgroupMemory cgroup = cgroup_memory();
  out.memory.cgroup_peak = cgroup.peak;
  out.memory.page_cache = cgroup.file;
  return out;
}

}  // namespace oomplan::measure
