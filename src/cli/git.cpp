#include "git.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "write_all.hpp"

#ifdef __APPLE__
#include <crt_externs.h>
#else
extern char** environ;
#endif

namespace oomplan::cli {
namespace {

#ifdef __APPLE__
// A module has no environ of its own there.
char** environment() { return *::_NSGetEnviron(); }
#else
char** environment() { return ::environ; }
#endif

/// A pipe holds no less, so that nobody has to read while it is written (PIPE_BUF, limits.h of Linux).
constexpr std::size_t longest_input = 4096;

Diagnostic refused(std::string message) { return {.code = "cli/no-baseline", .message = std::move(message)}; }

/// 0, or why there is none.
int open_pipe(std::array<int, 2>& ends) {
#ifdef __linux__
  return pipe2(ends.data(), O_CLOEXEC) == 0 ? 0 : errno;
#else
  if (pipe(ends.data()) != 0) return errno;
  for (const int end : ends) fcntl(end, F_SETFD, FD_CLOEXEC);
  return 0;
#endif
}

/// Both ends are closed in a child but for what it is given as its own.
class Pipe {
 public:
  Pipe() : failed_(open_pipe(ends_)) {}
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    for (int& end : ends_) close_end(end);
  }
  int failed() const { return failed_; }
  int out() const { return ends_[0]; }
  int in() const { return ends_[1]; }
  void close_in() { close_end(ends_[1]); }
  void close_out() { close_end(ends_[0]); }

 private:
  static void close_end(int& end) {
    if (end >= 0) close(end);
    end = -1;
  }

  std::array<int, 2> ends_{-1, -1};
  int failed_ = 0;
};

/// Owns what a child is started with.
class Actions {
 public:
  Actions(int in, int out) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, out, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  }
  Actions(const Actions&) = delete;
  Actions& operator=(const Actions&) = delete;
  ~Actions() { posix_spawn_file_actions_destroy(&actions_); }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

/// Up to one byte more than `most`, which is enough to refuse it.
std::string read_up_to(int descriptor, std::size_t most) {
  std::string out;
  std::array<char, 65536> chunk{};
  while (out.size() <= most) {
    const ssize_t got = read(descriptor, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    out.append(chunk.data(), static_cast<std::size_t>(got));
  }
  return out;
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

Result<std::string> git(const std::vector<std::string>& arguments, std::size_t most, std::string_view input) {
  std::vector<std::string> words{"git"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  Pipe question;
  Pipe answer;
  int failed = question.failed() != 0 ? question.failed() : answer.failed();
  if (failed == 0 && (input.size() > longest_input || !write_all(question.in(), input))) failed = EMSGSIZE;
  question.close_in();
  pid_t child = 0;
  if (failed == 0)
    failed =
        posix_spawnp(&child, "git", Actions(question.out(), answer.in()).get(), nullptr, argv.data(), environment());
  if (failed != 0) return refused(std::string("cannot run git: ") + std::strerror(failed));
  answer.close_in();
  const std::string out = read_up_to(answer.out(), most);
  answer.close_out();
  const int code = wait_for(child);
  if (out.size() > most) return refused("git prints more than any config holds");
  if (code != 0) return refused("git " + arguments.front() + " ended with " + std::to_string(code));
  return out;
}

}  // namespace oomplan::cli
