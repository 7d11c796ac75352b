// A device's trace in a memory snapshot, taken back to where it begins, and played from there: as it was recorded, or
// under other settings and on another card.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "oomplan/core/result.hpp"
#include "oomplan/estimate/allocator.hpp"
#include "oomplan/read/snapshot.hpp"

namespace oomplan {

/// What a trace says, entry by entry; entries that are of no concern to the allocator are left out.
struct RecordedStep {
  enum class Kind : std::uint8_t { allocate, free, new_segment, release, out_of_memory };
  Kind kind = Kind::allocate;
  bool of_the_program = false;  ///< Of a release: empty_cache(), not an allocation for which there was no room.
  std::uint32_t slot = 0;
  std::uint32_t entry = 0;   ///< Of the trace, from 1.
  std::int64_t address = 0;  ///< Of out_of_memory: what the device had free, in bytes.
  std::int64_t size = 0;     ///< Bytes: as asked for, or of the segment.
};

struct Recording {
  AllocatorSettings settings{};
  std::string alloc_conf{};  ///< The settings as text, where the snapshot has it.
  std::vector<HeldSegment> start{};
  std::vector<RecordedStep> steps{};
  std::uint32_t slots = 0;      ///< As many as are used.
  std::int64_t entries = 0;     ///< Of the trace.
  std::int64_t streams = 0;     ///< That allocated; the allocator keeps the memory of each apart, and one is played.
  std::optional<Bytes> room{};  ///< What the allocator could have when it last ran out; nothing where it never did.
};

/// Undoes the trace from the snapshot's segments. Of a block that was there at the beginning and freed later only what
/// was asked for is known: its size is that rounded, or up to the next block where less lies between than is ever cut
/// off. Errors:
/// read/inconsistent-snapshot   the trace does not lead to the snapshot's segments
/// and those of parse_alloc_conf for the snapshot's own settings
Result<Recording> recording_of(const Snapshot& snapshot, std::size_t device);

/// How far the played allocator did what the recorded one did.
struct Agreement {
  std::int64_t allocations = 0;
  std::int64_t at_their_address = 0;
  std::int64_t segments = 0;                      ///< That were made, or mappings.
  std::int64_t same = 0;                          ///< Of them, made for the same allocation and of the same size.
  std::optional<std::int64_t> first_different{};  ///< The first entry at which a segment is made in one of both only.

  friend bool operator==(const Agreement&, const Agreement&) = default;
};

struct PlayedRecording {
  AllocatorStatistics statistics{};
  struct Failure {
    std::int64_t entry = 0;  ///< Of the trace, from 1.
    OutOfMemory memory{};
  };
  std::optional<Failure> failure{};  ///< Where it ended.
  std::int64_t survived = 0;         ///< Failures after which the recorded run went on for long.
  Agreement agreement{};
};

/// How the driver's part is played: with the addresses and releases that were recorded, or in an order of its own.
enum class DriverAs : std::uint8_t { recorded, descending, ascending };

/// Its own settings, the releases where they were, and the end where it was: no card is needed, since the trace says
/// when the driver refused.
PlayedRecording play_as_recorded(const Recording& recording, DriverAs driver = DriverAs::recorded);

/// The same requests under `settings` on `card`, up to the first that fails. What was cached when the trace begins is
/// there where the settings are its own and the card has room for it; else what was in use is allocated first.
PlayedRecording play_otherwise(const Recording& recording, const AllocatorSettings& settings, const Card& card);

}  // namespace oomplan
