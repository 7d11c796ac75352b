// The files of src/ingest/dialects/ that the build put into the program.
#pragma once

#include <span>
#include <string_view>

namespace oomplan::ingestion {

struct EmbeddedFile {
  std::string_view path;  ///< Below src/ingest/dialects/, with '/' ("hf/keys.yaml").
  std::string_view text;
};

/// All of them, sorted by path.
std::span<const EmbeddedFile> embedded_files();

}  // namespace oomplan::ingestion
