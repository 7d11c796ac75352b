// keys.yaml of a dialect: the keys that no fact of a plan comes from, and why.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "oomplan/core/embedded.hpp"

namespace oomplan::ingestion {

/// Of src/ingest/dialects/.
std::span<const EmbeddedFile> embedded_files();

/// "  what: text" of the file.
struct KeyLine {
  std::string_view what{};
  std::string_view text{};
};

struct KeyFile {
  std::string_view shares{};          ///< The dialect whose keys without effect, rules and reasons are its own too.
  bool closed = false;                ///< The framework runs a config alone: what no key of it says is not to be had.
  std::string_view started_by{};      ///< What starts it, where that is not accelerate or DeepSpeed.
  std::vector<KeyLine> keys{};        ///< A key, and how it is read (arguments.hpp).
  std::vector<KeyLine> reasons{};     ///< A word, and what it says of a key.
  std::vector<KeyLine> no_effect{};   ///< A key, and the word of its reason.
  std::vector<KeyLine> refused{};     ///< A condition, and the framework's reason to refuse.
  std::vector<KeyLine> unmodelled{};  ///< A condition, and the name of what then takes memory.
  std::vector<KeyLine> fixes{};       ///< A fix of rules/ladder that no fact says, and the keys that ask for it.
  std::vector<KeyLine> until{};       ///< A key, and the first version without it: "trl 0.20; it is max_length now".
  std::vector<KeyLine> since{};       ///< A key, and the first version with it: "trl 0.23".
  std::vector<KeyLine> others{};      ///< A mapping, and what a key in it that is not known may change.
};

/// Reads such a file by lines: a start is a process of a few milliseconds, and a YAML parser would take a tenth of
/// that. The file is YAML all the same: sections without indent, in them "key: value" with two spaces before it, a
/// value plain or within double quotes without escapes. The views point into `text`.
KeyFile parse_key_file(std::string_view text);

/// The file that came with the program for the dialect ("hf"), read when it is first asked for; empty where there
/// is none.
const KeyFile& key_file(std::string_view dialect);

}  // namespace oomplan::ingestion
