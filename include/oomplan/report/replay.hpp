// Event lists played through the allocator under several settings, and how that is printed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "oomplan/core/bytes.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/estimate/allocator.hpp"
#include "oomplan/estimate/recording.hpp"
#include "oomplan/report/report.hpp"

namespace oomplan {

/// Where a replay ended early.
struct RanOut {
  std::int64_t line = 0;  ///< Of the list, or the entry of the trace, from 1.
  OutOfMemory memory{};
};

/// One list under one setting: up to its end, or to the first allocation that failed.
struct ReplayRun {
  std::string alloc_conf{};  ///< As given, or the snapshot's own; "" is PyTorch's default.
  AllocatorStatistics statistics{};
  std::optional<RanOut> ran_out{};
  std::optional<Agreement> agreement{};  ///< Of a trace played as it was recorded, with its end where that was.
  std::int64_t survived = 0;             ///< Of such a trace: failures after which the run went on for long.
};

struct ReplayedList {
  std::string file{};
  std::int64_t events = 0;      ///< Of a memory snapshot: the entries of the trace.
  bool of_trace = false;        ///< A memory snapshot's, not a list.
  std::int64_t streams = 1;     ///< That allocate; they are played as one.
  std::optional<Bytes> room{};  ///< Of a trace that ran out: what the allocator could have then.
  std::vector<ReplayRun> runs{};
};

struct Replay {
  std::optional<Bytes> capacity{};  ///< Of the card; nothing where it is not limited.
  Bytes context{};                  ///< Of it, what the allocator cannot have.
  std::vector<ReplayedList> lists{};
  Diagnostics diagnostics{};
  Verdict verdict = Verdict::answered;
};

/// For people: a table a list, a row a setting, then where it ran out. Empty where no list could be played.
std::string replay_text(const Replay& replay, bool colour);

/// One JSON object, as docs/replay.schema.json says.
std::string replay_json(const Replay& replay);

}  // namespace oomplan
