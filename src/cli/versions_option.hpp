// The options --framework and --requirements.
#pragma once

#include <string>
#include <vector>

#include "oomplan/arguments/arguments.hpp"
#include "oomplan/ingest/ingest.hpp"

namespace oomplan::cli {

/// What says the versions of frameworks.
struct VersionsAsked {
  std::vector<std::string> frameworks{};    ///< "trl==1.16.0"
  std::vector<std::string> requirements{};  ///< Files that pin versions.
};

void add_version_options(const ArgumentParser& app, VersionsAsked& asked);

/// Reads the files; --framework goes before them, and of two files the first. What cannot be read goes to
/// `options.unread`.
void name_versions(const VersionsAsked& asked, IngestOptions& options);

}  // namespace oomplan::cli
