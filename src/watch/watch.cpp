#include "oomplan/watch/watch.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "job.hpp"
#include "relay.hpp"
#include "sampler.hpp"
#include "terminal.hpp"

namespace oomplan {
namespace watching {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto grace = 2s;  // for output of what outlives the job
// The kernel tells only the foreground's processes that a terminal has another size. That is the job, and not us.
constexpr auto glance = 200ms;

/// Blocks every signal that can wait, and gives the mask back at the end.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigfillset(&blocked_);
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS}) sigdelset(&blocked_, own);
    sigprocmask(SIG_BLOCK, &blocked_, &before_);
  }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
  ~BlockedSignals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

  const sigset_t& blocked() const { return blocked_; }
  const sigset_t& before() const { return before_; }

 private:
  sigset_t blocked_{};
  sigset_t before_{};
};

class Watch {
 public:
  Watch(Job job, const BlockedSignals& signals, const OutputSink& sink)
      : pid_(job.pid),
        signals_(signalfd(-1, &signals.blocked(), SFD_CLOEXEC | SFD_NONBLOCK)),
        relays_{Relay(std::move(job.out), STDOUT_FILENO, sink), Relay(std::move(job.err), STDERR_FILENO, sink)},
        sampler_(job.pid) {}

  Ended run() {
    while (!finished()) step();
    reap_the_dying();
    for (Relay& relay : relays_) {
      relay.finish();
      if (ended_.lost_output.empty()) ended_.lost_output = relay.failure();
    }
    return std::move(ended_);
  }

 private:
  bool finished() const {
    return died_ && (abandoned_ || std::ranges::all_of(relays_, [](const Relay& relay) { return relay.ended(); }));
  }

  bool has_terminal() const { return isatty(relays_[0].source()) == 1 || isatty(relays_[1].source()) == 1; }

  int timeout() const {
    if (!died_ && has_terminal()) return static_cast<int>(std::chrono::milliseconds(glance).count());
    if (!died_ || !waits_for_output()) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*died_ + grace - Clock::now());
    return static_cast<int>(std::max<std::int64_t>(0, left.count()));
  }
  bool waits_for_output() const {
    return std::ranges::any_of(relays_, [](const Relay& relay) { return relay.source() >= 0; });
  }

  void step() {
    std::array<pollfd, 3> wanted{pollfd{signals_.get(), POLLIN, 0}, relays_[0].wanted(), relays_[1].wanted()};
    if (poll(wanted.data(), wanted.size(), timeout()) > 0) {
      relays_[0].act(wanted[1].revents);
      relays_[1].act(wanted[2].revents);
      if (wanted[0].revents != 0) take_signals();
    }
    if (!died_ && follow_size()) kill(-pid_, SIGWINCH);
    if (timeout() == 0)
      for (Relay& relay : relays_) relay.close_source();
  }

  bool follow_size() {
    const bool out = copy_size(relays_[0].source(), STDOUT_FILENO);
    return copy_size(relays_[1].source(), STDERR_FILENO) || out;
  }

  void take_signals() {
    signalfd_siginfo info{};
    while (read(signals_.get(), &info, sizeof info) == sizeof info) take(static_cast<int>(info.ssi_signo));
  }

  void take(int signal) {
    if (signal == SIGCHLD) return reap();
    if (signal == SIGPIPE || signal == SIGTTOU || signal == SIGTTIN) return;
    if (died_) abandoned_ = signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT;
    if (died_) return;
    if (signal == SIGWINCH) follow_size();
    if (signal == SIGCONT && has_foreground()) give_foreground(pid_);
    kill(-pid_, signal);
  }

  /// Orphans of the job become our children, so that they are counted; the dead among them are taken too.
  void reap() {
    int status = 0;
    rusage usage{};
    for (pid_t pid = 0; (pid = wait4(-1, &status, WNOHANG | WUNTRACED, &usage)) > 0;) {
      if (WIFSTOPPED(status)) {
        if (pid == pid_ && has_shell()) stop_too();
        continue;
      }
      ended_.largest_process = std::max<std::int64_t>(ended_.largest_process, usage.ru_maxrss * 1024);
      if (pid == pid_) die(status);
    }
  }

  /// Those that have closed their output on their way out; what lives on is left alone.
  void reap_the_dying() {
    for (int i = 0; i < 10 && has_children(); ++i) {
      reap();
      std::this_thread::sleep_for(5ms);
    }
  }
  static bool has_children() { return waitid(P_ALL, 0, nullptr, WEXITED | WNOHANG | WNOWAIT) == 0; }

  /// ^Z, or input wanted in the background: the shell must learn of it.
  void stop_too() {
    take_foreground_from(pid_);
    raise(SIGSTOP);
  }

  void die(int status) {
    died_ = Clock::now();
    take_foreground_from(pid_);
    ended_.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    ended_.exit_code = ended_.signal != 0 ? 128 + ended_.signal : WEXITSTATUS(status);
    ended_.seconds = std::chrono::duration<double>(*died_ - begun_).count();
    ended_.samples = sampler_.finish();
  }

  pid_t pid_;
  Clock::time_point begun_ = Clock::now();
  std::optional<Clock::time_point> died_{};
  bool abandoned_ = false;  ///< Told to end while the last output still waits for its reader.
  Descriptor signals_;
  std::array<Relay, 2> relays_;
  Sampler sampler_;
  Ended ended_{};
};

}  // namespace
}  // namespace watching

Result<Ended> watch(const std::vector<std::string>& command, const OutputSink& sink) {
  const watching::BlockedSignals signals;
  ::signal(SIGCHLD, SIG_DFL);  // Where it was ignored, no child's end would be told.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  Result<watching::Job> job = watching::start(command, signals.before());
  if (!job) return job.errors();
  return watching::Watch(std::move(*job), signals, sink).run();
}

}  // namespace oomplan
