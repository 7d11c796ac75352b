// The config as the command line names it, and the files that it is read from.
#pragma once

#include <string>
#include <vector>

#include "oomplan/core/result.hpp"
#include "oomplan/ingest/ingest.hpp"
#include "oomplan/read/document.hpp"

namespace oomplan::cli {

/// The file at `path`, or standard input for "-", within the same budget.
Result<Document> read_config(const std::string& path);

/// What an answer comes from, so that none of its reports replaces it: the document's own file, and each that ingest()
/// asks the loader of `options` for: what it extends, its lengths; the files that name versions, and the model's own.
/// As far as it gets where the config is wrong.
std::vector<std::string> config_files(const Document& document, IngestOptions options);

/// The same of a config by its path, which is among them even where it cannot be read.
std::vector<std::string> config_files(const std::string& config, const IngestOptions& options);

}  // namespace oomplan::cli
