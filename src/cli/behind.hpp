// The files that an answer comes from, so that none of its reports replaces one.
#pragma once

#include <string>
#include <vector>

#include "oomplan/ingest/ingest.hpp"
#include "oomplan/read/document.hpp"

namespace oomplan::cli {

/// The document's own, and each that ingest() asks the loader of `options` for: what it extends, its lengths. As far as
/// it gets where the config is wrong.
std::vector<std::string> files_behind(const Document& document, IngestOptions options);

/// The same of a config by its path, which is among them even where it cannot be read.
std::vector<std::string> files_behind(const std::string& config, const IngestOptions& options);

}  // namespace oomplan::cli
