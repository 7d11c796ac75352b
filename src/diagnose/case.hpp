// One case: all evidence, the sentence that everything else follows from, and the numbers that causes argue with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "line.hpp"
#include "oomplan/diagnose/evidence.hpp"
#include "rules.hpp"

namespace oomplan::diagnose {

/// What a GPU allocator's message says, in the letters of the arithmetic. Bytes.
struct GpuNumbers {
  std::optional<std::int64_t> requested{};
  std::optional<std::int64_t> total{};
  std::optional<std::int64_t> limit{};  ///< A fraction set for this process; none where it is 2^60 and more.
  std::optional<std::int64_t> free{};
  std::optional<std::int64_t> largest_free{};  ///< The largest piece of it, where the allocator prints one.
  std::optional<std::int64_t> allocated{};
  std::optional<std::int64_t> unallocated{};  ///< Reserved by PyTorch, not allocated.
  std::optional<std::int64_t> process{};      ///< This process with all that it holds.
  std::int64_t listed_others = 0;             ///< Of the processes that the message lists, without this one.
  bool own_is_known = false;                  ///< Zero too: nothing was allocated yet.
  bool listed_is_self = false;                ///< The one listed is this process, seen through a PID namespace.

  std::int64_t own() const;                     ///< The process, else allocated + unallocated.
  std::optional<std::int64_t> ceiling() const;  ///< min(total, limit).
  /// The request fits into what is free, and into no piece of it.
  bool is_in_pieces() const;
  /// total - free - own - listed: held by nobody that the message names.
  std::int64_t hidden() const;
};
GpuNumbers gpu_numbers(const std::vector<Reading>& facts);

struct Case {
  const Wordings* wordings = nullptr;
  const std::vector<Evidence>* evidence = nullptr;
  const std::vector<Line>* lines = nullptr;
  const std::vector<std::string>* files = nullptr;
  const Evidence* root = nullptr;  ///< Null where nothing failed.
  std::vector<Reading> facts{};    ///< The root's, then what belongs to it.
  GpuNumbers gpu{};
  Moment moment{};
  bool survived = false;               ///< The root failure was caught and the run went on.
  const Evidence* outlived = nullptr;  ///< A failure that the run went on behind; the root where it is one of memory
                                       ///< or the disk and nothing later says what the run died of.

  const Reading* find(std::string_view name) const;
  std::optional<std::int64_t> number(std::string_view name) const;
  std::string text_of(std::string_view name) const;
  bool any(Says says) const;
  const Evidence* first(Says says) const;
};

/// What a sentence says of how sure its report is and what heads it: the verdict tells it, and it is no fact of the
/// case.
bool is_for_the_verdict(const Reading& fact);

/// Whether it heads a traceback, whose frames name their files.
bool heads_traceback(const Evidence& evidence);

/// How a process ended, from exit code or signal: "SIGKILL", or empty.
std::string signal_of(const Evidence& evidence);

/// Whether a library's state may come from a shortage of memory: where it names no state, too.
bool may_be_of_memory(const Evidence& library);

/// Whether that state is one of several reasons: a shortage, or a driver and a library that do not fit together.
bool is_vague(const Evidence& library);

/// The sentence that the others follow from: the best source of truth, then the first in time: by the order of lines
/// within a file, by the times that are printed between files, else by the order of the files.
/// Whether a line behind the failure, in its file, says that the run finished.
bool finished_behind(const std::vector<Evidence>& all, const Evidence& failure);

struct Root {
  const Evidence* evidence = nullptr;
  bool survived = false;
  const Evidence* outlived = nullptr;
};
Root root_of(const Wordings& wordings, const std::vector<Evidence>& evidence, const std::vector<Line>& lines);

/// The facts of the root and of what belongs to it; the first of a name counts.
std::vector<Reading> facts_of(const std::vector<Evidence>& evidence, const Evidence& root);

/// What an array of the shape and the data type among the facts takes, where they have no size that was asked for:
/// NumPy 1.17 and TensorFlow print only those. Its name is "requested".
std::optional<Reading> size_of_shape(const std::vector<Reading>& facts);

/// When in the run the root happened.
Moment moment_of(const Rules& rules, const std::vector<Evidence>& evidence, const std::vector<Line>& lines,
                 const Evidence& root, const std::vector<std::string>& files);

Case case_of(const Rules& rules, const std::vector<Evidence>& evidence, const std::vector<Line>& lines,
             const std::vector<std::string>& files);

}  // namespace oomplan::diagnose
