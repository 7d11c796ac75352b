// The keys and values that a dialect reads, from the file and from the command line alike.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "oomplan/core/result.hpp"
#include "oomplan/plan/plan.hpp"
#include "oomplan/read/document.hpp"

namespace oomplan::ingestion {

/// A key with its value. Both point into a Document that outlives the reading.
struct Input {
  std::string key{};  ///< Dotted where it stood in a mapping ("fsdp_config.version").
  const Node* value = nullptr;
  const Document* document = nullptr;
  Location key_at{};
  std::string command_line{};  ///< The text of --set; empty for a key of the file.
};

using Inputs = std::vector<Input>;

/// The entries of a mapping, each key prefixed.
Inputs inputs_of(const Document& document, const Node& mapping, const std::string& prefix = {},
                 const std::string& command_line = {});

/// Replaces inputs of the same key, or adds.
void replace(Inputs& inputs, const Input& input);

Origin origin_of(const Input& input);

/// A diagnostic that points at the value, or at the key where that is what is wrong.
Diagnostic at_value(const Input& input, std::string_view code, std::string message, std::string hint = {});
Diagnostic at_key(const Input& input, Severity severity, std::string_view code, std::string message,
                  std::string hint = {});

/// `path` as `file` says it: relative to that one's folder.
std::string beside(const std::string& file, const std::string& path);

/// The value as an error message shows it: `"two"`, `-1`, `a list`, `nothing`.
std::string shown(const Node& node);

/// Whether the value asks for something: not null, false, 0, "", "no", "none", "false", an empty list or mapping.
bool is_set(const Node& node);

}  // namespace oomplan::ingestion
