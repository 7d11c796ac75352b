#include "replayed.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "codes.hpp"
#include "given_input.hpp"
#include "oomplan/core/text.hpp"
#include "oomplan/estimate/recording.hpp"
#include "oomplan/read/event_list.hpp"
#include "oomplan/read/snapshot.hpp"
#include "opened.hpp"

namespace oomplan::cli {
namespace {

void append(Diagnostics& all, const Diagnostics& more) { all.insert(all.end(), more.begin(), more.end()); }

/// A setting, and the text that it came from.
struct Setting {
  std::string conf{};
  AllocatorSettings settings{};
};

std::vector<Setting> settings_of(std::vector<std::string> confs, Diagnostics& errors) {
  if (confs.empty()) confs.emplace_back();
  std::vector<Setting> out;
  for (std::string& conf : confs) {
    if (conf == "default") conf.clear();
    const Result<AllocatorSettings> read = parse_alloc_conf(conf, "--alloc-conf");
    if (read) {
      out.push_back({std::move(conf), *read});
    } else {
      append(errors, read.errors());
    }
  }
  return out;
}

std::optional<Bytes> size_of(const std::string& text, const std::string& option, Diagnostics& errors) {
  if (text.empty()) return std::nullopt;
  const std::optional<Bytes> size = parse_bytes(text);
  if (!size) {
    errors.push_back({.code = "cli/bad-size",
                      .message = option + " takes a size, not '" + text + "'",
                      .hint = "for example 24GiB, 512MiB, or bytes"});
  }
  return size;
}

/// What the command line asks for, apart from the lists.
struct Terms {
  std::vector<Setting> settings{};
  bool own_settings = false;  ///< None are given: a memory snapshot has its own.
  bool limited = false;       ///< The card's size is given.
  Card card{};
};

Terms terms_of(const ReplayQuestion& question, Replay& replay) {
  Terms terms{.settings = settings_of(question.alloc_confs, replay.diagnostics),
              .own_settings = question.alloc_confs.empty()};
  replay.capacity = size_of(question.capacity, "--capacity", replay.diagnostics);
  replay.context = size_of(question.context, "--context", replay.diagnostics).value_or(Bytes());
  terms.card.context = replay.context;
  terms.limited = replay.capacity.has_value();
  terms.card.order = question.ascending ? SegmentOrder::ascending : SegmentOrder::descending;
  if (replay.capacity) terms.card.total = *replay.capacity;
  if (replay.context > terms.card.total) {
    replay.diagnostics.push_back({.code = "cli/bad-size", .message = "--context leaves nothing of the card"});
  }
  return terms;
}

/// One list, read once, with an allocator for each setting.
class Player {
 public:
  explicit Player(const Terms& terms) {
    for (const Setting& setting : terms.settings) {
      allocators_.emplace_back(setting.settings, terms.card);
      list_.runs.push_back({.alloc_conf = setting.conf});
    }
  }

  Diagnostics play(EventList& events) {
    std::vector<Event> piece;
    do {
      Diagnostics errors = events.next(piece);
      if (!errors.empty()) return errors;
      list_.events += static_cast<std::int64_t>(piece.size());
      for (std::size_t i = 0; i < allocators_.size(); ++i) play(piece, events.lines_before(), i);
    } while (!piece.empty());
    return {};
  }

  ReplayedList result(std::string file) && {
    list_.file = std::move(file);
    for (std::size_t i = 0; i < allocators_.size(); ++i) list_.runs[i].statistics = allocators_[i].statistics();
    return std::move(list_);
  }

 private:
  void play(const std::vector<Event>& piece, std::int64_t lines_before, std::size_t i) {
    if (list_.runs[i].ran_out) return;
    Allocator& allocator = allocators_[i];
    const auto failed = std::find_if_not(piece.begin(), piece.end(), [&](const Event& e) { return allocator.play(e); });
    if (failed == piece.end()) return;
    list_.runs[i].ran_out = {lines_before + (failed - piece.begin()) + 1, *allocator.out_of_memory()};
  }

