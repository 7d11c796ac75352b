// A dataset as `oomplan measure --json` measured it (docs/profile.schema.json), as far as a loader's memory goes.
#pragma once

#include <cstdint>
#include <string>

#include "oomplan/bytes.hpp"

namespace oomplan {

struct LoaderProfile {
  std::string file{};     ///< As the user named it.
  std::int64_t rows = 0;  ///< Of the whole dataset; at least 1.
  Bytes file_bytes{};     ///< As it lies on the disk.
  Bytes decoded{};        ///< The rows' values.
  double mean_row = 0;    ///< Decoded bytes of a row; at most that of `longest_row`.
  Bytes longest_row{};
  double rows_per_second = 0;  ///< That one process reads and decodes; above 0.
};

}  // namespace oomplan
