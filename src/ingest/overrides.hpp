// --set key=value.
#pragma once

#include <deque>

#include "dialect.hpp"
#include "oomplan/ingest/ingest.hpp"

namespace oomplan::ingestion {

/// The overrides, parsed: those of the dialect's own keys and those of the plan's fields.
struct Overrides {
  std::deque<Document> documents{};
  Inputs own{};
  Inputs fields{};
};

/// A key that is neither the dialect's nor a field of the plan is an error here (ingest/unknown-key): the user has just
/// typed it. Further errors: ingest/bad-override.
Overrides parse_overrides(const std::vector<std::string>& texts, const Dialect& dialect, Diagnostics& errors);

/// Adds how many GPUs there are, where no override has said so.
void add_world(const NamedWorld& world, Overrides& overrides);

/// Adds that `said` says of the GPUs that they are older, where no override has said so.
void add_older_gpu(const std::string& said, Overrides& overrides);

/// Adds whose trainer it is, where no override has said so.
void add_trainer(const IngestOptions& options, const Dialect& dialect, Overrides& overrides);

/// Takes the trainer out of the overrides where the dialect has no key for it, since the framework has one trainer for
/// such a config. Error: ingest/conflict, where that is another one.
void check_trainer(const Dialect& dialect, Overrides& overrides, Draft& draft);

/// Warning, ingest/overruled: `from` is what a file says of how many GPUs there are, and `world` says otherwise.
void warn_overruled(const NamedWorld& world, const Setting<std::int64_t>& from, Draft& draft);

/// Puts the plan's fields in place; what was missing and is now given is no longer missing.
void apply_fields(const Inputs& fields, const NamedWorld& world, Draft& draft);

}  // namespace oomplan::ingestion
