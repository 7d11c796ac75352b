// Which sentence everything else follows from.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "aftermath.hpp"
#include "case.hpp"
#include "clock.hpp"
#include "hole.hpp"
#include "other_kills.hpp"
#include "posts.hpp"
#include "reader.hpp"

namespace oomplan::diagnose {
namespace {

constexpr int no_root = 100;

// The sources of truth, best first. Who killed knows; an allocator with numbers knows what it lacked; a runtime error
// knows only that; a launcher knows an exit code.
int tier_by_code(const Evidence& evidence) {
  const std::string signal = signal_of(evidence);
  if (signal == "SIGBUS") return 30;
  if (signal == "SIGKILL") return 40;
  if (signal == "SIGTERM" || signal == "SIGINT") return 62;
  if (!signal.empty()) return 50;
  if (evidence.family == "dataloader_signal" || evidence.find("vanished") != nullptr) return 51;
  const auto code = evidence.number("exitcode").value_or(evidence.number("exit_code").value_or(1));
  return code == 0 ? no_root : 70;
}

// Of the workers that elastic names, the one in its "Root Cause" was first, though it is printed last.
int tier_of_launcher(const Evidence& evidence) {
  return tier_by_code(evidence) - (evidence.find("root_rank") != nullptr ? 1 : 0);
}

// What somebody writes of a failure counts after whatever a program reports itself.
constexpr int tier_of_quoted = 66;

// That something was killed for memory says more than an exit code, and less than who lacked it.
constexpr int tier_of_told_kill = 36;

int tier_of(const Evidence& evidence) {
  if (evidence.find("quoted") != nullptr) return tier_of_quoted;
  if (evidence.family == "killed_for_memory") return tier_of_told_kill;
  switch (evidence.says) {
    case Says::kernel_killed:
      return 0;
    case Says::kernel_detail:
      return evidence.find("constraint") != nullptr ? 1 : evidence.find("pid") != nullptr ? 2 : 8;
    case Says::cgroup_killed:
      return evidence.number("events").value_or(1) == 0 ? no_root : 5;  // memory.events that counts no kill
    case Says::slurm_killed:
    case Says::kubernetes_killed:
    case Says::daemon_killed:
    case Says::node_killed:
      return evidence.find("intent") != nullptr ? 6 : 5;
    case Says::gpu_alloc_failed:
      if (evidence.find("absurd") != nullptr) return 20;
      if (evidence.find("general") != nullptr) return 35;
      return evidence.find("requested") != nullptr ? 10 : 20;
    case Says::host_alloc_failed:
      if (evidence.find("general") != nullptr) return 35;
      return evidence.find("weak") != nullptr ? 22 : 10;
    case Says::disk_full:
      return evidence.find("general") != nullptr ? 35 : 10;
    case Says::shm_full:
    case Says::gpu_kernel_limit:
      return 10;
    case Says::gpu_library_failed:
      if (!may_be_of_memory(evidence)) return 60;
      return evidence.find("weak") != nullptr ? 64 : 20;
    case Says::kernel_short:
      return 25;
    case Says::memory_state:
      return evidence.number("ooms").value_or(0) > 0 ? 28 : no_root;
    case Says::bus_error:
      return 30;
    case Says::killed:
      return 41;
    case Says::other_failure:
      if (evidence.find("last_word") != nullptr) return 68;
      if (evidence.find("general") != nullptr) return 65;
      if (evidence.find("ended_by") != nullptr) return 38;
      return evidence.find("errno") != nullptr ? 59 : 60;
    case Says::launcher:
      return tier_of_launcher(evidence);
    case Says::caught:
      return 80;
    case Says::harmless:
      return 85;
    case Says::consequence:
      return 90;
    default:
      return no_root;
  }
}

bool same_speaker(const Evidence& a, const Evidence& b) {
  return a.where.file == b.where.file && a.rank == b.rank && a.source == b.source;
}

constexpr int steps_of_a_run_that_goes_on = 5;

// A bar in front of somebody's text, on the same line of the log: the terminal of another drew it there.
bool is_drawn_into_text(const Evidence& bar, const std::vector<Line>& lines) {
  const std::size_t next = bar.line ? *bar.line + 1 : lines.size();
  return next < lines.size() && has_bar(lines[next - 1].body) && lines[next].number == lines[next - 1].number &&
         lines[next].file == lines[next - 1].file && lines[next].body.find("%|") == std::string::npos;
}

bool is_bar(const std::vector<Line>& lines, std::size_t index) {
  return index < lines.size() && lines[index].body.find("%|") != std::string::npos;
}

// A bar between the lines of a traceback belongs to somebody else who writes to the same terminal.
bool is_drawn_through(const std::vector<Evidence>& all, const std::vector<Line>& lines) {
  return std::any_of(all.begin(), all.end(), [&](const Evidence& e) {
    return e.says == Says::frame && e.find("path") != nullptr && e.line && is_bar(lines, *e.line + 1);
  });
}

// Of such a terminal: one bar between two lines of text, which no step of this program need be.
bool is_between(const Evidence& bar, const std::vector<Line>& lines) {
  if (!bar.line || !is_bar(lines, *bar.line)) return false;
  return !is_bar(lines, *bar.line + 1) && (*bar.line == 0 || !is_bar(lines, *bar.line - 1));
}

// An allocator's failure in a program that tries smaller and smaller sizes on purpose, or that skips a batch.
bool can_be_survived(const Evidence& e) {
  return e.says == Says::gpu_alloc_failed || e.says == Says::host_alloc_failed || e.says == Says::gpu_library_failed ||
         e.find("soft") != nullptr || e.find("general") != nullptr;
}

// The program says that it goes on, and the next thing that it does is not to die: for each place, whether that holds
// of a failure there. A rank's failure is caught by that rank, unless the
// run makes steps after it.
std::vector<bool> handled_from(const std::vector<Evidence>& all, const std::vector<Line>& lines, const Posts& posts) {
  std::vector<bool> out(all.size(), false);
  const bool shared = is_drawn_through(all, lines);
  bool goes_on = false;
  bool caught_later = false;
  bool failed_between = false;
  bool handled = false;
  bool lived_on = false;
  std::set<std::optional<std::int64_t>> catching;
  const Evidence* later = nullptr;
  for (std::size_t i = all.size(); i-- > 0;) {
    if (i + 1 < all.size() && !posts.are_together(all[i], all[i + 1])) {
      goes_on = caught_later = failed_between = handled = lived_on = false;
      catching.clear();
    }
    if (all[i].says == Says::caught) {
      const bool lived = caught_later && failed_between && same_speaker(all[i], *later);
      goes_on = goes_on || lived;  // to catch another
      handled = goes_on;
      catching.insert(all[i].rank);
      later = &all[i];
      caught_later = true;
      failed_between = false;
    }
    if (all[i].says == Says::killed || all[i].says == Says::launcher) caught_later = failed_between = false;
    failed_between = failed_between || (caught_later && can_be_survived(all[i]));
    const bool another = is_drawn_into_text(all[i], lines) || (shared && is_between(all[i], lines));
    const bool of_tracker = all[i].family == "tensorboard";  // of the whole run, wherever its file stands
    const bool step = all[i].says == Says::progress && !another && !of_tracker;
    if (step) goes_on = true;
    lived_on = lived_on || step || all[i].find("finished") != nullptr;
    if (heads_traceback(all[i])) goes_on = false;
    out[i] = handled && (lived_on || !all[i].rank || catching.contains(all[i].rank));
  }
  return out;
}

// A later traceback is of another failure; that of a rank that lost the others would be of this one.
bool ends_otherwise(const Wordings& wordings, const std::vector<Evidence>& all, const Evidence& traceback,
                    const std::vector<Line>& lines) {
  return std::any_of(all.begin(), all.end(), [&](const Evidence& e) {
    return e.order > traceback.order && e.says == Says::other_failure && same_speaker(e, traceback) &&
           tells_own_end(wordings, e, lines);
  });
}

// Or it goes on for long without a word.
bool went_on(const Wordings& wordings, const std::vector<Evidence>& all, const Evidence& failure,
             const std::vector<Line>& lines, const Posts& posts) {
  int steps = 0;
  int torn = 0;   // a bar at each second line is drawn into somebody's text
  int drawn = 0;  // and so is one in front of it
  std::optional<std::size_t> last;
  for (const Evidence& e : all) {
    if (e.order <= failure.order || !e.line) continue;
    if (!posts.are_together(e, failure)) break;
    if (e.says == Says::launcher || e.says == Says::killed) return false;
    if (heads_traceback(e) && !ends_otherwise(wordings, all, e, lines)) return false;
    if (heads_traceback(e)) break;
    if (e.says != Says::progress || e.find("step") == nullptr || !same_speaker(e, failure) || e.line == last) continue;
    ++steps;
    const bool beside = last ? *e.line == *last + 2 : failure.line && *e.line == *failure.line + 1;
    if (beside) ++torn;
    if (is_drawn_into_text(e, lines)) ++drawn;
    last = e.line;
  }
  return steps >= steps_of_a_run_that_goes_on && torn < steps && 2 * drawn < steps;
}

// Somebody writes of a failure beside a log that tells its run's good end: another's, or one that may come.
bool is_talked_of_beside_an_end(const std::vector<Evidence>& all, const Evidence& e) {
  if (e.find("quoted") == nullptr) return false;
  return std::any_of(all.begin(), all.end(), [&](const Evidence& other) {
    return other.find("finished") != nullptr && other.where.file == e.where.file;
  });
}

// A limit that was met "at some point" killed nothing if anything came after, and what a shell tries again may succeed.
bool was_soft(const std::vector<Evidence>& all, const Evidence& failure) {
  if (failure.find("soft") == nullptr && failure.find("retried") == nullptr) return false;
  return std::any_of(all.begin(), all.end(), [&](const Evidence& e) {
    return (e.order > failure.order && e.says == Says::progress) || e.find("finished") != nullptr;
  });
}

}  // namespace

bool may_be_of_memory(const Evidence& library) {
  constexpr std::array<std::string_view, 5> states{"ALLOC_FAILED", "NOT_INITIALIZED", "INTERNAL", "RESOURCES",
                                                   "no algorithm"};
  const std::string status = library.text_of("status");
  return status.empty() || std::any_of(states.begin(), states.end(),
                                       [&](std::string_view state) { return status.find(state) != std::string::npos; });
}

bool is_vague(const Evidence& library) {
  const std::string status = library.text_of("status");
  if (status.find("ALLOC") != std::string::npos) return false;
  return status.find("NOT_INITIALIZED") != std::string::npos || status.find("INTERNAL") != std::string::npos ||
         status == "no algorithm";
}

// Windows ends a process with the state of its exception, printed with or without a sign.
std::string_view exception_named(std::int64_t code) {
  switch (static_cast<std::uint32_t>(code)) {
    case 0xC0000005U:
    case 0xC00000FDU:
      return "SIGSEGV";
    case 0xC000001DU:
      return "SIGILL";
    case 0xC000013AU:
      return "SIGINT";
    default:
      return "";
  }
}

// A Python that exits with a child's -9 has the last eight bits of it as its code. The like of other signals are codes
// of programs too.
constexpr std::int64_t kill_passed_on = 256 - 9;

std::string signal_of(const Evidence& evidence) {
  if (const Reading* signal = evidence.find("signal")) return signal->text;
  std::int64_t code = evidence.number("exitcode").value_or(evidence.number("exit_code").value_or(0));
  if (const std::string_view exception = exception_named(code); !exception.empty()) return std::string(exception);
  if (code > 128 && code < 160) code = 128 - code;
  if (code == kill_passed_on) code = -9;
  return code < 0 ? std::string(signal_named(std::to_string(code))) : std::string();
}

namespace {

class Survival {
 public:
  Survival(const Wordings& wordings, const std::vector<Evidence>& all, const std::vector<Line>& lines,
           const Posts& posts, const std::vector<Aftermath>& after)
      : wordings_(wordings),
        all_(all),
        lines_(lines),
        posts_(posts),
        after_(after),
        handled_(handled_from(all, lines, posts)) {}

