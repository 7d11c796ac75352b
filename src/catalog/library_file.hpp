// The files of models/libraries and models/runtimes.
#pragma once

#include <string>
#include <vector>

#include "files.hpp"
#include "oomplan/catalog/runtime.hpp"
#include "oomplan/core/result.hpp"

namespace oomplan::catalog {

struct LibraryFile {
  Library library{};
  std::vector<std::string> imports{};  ///< Names of others.
};

Result<LibraryFile> read_library(const DataFile& file);
Result<PythonCosts> read_python(const DataFile& file);

}  // namespace oomplan::catalog
