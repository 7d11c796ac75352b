// find_libraries and python_costs.
#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include "errors.hpp"
#include "library_file.hpp"
#include "oomplan/catalog/catalog.hpp"

namespace oomplan {
namespace {

using namespace catalog;

Diagnostic unknown(const std::string& name, const Catalog& catalog) {
  std::vector<std::string> known;
  for (const DataFile& file : files_in("libraries", catalog)) known.emplace_back(file.name);
  return error_in({}, "catalog/unknown-library", "what library " + shown(name) + " costs is not known",
                  "known: " + joined(known, " and ") + "; or add libraries/" + name + ".yaml to a folder of --models");
}

}  // namespace

Result<std::vector<Library>> find_libraries(const std::vector<std::string>& names, const Catalog& catalog) {
  std::vector<Library> found;
  Diagnostics errors;
  std::deque<std::string> wanted(names.begin(), names.end());
  for (; !wanted.empty(); wanted.pop_front()) {
    // Files that import one another come once.
    if (std::ranges::count(found, wanted.front(), &Library::name) > 0) continue;
    const std::optional<DataFile> file = find_file("libraries", wanted.front(), catalog);
    Result<LibraryFile> read = file ? read_library(*file) : unknown(wanted.front(), catalog);
    if (!read) {
      errors.insert(errors.end(), read.errors().begin(), read.errors().end());
      continue;
    }
    found.push_back(std::move(read->library));
    wanted.insert(wanted.end(), read->imports.begin(), read->imports.end());
  }
  if (!errors.empty()) return errors;
  return found;
}

Result<PythonCosts> python_costs(const Catalog& catalog) {
  const std::optional<DataFile> file = find_file("runtimes", "python", catalog);
  if (!file) return error_in({}, "catalog/bad-file", "there is no models/runtimes/python.yaml");
  return read_python(*file);
}

}  // namespace oomplan