  bool operator()(std::size_t index) {
    const Evidence& e = all_[index];
    if (!can_be_survived(e)) return false;
    if (handled_[index] || was_soft(all_, e)) return true;
    return after_[index] != Aftermath::none && asked_++ < most_questions &&
           went_on(wordings_, all_, e, lines_, posts_);  // each question reads all evidence
  }

 private:
  static constexpr int most_questions = 64;
  const Wordings& wordings_;
  const std::vector<Evidence>& all_;
  const std::vector<Line>& lines_;
  const Posts& posts_;
  const std::vector<Aftermath>& after_;
  std::vector<bool> handled_;
  int asked_ = 0;
};

}  // namespace

namespace {

// Of what stands in several files, by the times that are printed.
bool is_before(const Clocks& clocks, const Evidence& a, const Evidence& b) {
  return a.line && b.line && a.where.file != b.where.file && clocks.is_earlier(*a.line, *b.line);
}

// Workers whose codes a later line prints did not vanish without a word.
class Codes {
 public:
  explicit Codes(const std::vector<Evidence>& all) {
    for (const Evidence& e : all)
      if (e.find("vanished") != nullptr && e.find("exitcode") != nullptr) last_[e.family] = e.order;
  }

  bool below(const Evidence& e) const {
    if (e.find("vanished") == nullptr || e.find("exitcode") != nullptr) return false;
    const auto found = last_.find(e.family);
    return found != last_.end() && found->second > e.order;
  }

