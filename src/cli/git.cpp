#include "git.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

extern char** environ;

namespace oomplan::cli {
namespace {

Diagnostic refused(std::string message) { return {.code = "cli/no-baseline", .message = std::move(message)}; }

/// Owns what a child is started with.
class Actions {
 public:
  explicit Actions(int out) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
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

Result<std::string> git(const std::vector<std::string>& arguments, std::size_t most) {
  std::vector<std::string> words{"git"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return refused(std::string("cannot run git: ") + std::strerror(errno));
  pid_t child = 0;
  const int failed = posix_spawnp(&child, "git", Actions(ends[1]).get(), nullptr, argv.data(), environ);
  close(ends[1]);
  std::string out = failed == 0 ? read_up_to(ends[0], most) : std::string();
  close(ends[0]);
  if (failed != 0) return refused(std::string("cannot run git: ") + std::strerror(failed));
  const int code = wait_for(child);
  if (out.size() > most) return refused("git prints more than any config holds");
  if (code != 0) return refused("git " + arguments.front() + " ended with " + std::to_string(code));
  return out;
}

}  // namespace oomplan::cli
