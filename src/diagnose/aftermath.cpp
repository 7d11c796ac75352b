#include "aftermath.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "case.hpp"
#include "reader.hpp"

namespace oomplan::diagnose {
namespace {

constexpr int some = 5;
constexpr int much = 50;
// Of a stream that goes to a file (CPython: io.DEFAULT_BUFFER_SIZE; glibc: 4096): what a process had printed before it
// failed may stand behind its error.
constexpr double longest_buffer = 8192;

using Speaker = std::tuple<std::string, std::optional<std::int64_t>, std::string>;

Speaker speaker_of(const Evidence& e) { return {e.where.file, e.rank, e.source}; }

// What rank 0 says for all is mostly without its number.
std::vector<Speaker> voices_of(const Evidence& e) {
  std::vector<Speaker> out{speaker_of(e)};
  if (e.rank == 0) out.push_back({e.where.file, std::nullopt, e.source});
  return out;
}

// A tracker's file is of the whole run, wherever it stands.
bool is_step(const Evidence& e) {
  return e.says == Says::progress && (e.find("step") != nullptr || e.find("logged") != nullptr) &&
         e.family != "tensorboard" && e.line;
}

bool is_of_memory_or_disk(const Evidence& e) {
  switch (e.says) {
    case Says::gpu_alloc_failed:
    case Says::gpu_library_failed:
    case Says::gpu_kernel_limit:
    case Says::host_alloc_failed:
    case Says::shm_full:
    case Says::disk_full:
      return true;
    default:
      return false;
  }
}

bool names_a_rank(const Evidence& e) {
  return e.says == Says::launcher && (e.find("local_rank") != nullptr || e.find("root_rank") != nullptr);
}

struct Step {
  std::size_t place = 0;  // in the evidence
  std::optional<std::int64_t> number{};
};

// The steps of each speaker before a place.
class Earlier {
 public:
  explicit Earlier(const std::vector<Evidence>& all) {
    for (std::size_t i = 0; i < all.size(); ++i)
      if (is_step(all[i])) made_[speaker_of(all[i])].push_back({i, all[i].number("step")});
  }

  const Step* last_before(const Speaker& speaker, std::size_t place) const {
    const auto found = made_.find(speaker);
    if (found == made_.end()) return nullptr;
    const auto next = std::ranges::lower_bound(found->second, place, {}, &Step::place);
    return next == found->second.begin() ? nullptr : &*std::prev(next);
  }

 private:
  std::map<Speaker, std::vector<Step>> made_{};
};

// The tracebacks of each speaker, by the outermost frame: of one program's file, its end is the last.
class Tracebacks {
 public:
  explicit Tracebacks(const std::vector<Evidence>& all) {
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
      const Evidence& next = all[i + 1];
      if (!heads_traceback(all[i]) || next.says != Says::frame || heads_traceback(next)) continue;
      Told& told = by_speaker_[speaker_of(all[i])];
      told.tracebacks.push_back({i, next.text_of("path")});
      told.last[next.text_of("path")] = i;
    }
  }

  /// The program whose traceback ends at `place` ended by a later one.
  bool has_later(const Evidence& failure, std::size_t place) const {
    const auto found = by_speaker_.find(speaker_of(failure));
    if (found == by_speaker_.end()) return false;
    const Told& told = found->second;
    const auto next = std::ranges::lower_bound(told.tracebacks, place, {}, &Traceback::place);
    return next != told.tracebacks.begin() && told.last.at(std::prev(next)->outermost) > place;
  }

 private:
  struct Traceback {
    std::size_t place = 0;
    std::string outermost{};
  };
  struct Told {
    std::vector<Traceback> tracebacks{};
    std::map<std::string, std::size_t> last{};  // by the outermost frame
  };
  std::map<Speaker, Told> by_speaker_{};
};

// What one speaker does behind a place, read from the end on.
struct Later {
  int steps = 0;
  int answers = 0;
  bool is_bar = false;                    // stderr has no buffer
  std::size_t bytes = 0;                  // of the steps' lines
  std::optional<std::size_t> last{};      // the line that was counted last, which stands first
  std::optional<std::int64_t> number{};   // of its step
  std::optional<std::size_t> furthest{};  // the line that stands last

