// A script's calls as a config: the arguments of those that a framework trains by, under names of keys.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "oomplan/core/result.hpp"
#include "oomplan/read/document.hpp"

namespace oomplan::ingestion {

struct Dialect;

/// A script as a config of a dialect: the document with the keys for a root.
struct ScriptConfig {
  std::string_view dialect{};
  Document document{};
};

/// Finds the dialect whose framework the script imports, or the one of that name. Errors: ingest/unknown-dialect where
/// no dialect reads the script, ingest/no-training where it trains nothing, ingest/several-runs where it trains more
/// than once or a call that there should be once is there with different arguments.
Result<ScriptConfig> config_of(const Document& script, std::string_view dialect);

// For dialects.

/// The values of `imports` begin with this module's name.
bool imports(const Document& script, std::string_view module);

/// Text of a step's call, "a.b.f"; empty of another step.
std::string_view call_of(const Node& step);
/// "f" of "a.b.f", and "a.b".
std::string_view function_of(std::string_view call);
std::string_view owner_of(std::string_view call);

Diagnostic script_error(const Document& script, const Node& at, std::string_view code, std::string message,
                        std::string hint = {});

}  // namespace oomplan::ingestion
