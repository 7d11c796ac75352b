// Whose config is this?
#pragma once

#include "dialect.hpp"

namespace oomplan::ingestion {

/// The dialect that knows the most of the keys (of two that know as many, the one with more keys that no other knows,
/// then the one whose key names the model), or the one of that name. Errors: ingest/unknown-dialect (none does, or
/// the file is of a known kind that is no dialect), ingest/ambiguous-dialect (two know as many).
Result<const Dialect*> recognise(const Inputs& inputs, const Document& document, std::string_view name);

}  // namespace oomplan::ingestion
