#include "job.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "terminal.hpp"

namespace oomplan::watching {
namespace {

Diagnostic not_started(const std::string& program, int error) {
  const bool missing = error == ENOENT;
  return {.code = missing ? "watch/not-found" : "watch/not-started",
          .message = "cannot run '" + program + "': " + std::strerror(error)};
}

/// What the child needs, made before the fork: after it only what is async-signal-safe may be called.
struct Plan {
  std::vector<char*> words{};
  int out = -1;
  int err = -1;
  int report = -1;
  bool foreground = false;
  const sigset_t* mask = nullptr;
};

[[noreturn]] void become(const Plan& plan) {
  setpgid(0, 0);
  if (plan.foreground) give_foreground(getpid());
  signal(SIGPIPE, SIG_DFL);  // run() ignores it, and that would be inherited
  dup2(plan.out, STDOUT_FILENO);
  dup2(plan.err, STDERR_FILENO);
  sigprocmask(SIG_SETMASK, plan.mask, nullptr);
  execvp(plan.words[0], plan.words.data());
  const int error = errno;
  const ssize_t told = write(plan.report, &error, sizeof error);
  _exit(told == sizeof error ? 127 : 126);
}

/// 0 where the program is running, else why not.
int exec_error(int report) {
  int error = 0;
  ssize_t got = 0;
  do {
    got = read(report, &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  return got == sizeof error ? error : 0;
}

}  // namespace

Result<Job> start(const std::vector<std::string>& command, const sigset_t& mask) {
  const bool one = lead_to_one(STDOUT_FILENO, STDERR_FILENO);
  Channel out = channel_like(STDOUT_FILENO);
  Channel err = one ? Channel{} : channel_like(STDERR_FILENO);
  std::array<int, 2> ends{-1, -1};
  if (!out.read.is_open() || (!one && !err.read.is_open()) || pipe2(ends.data(), O_CLOEXEC) != 0)
    return not_started(command.front(), errno);
  const Descriptor report(ends[0]);
  Descriptor told(ends[1]);
  Plan plan{.out = out.write.get(),
            .err = one ? out.write.get() : err.write.get(),
            .report = told.get(),
            .foreground = has_foreground(),
            .mask = &mask};
  for (const std::string& word : command) plan.words.push_back(const_cast<char*>(word.c_str()));
  plan.words.push_back(nullptr);
  const pid_t pid = fork();
  if (pid == 0) become(plan);
  if (pid < 0) return not_started(command.front(), errno);
  setpgid(pid, pid);
  told.close();
  if (const int error = exec_error(report.get()); error != 0) {
    waitpid(pid, nullptr, 0);
    take_foreground_from(pid);
    return not_started(command.front(), error);
  }
  return Job{pid, std::move(out.read), std::move(err.read)};
}

}  // namespace oomplan::watching
