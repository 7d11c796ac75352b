// Event lists played through the allocator under several settings, and how that is printed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "oomplan/allocator.hpp"
#include "oomplan/bytes.hpp"
#include "oomplan/report.hpp"
#include "oomplan/result.hpp"

namespace oomplan {

/// Where a replay ended early.
struct RanOut {
  std::int64_t line = 0;  ///< Of the list, from 1.
  OutOfMemory memory{};
};

/// One list under one setting: up to its end, or to the first allocation that failed.
struct ReplayRun {
  std::string alloc_conf{};  ///< As given; "" is PyTorch's default.
  AllocatorStatistics statistics{};
  std::optional<RanOut> ran_out{};
};

struct ReplayedList {
  std::string file{};
  std::int64_t events = 0;
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
