// read_models: a directory of the user's own data files.
#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include "errors.hpp"
#include "files.hpp"
#include "gpu_file.hpp"
#include "library_file.hpp"
#include "oomplan/catalog/catalog.hpp"
#include "preset_file.hpp"

namespace oomplan {
namespace {

using namespace catalog;
namespace fs = std::filesystem;

constexpr std::array<std::string_view, 7> folders{"architectures", "generations", "gpus",  "libraries",
                                                  "presets",       "runtimes",    "towers"};

Diagnostic error_of(const fs::path& path, std::string code, std::string message, std::string hint = {}) {
  return {Severity::error, std::move(code), std::move(message), {path.string(), 0, 0}, std::move(hint), {}};
}

/// What is in `directory`, sorted, so that two runs on two file systems say the same.
std::vector<fs::path> entries_of(const fs::path& directory, Diagnostics& errors) {
  std::vector<fs::path> out;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error))
    out.push_back(at->path());
  if (error)
    errors.push_back(error_of(directory, "catalog/unreadable-directory", "cannot be listed: " + error.message()));
  std::sort(out.begin(), out.end());
  return out;
}

void add_file(const fs::path& path, std::string_view folder, Catalog& out, Diagnostics& errors) {
  if (path.extension() == ".yml")
    errors.push_back(error_of(path, "catalog/bad-file", "the file's name must end in .yaml"));
  if (path.extension() != ".yaml") return;
  Result<Document> document = read_document(path.string());
  if (!document) {
    errors.insert(errors.end(), document.errors().begin(), document.errors().end());
    return;
  }
  std::string below = std::string(folder) + '/' + path.filename().string();
  out.files.push_back({std::move(below), std::move(document->text), path.string()});
}

void add_entry(const fs::path& path, Catalog& out, Diagnostics& errors) {
  const std::string name = path.filename().string();
  std::error_code ignored;
  if (std::find(folders.begin(), folders.end(), name) != folders.end()) {
    for (const fs::path& file : entries_of(path, errors)) add_file(file, name, out, errors);
  } else if (fs::is_directory(path, ignored) || path.extension() == ".yaml" || path.extension() == ".yml") {
    errors.push_back(error_of(path, "catalog/bad-file", "this is none of the folders that are read",
                              "those are " + joined({folders.begin(), folders.end()}, " and ") + "."));
  }
}

template <class T>
void collect(const Result<T>& result, Diagnostics& errors) {
  if (!result) errors.insert(errors.end(), result.errors().begin(), result.errors().end());
}

/// These stand on their own; an architecture can be judged only with a config.
void check(const Catalog& catalog, Diagnostics& errors) {
  for (const DataFile& file : files_in("gpus", catalog))
    if (!file.file.empty()) collect(read_gpu(file, catalog), errors);
  for (const DataFile& file : files_in("presets", catalog))
    if (!file.file.empty()) collect(*find_preset(id_of(file), catalog), errors);
  for (const DataFile& file : files_in("libraries", catalog))
    if (!file.file.empty()) collect(read_library(file), errors);
  for (const DataFile& file : files_in("runtimes", catalog))
    if (!file.file.empty()) collect(read_python(file), errors);
}

}  // namespace

Result<Catalog> read_models(const std::string& directory) {
  std::error_code error;
  if (!fs::is_directory(directory, error))
    return error_of(directory, "catalog/unreadable-directory", error ? error.message() : "this is not a directory");
  Catalog out;
  Diagnostics errors;
  for (const fs::path& path : entries_of(directory, errors)) add_entry(path, out, errors);
  if (errors.empty()) check(out, errors);
  if (!errors.empty()) return errors;
  return out;
}

}  // namespace oomplan
