// What this build of the program has in it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oomplan/core/result.hpp"

namespace oomplan::cli {

struct BuiltIn {
  std::string data{};  ///< 16 hexadecimal digits: alike where models/, rules/ and the dialects' keys are.
  std::size_t models = 0;
  std::size_t gpus = 0;
  std::size_t fixes = 0;
  std::vector<std::string> read{};      ///< Packed files: "gzip" …
  std::vector<std::string> left_out{};  ///< "xz", "oomplan run" …
  std::string data_program{};           ///< The path of oomplan-data; "" where it is not there.
  Diagnostics problems{};               ///< Data files of ours that cannot be read: bugs.
};

/// Reads all of it. `word` is the command line's first, as data_program() takes it.
BuiltIn built_in(const std::string& word);

}  // namespace oomplan::cli
