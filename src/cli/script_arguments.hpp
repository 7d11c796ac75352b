// The arguments of a script as a config: what argparse and transformers' HfArgumentParser make of them.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "oomplan/core/result.hpp"

namespace oomplan::cli {

/// What follows a name, up to the next one.
struct ScriptArgument {
  std::string key{};  ///< With underscores.
  std::vector<std::string> values{};

  /// The key and its value as YAML: true where there is none, a list where there are several. transformers 5.23.0,
  /// hf_argparser.py: --no_key is beside a flag that is true by itself.
  std::pair<std::string, std::string> as_yaml() const;
};

bool is_option(const std::string& word);

/// Error, cli/usage: a word before any name.
Result<std::vector<ScriptArgument>> script_arguments(std::span<const std::string> words);

/// The arguments as YAML, a line each; of two with one key the later.
std::string yaml_text(const std::vector<ScriptArgument>& arguments);

/// As YAML quotes what a name may hold.
std::string in_quotes(const std::string& text);

}  // namespace oomplan::cli
