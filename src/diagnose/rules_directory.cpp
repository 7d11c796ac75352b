// read_rules: a directory of the user's own rules.
#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "oomplan/diagnose/diagnose.hpp"
#include "oomplan/read/document.hpp"

namespace oomplan {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 10> folders{"actions",   "advice",   "alike",   "causes",      "ladder",
                                                   "launchers", "messages", "moments", "suggestions", "wording"};

void add_folder(const fs::path& directory, std::string_view folder, std::vector<RuleFile>& out, Diagnostics& errors) {
  std::error_code error;
  std::vector<fs::path> paths;
  for (fs::directory_iterator at(directory / folder, error), end; !error && at != end; at.increment(error))
    if (at->path().extension() == ".yaml") paths.push_back(at->path());
  std::sort(paths.begin(), paths.end());
  for (const fs::path& path : paths) {
    Result<Document> document = read_document(path.string());
    if (document) {
      out.push_back({std::string(folder) + '/' + path.filename().string(), std::move(document->text), path.string()});
    } else {
      errors.insert(errors.end(), document.errors().begin(), document.errors().end());
    }
  }
}

}  // namespace

Result<std::vector<RuleFile>> read_rules(const std::string& directory) {
  std::error_code error;
  if (!fs::is_directory(directory, error))
    return Diagnostic{
        Severity::error, "diagnose/unreadable-rules", "this is no directory that can be read", {directory}, {}, {}};
  std::vector<RuleFile> out;
  Diagnostics errors;
  for (const std::string_view folder : folders) add_folder(directory, folder, out, errors);
  if (!errors.empty()) return errors;
  return out;
}

}  // namespace oomplan
