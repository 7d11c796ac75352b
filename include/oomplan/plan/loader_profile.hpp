// A dataset as `oomplan measure --json` measured it (docs/profile.schema.json), as far as a loader's memory goes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "oomplan/core/bytes.hpp"
#include "oomplan/core/result.hpp"

namespace oomplan {

/// A loader as oomplan.measure() timed it: with its workers, tokenizing, augmenting and collating.
struct MeasuredLoader {
  double rows_per_second = 0;             ///< Of all its workers together; above 0.
  std::optional<std::int64_t> workers{};  ///< Nothing where a loader does not say how many it has.
};

struct LoaderProfile {
  std::string file{};  ///< As the user named it.
  /// Of the whole dataset; at least 1. Nothing where a sample does not bound it.
  std::optional<std::int64_t> rows = 0;
  Bytes file_bytes{};                  ///< Of what was read, as it lies on the disk.
  Bytes decoded{};                     ///< The values of the rows that were read.
  std::optional<double> mean_row = 0;  ///< Decoded bytes of a row. Nothing where a sample does not bound it.
  Bytes longest_row{};                 ///< That was read: of a sample, there may be longer ones.
  double rows_per_second = 0;          ///< That one process reads and decodes; above 0, but where only `loader` is.
  bool sampled = false;                ///< `rows` and `mean_row` are the high ends of a sample's 95 % intervals.
  std::optional<MeasuredLoader> loader{};
  Diagnostics warnings{};  ///< ingest/partial-profile: the dataset has rows that the profile has not.
};

}  // namespace oomplan
