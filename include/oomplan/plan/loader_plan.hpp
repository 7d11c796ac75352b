// How a run's rows and weights come to its ranks: the facts that decide host memory and /dev/shm.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "oomplan/core/setting.hpp"

namespace oomplan {

/// multiprocessing's start method of a DataLoader's workers.
enum class WorkerStart : std::uint8_t { fork, spawn, forkserver };
inline constexpr std::array<std::string_view, 3> worker_start_names{"fork", "spawn", "forkserver"};

/// How the dataset is held while it is trained on.
enum class RowsAs : std::uint8_t {
  list,    ///< Python objects: forked workers copy what they look at, as its reference counts are written.
  numpy,   ///< One array in the process's memory.
  arrow,   ///< Arrow buffers in the process's memory.
  mapped,  ///< Arrow files, memory-mapped, as Hugging Face's datasets holds them: page cache, once for all.
  stream,  ///< Not held: read as it goes.
};
inline constexpr std::array<std::string_view, 5> rows_as_names{"list", "numpy", "arrow", "mapped", "stream"};

/// What a row is made of. Integers are token ids; a row of bytes is one text.
enum class RowValues : std::uint8_t { int64, int32, int16, bytes };
inline constexpr std::array<std::string_view, 4> row_values_names{"int64", "int32", "int16", "bytes"};

/// Where a rank has the model once it is loaded. device: on its GPU. host: in its own memory, until the trainer moves
/// it. host_of_several: on its GPU where it is alone and under FSDP, else in its own memory (TRL).
enum class WeightsOn : std::uint8_t { device, host, host_of_several, unknown };
inline constexpr std::array<std::string_view, 4> weights_on_names{"device", "host", "host_of_several", "unknown"};

struct LoaderPlan {
  Setting<std::int64_t> ranks{};     ///< Training processes on this machine, each with workers of its own.
  Setting<std::int64_t> workers{};   ///< num_workers of a rank's DataLoader; 0: the rank loads.
  Setting<std::int64_t> prefetch{};  ///< prefetch_factor: batches that each worker is ahead.
  Setting<WorkerStart> start{};
  Setting<bool> persistent{};      ///< Workers live over epochs.
  Setting<std::int64_t> epochs{};  ///< Through which persistent workers look at a list again.
  Setting<bool> shuffle{};         ///< Rows in random order, against one batch after another.
  Setting<bool> pin_memory{};      ///< A thread copies each batch to pinned memory.
  Setting<RowsAs> rows_as{};
  Setting<RowValues> values{};
  Setting<std::int64_t> row_values{};      ///< Values in a row on average; 0: by the profile's bytes.
  Setting<bool> padded{};                  ///< Rows of a batch are as long as sequence_length, of int64.
  Setting<bool> packed{};                  ///< A row of a batch is many of the dataset's, as many as fill it.
  Setting<std::int64_t> columns{};         ///< Tensors of that size in a batch (input_ids, attention_mask, labels).
  Setting<std::int64_t> shuffle_buffer{};  ///< Rows that a stream's shuffling holds.
  Setting<std::int64_t> map_processes{};   ///< num_proc of map() before training; 0: none, but for map_a_core.
  Setting<bool> map_a_core{};  ///< Where map_processes is 0: map() has a process for each of the machine's cores.
  Setting<WeightsOn> weights_on{};
  Setting<bool> weights_before_rows{};            ///< The model is loaded before map().
  Setting<std::vector<std::string>> libraries{};  ///< What every process imports: names in models/libraries.
  friend bool operator==(const LoaderPlan&, const LoaderPlan&) = default;
};

}  // namespace oomplan
