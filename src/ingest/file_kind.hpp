// Files that people take for a training config, and that no dialect reads.
#pragma once

#include <optional>
#include <string_view>

#include "inputs.hpp"

namespace oomplan::ingestion {

struct FileKind {
  std::string_view what{};
  std::string_view hint{};
  bool trains = false;  ///< It says a run, which no dialect reads.
};

/// Whether the keys have this one, dotted where it is inside a mapping.
bool has_path(const Inputs& inputs, std::string_view path);

/// The kind of src/ingest/dialects/others.yaml whose marks the keys have.
std::optional<FileKind> kind_of(const Inputs& inputs);

}  // namespace oomplan::ingestion
