#include "sampler.hpp"

#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <ctime>
#include <mutex>

#include "cgroup.hpp"
#include "files.hpp"
#include "nvml.hpp"
#include "process_tree.hpp"

namespace oomplan::watching {
namespace {

using std::chrono::nanoseconds;
using namespace std::chrono_literals;

constexpr nanoseconds first_pause = 20ms;  // a job may die young
constexpr int young = 7;                   // samples with doubled pauses, whatever they cost
constexpr nanoseconds pause = 1s;
constexpr nanoseconds idle_pause = 4s;
constexpr int cost_factor = 250;                       // so that sampling takes 0.4 % of a core at most
constexpr std::int64_t moved = std::int64_t{4} << 20;  // less than that is no change
constexpr int patient_samples = 10;                    // without a change, before it counts as idle
constexpr nanoseconds patience = 1s;

nanoseconds cpu_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + nanoseconds(now.tv_nsec);
}

std::optional<StoreUse> shm_now() {
  struct statvfs store {};
  if (statvfs("/dev/shm", &store) != 0 || store.f_blocks == 0) return std::nullopt;
  const auto bytes = [&](fsblkcnt_t blocks) { return static_cast<std::int64_t>(blocks * store.f_frsize); };
  return StoreUse{bytes(store.f_blocks), bytes(store.f_blocks - store.f_bfree)};
}

std::optional<StoreUse> host_now() {
  const std::string text = text_of("/proc/meminfo");
  const auto total = number_after(text, "MemTotal:");
  const auto available = number_after(text, "MemAvailable:");
  if (!total || !available) return std::nullopt;
  return StoreUse{*total * 1024, (*total - *available) * 1024};
}

std::optional<std::int64_t> host_kills() { return number_after(text_of("/proc/vmstat"), "oom_kill"); }

void raise(std::optional<StoreUse>& store, const std::optional<StoreUse>& now) {
  if (!now) return;
  store = StoreUse{now->total, std::max(now->highest, store ? store->highest : 0)};
}

/// Everything that is looked at, and what was seen.
class Look {
 public:
  explicit Look(pid_t job) : job_(job), kills_before_(host_kills()) {}

  /// While the job lives.
  void at_all() {
    const TreeUse tree = tree_use(getpid());
    now_ = tree.rss;
    if (tree.rss >= seen_.rss) seen_.processes = tree.processes;
    seen_.rss = std::max(seen_.rss, tree.rss);
    if (tree.largest != 0) seen_.address_space = address_space_of(tree.largest);
    gpus_.sample();
    seen_.gpus = gpus_.gpus();
    for (const GpuUse& gpu : seen_.gpus) now_ += gpu.last;
    at_what_stays();
  }

  void at_what_stays() {
    cgroups_.sample(job_);
    seen_.cgroups = cgroups_.uses();
    raise(seen_.shm, shm_now());
    raise(seen_.host, host_now());
    const auto kills = host_kills();
    if (kills && kills_before_) seen_.host_kills = *kills - *kills_before_;
  }

  const Samples& seen() const { return seen_; }
  /// What the job held at the last look.
  std::int64_t held() const { return now_; }

 private:
  pid_t job_;
  std::optional<std::int64_t> kills_before_;
  std::int64_t now_ = 0;
  Samples seen_{};
  CgroupWatch cgroups_{};
  Nvml gpus_{};
};

}  // namespace

nanoseconds pause_after(int sample, nanoseconds cost, int idle) {
  if (sample < young) return first_pause * (1 << sample);
  return std::max(idle < patient_samples ? pause : idle_pause, cost * cost_factor);
}

struct Sampler::State {
  std::mutex mutex{};
  std::condition_variable changed{};
  bool stop = false;
  bool ended = false;
  Samples seen{};

  /// Whether it was told to stop within the time.
  bool stopped_after(nanoseconds time) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, time, [&] { return stop; });
  }

  void publish(const Samples& samples, bool last) {
    const std::lock_guard lock(mutex);
    seen = samples;
    ended = last;
    changed.notify_all();
  }

  void run(pid_t job) {
    Look look(job);
    nanoseconds cost{};
    int idle = 0;
    for (int sample = 0; sample == 0 || !stopped_after(pause_after(sample - 1, cost, idle)); ++sample) {
      const std::int64_t before = look.held();
      const nanoseconds begun = cpu_time();
      look.at_all();
      publish(look.seen(), false);
      cost = cpu_time() - begun;
      idle = std::abs(look.held() - before) < moved ? idle + 1 : 0;
    }
    look.at_what_stays();
    publish(look.seen(), true);
  }
};

Sampler::Sampler(pid_t job) : state_(std::make_shared<State>()) {
  thread_ = std::thread([state = state_, job] { state->run(job); });
}

Sampler::~Sampler() {
  if (thread_.joinable()) finish();
}

Samples Sampler::finish() {
  std::unique_lock lock(state_->mutex);
  state_->stop = true;
  state_->changed.notify_all();
  const bool ended = state_->changed.wait_for(lock, patience, [&] { return state_->ended; });
  const Samples seen = state_->seen;
  lock.unlock();
  if (ended) thread_.join();
  if (!ended) thread_.detach();
  return seen;
}

}  // namespace oomplan::watching