  std::vector<Allocator> allocators_{};
  ReplayedList list_{};
};

Result<EventList> open(const std::string& path) {
  if (path == "-" && given_input()) return EventList::from_memory(*given_input(), "standard input");
  if (path == "-") return EventList::from_descriptor(STDIN_FILENO, "standard input");
  return EventList::open(path);
}

ReplayRun run_of(std::string conf, PlayedRecording played) {
  ReplayRun run{.alloc_conf = std::move(conf), .statistics = played.statistics, .survived = played.survived};
  if (played.failure) run.ran_out = {played.failure->entry, std::move(played.failure->memory)};
  return run;
}

ReplayRun as_recorded(const Recording& recording) {
  PlayedRecording played = play_as_recorded(recording);
  const Agreement agreement = played.agreement;
  ReplayRun run = run_of(recording.alloc_conf, std::move(played));
  run.agreement = agreement;
  return run;
}

/// Without a size of its own the question is of the card that the run had, as far as its end tells.
Card card_for(const Recording& recording, const Terms& terms) {
  Card card = terms.card;
  if (!terms.limited && recording.room) card = {.total = *recording.room, .order = card.order};
  return card;
}

std::vector<ReplayRun> runs_of(const Recording& recording, const Terms& terms) {
  if (terms.own_settings && !terms.limited) return {as_recorded(recording)};
  const Card card = card_for(recording, terms);
  if (terms.own_settings) return {run_of(recording.alloc_conf, play_otherwise(recording, recording.settings, card))};
  std::vector<ReplayRun> out;
  for (const Setting& setting : terms.settings)
    out.push_back(run_of(setting.conf, play_otherwise(recording, setting.settings, card)));
  return out;
}

/// Each device of a memory snapshot is a list of its own.
void play_snapshot(LogText& file, const std::string& name, const Terms& terms, Replay& replay) {
  const Result<Snapshot> snapshot = read_snapshot(file, name);
  if (!snapshot) return append(replay.diagnostics, snapshot.errors());
  bool traced = false;
  for (std::size_t device = 0; device < snapshot->traces.size(); ++device) {
    if (snapshot->traces[device].empty()) continue;
    traced = true;
    const Result<Recording> recording = recording_of(*snapshot, device);
    if (!recording) {
      append(replay.diagnostics, recording.errors());
      continue;
    }
    ReplayedList list{.file = name + ", GPU " + std::to_string(device), .events = recording->entries};
    list.of_trace = true;
    list.streams = recording->streams;
    list.room = recording->room;
    list.runs = runs_of(*recording, terms);
    replay.lists.push_back(std::move(list));
  }
  if (!traced) {
    replay.diagnostics.push_back({.code = "read/empty",
                                  .message = "the snapshot has no trace",
                                  .where = {name},
                                  .hint = "torch.cuda.memory._record_memory_history() makes the allocator keep one"});
  }
}

/// Whether the file is a memory snapshot; a list read from standard input never is.
bool played_snapshot(const std::string& path, const Terms& terms, Replay& replay) {
  if (path == "-") return false;
  Result<LogText> file = open_plain(path);
  if (!file || !file->is_pickle()) return false;
  play_snapshot(*file, path, terms, replay);
  return true;
}

void play_list(const std::string& path, const Terms& terms, Replay& replay) {
  if (played_snapshot(path, terms, replay)) return;
  Result<EventList> events = open(path);
  if (!events) return append(replay.diagnostics, events.errors());
  Player player(terms);
  const Diagnostics errors = player.play(*events);
  if (!errors.empty()) return append(replay.diagnostics, errors);
  replay.lists.push_back(std::move(player).result(shown_path(path)));
}

Verdict verdict_of_replay(const Replay& replay) {
  if (!replay.diagnostics.empty()) return verdict_of(replay.diagnostics);
  bool ran_out = false;
  for (const ReplayedList& list : replay.lists) {
    ran_out = ran_out || std::ranges::any_of(list.runs, [](const ReplayRun& run) { return run.ran_out.has_value(); });
  }
  if (ran_out) return Verdict::does_not_fit;
  return replay.capacity ? Verdict::fits : Verdict::answered;
}

}  // namespace

Replay replayed(const ReplayQuestion& question) {
  Replay replay;
  const Terms terms = terms_of(question, replay);
  if (replay.diagnostics.empty()) {
    for (const std::string& path : question.lists) play_list(path, terms, replay);
  }
  replay.verdict = verdict_of_replay(replay);
  return replay;
}

}  // namespace oomplan::cli