 private:
  std::map<std::string_view, Order> last_{};
};

// A worker that "exited unexpectedly" did not vanish where another line has its signal.
bool is_told_better(const std::vector<Evidence>& all, const Evidence& e) {
  const auto pid = e.number("pid");
  if (e.family != "dataloader_signal" || !pid || !signal_of(e).empty()) return false;
  return std::any_of(all.begin(), all.end(), [&](const Evidence& other) {
    return &other != &e && other.number("pid") == pid && other.says == Says::launcher && !signal_of(other).empty();
  });
}

// What says why a failure of several reasons is none of memory (a library of another version, broken memory), or that
// what a daemon was about to kill was spared.
class Explained {
 public:
  explicit Explained(const std::vector<Evidence>& all) {
    std::map<std::string_view, const Evidence*> about_to_kill;
    for (const Evidence& e : all) {
      if (e.says == Says::daemon_killed) about_to_kill[e.family] = &e;
      if (e.find("spared") != nullptr) {
        const auto kill = about_to_kill.find(e.family);
        if (kill != about_to_kill.end() && is_spared(*kill->second, e)) spared_.insert(kill->second);
      }
      if (e.says == Says::progress && e.find("step") != nullptr) std::erase_if(reasons_, is_of_library);
      if (reasons_.size() == most_reasons || e.says != Says::other_failure || e.find("quoted") != nullptr) continue;
      if (e.find("unusable") != nullptr || e.family == "hardware_memory") reasons_.push_back(&e);
    }
  }

