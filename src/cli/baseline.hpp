// Configs as they were: in a git revision, or in a directory.
#pragma once

#include <optional>
#include <string>

#include "oomplan/core/result.hpp"
#include "oomplan/ingest/ingest.hpp"
#include "oomplan/read/document.hpp"

namespace oomplan::cli {

class Baseline {
 public:
  /// A directory of that name goes before a revision. Error: cli/no-baseline.
  static Result<Baseline> open(const std::string& revision_or_directory);

  /// The config at `path`, as it is named now; nothing only where the baseline has no such file. Errors: those of
  /// read_document.
  std::optional<Result<Document>> read(const std::string& path) const;
  /// Reads what a former config extends; beside it, as it was.
  Loader loader() const;

 private:
  std::string revision_{};
  std::string directory_{};
};

}  // namespace oomplan::cli
