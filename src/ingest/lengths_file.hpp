// `lengths: FILE`.
#pragma once

#include <deque>

#include "inputs.hpp"
#include "oomplan/ingest/ingest.hpp"

namespace oomplan::ingestion {

/// Where a `lengths` among the inputs names a file, that file's numbers take the name's place: a list in any syntax of
/// a config, or numbers with space between them. A path is relative to the file that says it. The files go to
/// `documents`, whose elements never move. What cannot be used is taken out. Errors:
/// ingest/lengths-missing (and the loader's own), ingest/bad-value.
Diagnostics load_lengths(Inputs& inputs, const Loader& loader, std::deque<Document>& documents);

}  // namespace oomplan::ingestion