  void add(const Evidence& e, const Line& line) {
    if (last == e.line) return;
    if (!furthest) furthest = e.line;
    last = e.line;
    if (!is_step(e)) {
      ++answers;
      return;
    }
    ++steps;
    is_bar = is_bar || has_bar(line.body);
    bytes += std::max(line.width, line.body.size());
    if (const auto of_step = e.number("step")) number = of_step;
  }
};

class Aftermaths {
 public:
  Aftermaths(const std::vector<Evidence>& all, const std::vector<Line>& lines, const Clocks& clocks)
      : all_(all), lines_(lines), clocks_(clocks), earlier_(all), tracebacks_(all) {}

  std::vector<Aftermath> each(const Posts& posts) {
    std::vector<Aftermath> out(all_.size(), Aftermath::none);
    for (std::size_t i = all_.size(); i-- > 0;) {
      const Evidence& e = all_[i];
      if (i + 1 < all_.size() && !posts.are_together(e, all_[i + 1])) {
        later_.clear();
        is_told_ = false;
      }
      is_told_ = is_told_ || names_a_rank(e);
      if ((is_step(e) || e.find("served") != nullptr) && e.line) later_[speaker_of(e)].add(e, lines_[*e.line]);
      out[i] = aftermath_of(i);
    }
    return out;
  }

 private:
  Aftermath aftermath_of(std::size_t i) const {
    const Evidence& e = all_[i];
    const bool other = e.says == Says::other_failure;
    Aftermath out = Aftermath::none;
    if (!other && !is_of_memory_or_disk(e)) return out;
    for (const Speaker& voice : voices_of(e)) {
      const auto later = later_.find(voice);
      if (later == later_.end()) continue;
      if (other && later->second.answers >= much && !is_told_) out = Aftermath::much;
      if (later->second.steps < some || !goes_on(voice, later->second, i)) continue;
      out = std::max(out, later->second.steps >= much && !is_told_ ? Aftermath::much : Aftermath::some);
    }
    return out;
  }

  // A run that was started anew begins at its first step again.
  bool goes_on(const Speaker& voice, const Later& later, std::size_t i) const {
    const Step* before = earlier_.last_before(voice, i);
    if (before != nullptr && before->number && later.number && *later.number <= *before->number) return false;
    if (later.is_bar || is_a_message(all_[i]) || tracebacks_.has_later(all_[i], i)) return true;
    return before != nullptr && is_behind_what_was_buffered(i, later);
  }

  // Who writes "WARNING step 40: CUDA out of memory" caught it; an exception below its frames may have ended the
  // process.
  bool is_a_message(const Evidence& e) const {
    if (!e.line) return false;
    const std::string_view text = lines_[*e.line].body;
    const std::size_t begin = std::min(text.find_first_not_of(" \"'"), text.size());  // of a notebook's file
    return !below_frame(lines_, *e.line) && !begins_with_exception(text.substr(begin));
  }

  bool is_behind_what_was_buffered(std::size_t i, const Later& later) const {
    return bytes_behind(all_[i], later) > longest_buffer || is_timed_later(all_[i], later);
  }

  // Of a long log not all lines are kept; what was passed over is like what was not.
  double bytes_behind(const Evidence& failure, const Later& later) const {
    if (!failure.line || !later.furthest || *later.furthest <= *failure.line) return 0;
    const auto kept = static_cast<double>(*later.furthest - *failure.line);
    const auto all = static_cast<double>(lines_[*later.furthest].number - lines_[*failure.line].number);
    return static_cast<double>(later.bytes) * std::max(1.0, all / kept);
  }

  bool is_timed_later(const Evidence& failure, const Later& later) const {
    if (!failure.line || !later.furthest) return false;
    if (lines_[*failure.line].time.empty() || lines_[*later.furthest].time.empty()) return false;
    return clocks_.is_earlier(*failure.line, *later.furthest);
  }

  const std::vector<Evidence>& all_;
  const std::vector<Line>& lines_;
  const Clocks& clocks_;
  Earlier earlier_;
  Tracebacks tracebacks_;
  std::map<Speaker, Later> later_{};
  bool is_told_ = false;
};

}  // namespace

std::vector<Aftermath> aftermaths(const std::vector<Evidence>& all, const std::vector<Line>& lines, const Posts& posts,
                                  const Clocks& clocks) {
  return Aftermaths(all, lines, clocks).each(posts);
}

}  // namespace oomplan::diagnose