  bool operator()(const Evidence& e) const {
    return spared_.contains(&e) || std::any_of(reasons_.begin(), reasons_.end(), [&](const Evidence* reason) {
             return is_unusable(*reason, e) || is_broken(*reason, e);
           });
  }

 private:
  static constexpr std::size_t most_reasons = 64;

  // What was done is not undone by a later failure to do it again.
  static bool is_spared(const Evidence& kill, const Evidence& word) {
    const auto pid = word.number("pid");
    return kill.find("intent") != nullptr || (pid && kill.number("pid") == pid);
  }

  // A library that steps were made with is none of another version.
  static bool is_of_library(const Evidence* reason) { return reason->find("unusable") != nullptr; }

  static bool is_unusable(const Evidence& reason, const Evidence& e) {
    return e.says == Says::gpu_library_failed && is_vague(e) && reason.text_of("unusable") == e.family &&
           reason.order < e.order && reason.where.file == e.where.file;
  }

  // The kernel sent SIGBUS to that process, or to one that no line names.
  static bool is_broken(const Evidence& reason, const Evidence& e) {
    if (reason.family != "hardware_memory" || (e.says != Says::bus_error && signal_of(e) != "SIGBUS")) return false;
    const auto pid = e.number("pid");
    return !pid || reason.number("pid") == pid;
  }

