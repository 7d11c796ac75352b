// Configs that name others.
#pragma once

#include <deque>

#include "inputs.hpp"
#include "oomplan/ingest/ingest.hpp"

namespace oomplan::ingestion {

/// The keys of a config and of those that it extends, and the documents that they point into.
struct Composed {
  std::deque<Document> documents{};  ///< Its elements never move.
  Inputs inputs{};
};

/// ingest/not-a-mapping, at the document's root.
Diagnostic not_a_mapping(const Document& document);

/// `document` over the file that its `extends:` names, and so on; paths are relative to the file that says them.
/// Errors: ingest/not-a-mapping, ingest/bad-value, ingest/extends-missing, ingest/extends-cycle, and the loader's own.
Result<Composed> compose(const Document& document, const Loader& loader);

}  // namespace oomplan::ingestion
