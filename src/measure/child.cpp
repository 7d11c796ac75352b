#include "child.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "process.hpp"

namespace oomplan::measure {
namespace {

constexpr std::size_t most_output = std::size_t{16} << 20;
constexpr std::int64_t pages_of_exec = 256 << 10;

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

template <class T>
void tell(int descriptor, const T& value) {
  [[maybe_unused]] const ssize_t told = ::write(descriptor, &value, sizeof value);
}

template <class T>
bool hear(int descriptor, T& value) {
  return ::read(descriptor, &value, sizeof value) == sizeof value;
}

Diagnostic cannot_run(const std::string& program, int error) {
  return {.code = "measure/cannot-run", .message = "cannot run '" + program + "': " + std::strerror(error)};
}

}  // namespace

/// In the child: the words become a program. What goes wrong is told through `told`.
void Child::become(const std::vector<std::string>& words, int output, int told) const {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  signals_.restore();
  ::signal(SIGPIPE, SIG_DFL);
  ::dup2(output, STDOUT_FILENO);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  Begun begun{.inside = cgroup_.enter()};
  memory_of_this_process();  // once before it counts, as asking takes pages too
  begun.peak = memory_of_this_process().peak_rss + pages_of_exec;
  tell(told, begun);
  ::execvp(arguments[0], arguments.data());
  tell(told, errno);
  ::_exit(127);
}

Result<bool> Child::start(const std::vector<std::string>& words, bool keep_output) {
  std::array<int, 2> output{-1, -1};
  std::array<int, 2> told{-1, -1};
  if (::pipe2(told.data(), O_CLOEXEC) != 0) return cannot_run(words[0], errno);
  if (keep_output && ::pipe2(output.data(), O_CLOEXEC) != 0) return cannot_run(words[0], errno);
  pid_ = ::fork();
  if (pid_ < 0) return cannot_run(words[0], errno);
  if (pid_ == 0) become(words, keep_output ? output[1] : STDERR_FILENO, told[1]);
  signals_.to(pid_);
  ::close(told[1]);
  if (keep_output) ::close(output[1]);
  output_ = output[0];
  if (keep_output) ::fcntl(output_, F_SETFL, O_NONBLOCK);
  return await(told[0], words[0]);
}

Result<bool> Child::await(int told, const std::string& program) {
  int error = 0;
  const bool begun = hear(told, begun_);
  const bool failed = begun && hear(told, error);
  ::close(told);
  if (!failed) return true;
  ::waitpid(pid_, nullptr, 0);
  return cannot_run(program, error);
}

bool Child::poll(Watched& out) {
  drain(out.out);
  int status = 0;
  rusage usage{};
  if (::wait4(pid_, &status, WNOHANG, &usage) != pid_) return false;
  drain(out.out);
  if (output_ >= 0) ::close(output_);
  out.exit = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  out.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  const std::int64_t peak = std::int64_t{usage.ru_maxrss} * 1024;
  if (peak > begun_.peak) out.memory.peak_rss = std::max(out.memory.peak_rss, peak);
  ask_cgroup(out.memory);
  return true;
}

void Child::drain(std::string& out) const {
  std::array<char, 65536> piece;
  while (output_ >= 0) {
    const ssize_t got = ::read(output_, piece.data(), piece.size());
    if (got <= 0) return;
    if (out.size() < most_output) out.append(piece.data(), static_cast<std::size_t>(got));
  }
}

void Child::ask_cgroup(TreeMemory& memory) const {
  const std::optional<Cgroup> around = cgroup_of_this_process();
  memory.own_cgroup = begun_.inside;
  const CgroupMemory counted = begun_.inside ? cgroup_.memory() : around ? memory_of(*around) : CgroupMemory{};
  memory.cgroup_peak = counted.peak;
  memory.page_cache = counted.file;
}

}  // namespace oomplan::measure