  std::vector<const Evidence*> reasons_{};
  std::set<const Evidence*> spared_{};
};

// A notebook's kernel whose last line above is an exception of its own did not vanish without a word.
bool is_told_by_exception(const std::vector<Line>& lines, const Evidence& e) {
  if ((e.family != "jupyter" && e.family != "colab_log") || e.find("vanished") == nullptr || !e.line) return false;
  for (std::size_t i = *e.line; i-- > 0 && lines[i].file == lines[*e.line].file;) {
    if (lines[i].body.find_first_not_of(' ') != std::string::npos) return begins_with_exception(lines[i].body);
  }
  return false;
}

// A server that ended this very worker said so before; of any other end that says nothing, nor of a later worker's that
// got the same number.
bool was_ended_by_server(const std::vector<Evidence>& all, const Evidence& kill) {
  const auto pid = kill.says == Says::launcher ? kill.number("pid") : std::nullopt;
  if (!pid) return false;
  const Evidence* last = nullptr;
  for (const Evidence& e : all) {
    const bool is_of_it = e.number("pid") == pid && e.where.file == kill.where.file && e.where.line <= kill.where.line;
    const bool tells = e.find("ends") != nullptr || e.find("begins") != nullptr;
    if (is_of_it && tells && (last == nullptr || last->where.line <= e.where.line)) last = &e;
  }
  return last != nullptr && last->find("ends") != nullptr;
}

// The same words in another file, there below the frames that raised them: torchrun's error.json beside a rank's log.
bool is_told_with_frames(const std::vector<Line>& lines, const Evidence& e, const Evidence& other) {
  if (!e.line || !other.line || e.where.file == other.where.file || e.rank != other.rank) return false;
  if (e.message != other.message || e.text != other.text) return false;
  return below_frame(lines, *e.line) && !below_frame(lines, *other.line);
}

}  // namespace

namespace {

// The first of a thread that tells how its writer's run ended, by itself or by whoever ended it; what later writers
// tell is of others.
const Evidence* end_of_first_writer(const Wordings& wordings, const std::vector<Evidence>& evidence,
                                    const std::vector<Line>& lines) {
  const auto found = std::ranges::find_if(evidence, [&](const Evidence& e) {
    const bool told = (e.says <= Says::disk_full && e.says != Says::kernel_detail && e.says != Says::kernel_short) ||
                      e.find("ended_by") != nullptr ||
                      (e.says == Says::other_failure && begins_with_exception(e.text) && !is_about_others(wordings, e));
    return e.find("quoted") == nullptr && e.find("soft") == nullptr && (told || tells_own_end(wordings, e, lines));
  });
  return found == evidence.end() ? nullptr : &*found;
}

}  // namespace

bool finished_behind(const std::vector<Evidence>& all, const Evidence& failure) {
  return std::ranges::any_of(all, [&](const Evidence& e) {
    return e.find("finished") != nullptr && e.where.file == failure.where.file && e.order > failure.order;
  });
}

Root root_of(const Wordings& wordings, const std::vector<Evidence>& evidence, const std::vector<Line>& lines) {
  const Clocks clocks(lines);
  const Posts posts(wordings, lines);
  const Evidence* const first_end = end_of_first_writer(wordings, evidence, lines);
  const Evidence* best = nullptr;
  const Evidence* best_survived = nullptr;
  const Evidence* best_outlived = nullptr;
  const std::vector<Aftermath> after = aftermaths(evidence, lines, posts, clocks);
  Survival was_survived(wordings, evidence, lines, posts, after);
  const Codes codes(evidence);
  const Explained is_explained(evidence);
  const OtherKills was_of_another(wordings, evidence, lines, [&](std::size_t i) { return was_survived(i); });
  for (std::size_t i = 0; i < evidence.size(); ++i) {
    const Evidence& e = evidence[i];
    const int tier = tier_of(e);
    if (tier >= no_root || codes.below(e) || is_told_better(evidence, e) || is_explained(e) || was_of_another(e) ||
        is_talked_of_beside_an_end(evidence, e) || is_told_by_exception(lines, e) || was_ended_by_server(evidence, e) ||
        (first_end != nullptr && posts.is_of_a_later(e, *first_end)))
      continue;
    if (was_survived(i)) {
      if (best_survived == nullptr && e.says != Says::other_failure) best_survived = &e;
      continue;
    }
    if (after[i] == Aftermath::much) {
      if (best_outlived == nullptr || tier <= tier_of(*best_outlived)) best_outlived = &e;
      continue;
    }
    const bool better = best == nullptr || tier < tier_of(*best);
    if (better || (tier == tier_of(*best) && (is_before(clocks, e, *best) || is_told_with_frames(lines, e, *best))))
      best = &e;
  }
  const bool is_open = best == nullptr || tier_of(*best) >= 70;  // nothing says what the run died of
  const bool survived = best_survived != nullptr && is_open;
  if (!survived && is_open && best_outlived != nullptr) {
    const bool may_be_it = best_outlived->says != Says::other_failure;
    if (may_be_it && finished_behind(evidence, *best_outlived)) return {best_outlived, true, nullptr};
    return {may_be_it ? best_outlived : best, false, best_outlived};
  }
  return {survived ? best_survived : best, survived, survived ? nullptr : best_outlived};
}

}  // namespace oomplan::diagnose
