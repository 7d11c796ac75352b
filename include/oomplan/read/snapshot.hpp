// PyTorch's memory snapshots: what torch.cuda.memory._dump_snapshot writes, as values.
//
// Fields: torch/csrc/cuda/Module.cpp, THCPModule_memorySnapshot (2.0 to 2.9); torch/csrc/cuda/memory_snapshot.cpp,
// which writes the same from C++.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "oomplan/core/result.hpp"
#include "oomplan/read/log_text.hpp"

namespace oomplan {

struct SnapshotFrame {
  std::string file{};
  std::int64_t line = 0;
  std::string function{};
  friend bool operator==(const SnapshotFrame&, const SnapshotFrame&) = default;
};

/// Indices of frames, the innermost first.
using SnapshotStack = std::vector<std::uint32_t>;

struct SnapshotBlock {
  enum class State : std::uint8_t { inactive, active, pending };  ///< Pending: freed, and another stream still uses it.
  State state = State::inactive;
  std::uint32_t stack = 0;
  std::int64_t address = 0;
  std::int64_t size = 0;   ///< Bytes.
  std::int64_t asked = 0;  ///< Of them, what was asked for; 0 where that is not said (before 2.1).
};

struct SnapshotSegment {
  std::int64_t device = 0;
  std::int64_t size = 0;  ///< Bytes that the driver gave.
  bool expandable = false;
  std::vector<SnapshotBlock> blocks{};
  std::int64_t address = 0;
  std::int64_t stream = 0;
  bool small = false;         ///< Of the pool of up to 1 MiB.
  bool private_pool = false;  ///< Of a CUDA graph or a MemPool.
};

struct SnapshotEvent {
  enum class Action : std::uint8_t {
    allocate,
    free_requested,
    free,
    segment_alloc,
    segment_free,
    segment_map,
    segment_unmap,
    out_of_memory,
    other
  };
  Action action = Action::other;
  std::uint32_t stack = 0;
  std::int64_t address = 0;  ///< Of out_of_memory: what the device had free, in bytes.
  std::int64_t size = 0;     ///< Bytes.
  std::int64_t stream = 0;
};

/// allocator_settings, as far as they decide where memory goes.
struct SnapshotSettings {
  std::string alloc_conf{};  ///< PYTORCH_CUDA_ALLOC_CONF.
  bool expandable_segments = false;
  std::int64_t max_split = 0;  ///< max_split_size in bytes; 0 where every block may be split.
  double garbage_collection_threshold = 0;
  std::array<std::int64_t, 16> roundup_divisions{};  ///< roundup_power2_divisions, by power of two from 1 MiB up.
};

/// `stacks[0]` is the empty one, that of what was recorded without.
struct Snapshot {
  std::string file{};
  std::vector<SnapshotFrame> frames{};
  std::vector<SnapshotStack> stacks{};
  std::vector<SnapshotSegment> segments{};
  std::vector<std::vector<SnapshotEvent>> traces{};  ///< By device; the oldest first, as many as the recorder keeps.
  SnapshotSettings settings{};
};

/// Reads the rest of `file`, of which nothing was read as text; it begins as a pickle does (LogText::is_pickle).
/// Nothing in it is imported, called or built. Errors, with the byte at which the pickle goes wrong:
/// read/forbidden-opcode   it would import, call or build something
/// read/bad-pickle         it is no sound pickle
/// read/not-a-snapshot     a pickle of something else
/// read/truncated, read/damaged, read/too-large, read/too-deep
Result<Snapshot> read_snapshot(LogText& file, const std::string& name);

/// A pickle that read_snapshot() and PyTorch's memory_viz read. Entries of a trace are a microsecond apart.
std::string write_snapshot(const Snapshot& snapshot);

}  // namespace oomplan
