#include "layout_files.hpp"

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "new_file.hpp"
#include "oomplan/advise/advise.hpp"
#include "oomplan/survey/meshes.hpp"

namespace oomplan::cli {
namespace {

Diagnostic not_written(std::string message, std::string hint = {}) {
  return {.code = "cli/not-written", .message = std::move(message), .hint = std::move(hint)};
}

/// Settings ("key=value") as changes of the document's own keys, of one key the last. Nothing where one is of the plan.
std::optional<std::vector<KeyChange>> changes_of(const std::vector<std::string>& settings) {
  std::vector<KeyChange> out;
  for (const std::string& setting : settings) {
    const std::size_t at = setting.find('=');
    const std::string key = setting.substr(0, at);
    if (at == setting.npos || key.starts_with("plan.")) return std::nullopt;
    std::erase_if(out, [&](const KeyChange& before) { return before.key == key; });
    out.push_back({key, setting.substr(at + 1)});
  }
  return out;
}

}  // namespace

Result<std::vector<std::string>> write_layout(const std::string& folder, const LayoutQuestion& question,
                                              const std::vector<std::string>& overrides, const Layout& layout) {
  std::vector<std::string> settings = overrides;
  settings.insert(settings.end(), layout.settings.begin(), layout.settings.end());
  const Diagnostic cannot =
      not_written("what --set changes cannot be put into this config", "leave --set out, or change the config itself");
  const std::optional<std::vector<KeyChange>> changes = changes_of(settings);
  if (!changes) return cannot;
  const bool toml = question.document.syntax == Syntax::toml;
  const Result<std::string> text = patched(question.document, *changes);
  if (!text) return text.errors();
  const Result<Document> document = parse_document(*text, question.document.file, question.document.syntax);
  IngestOptions plain = question.ingest;
  plain.overrides = {};
  const LayoutQuestion written{document ? *document : question.document,
                               plain,
                               question.architecture,
                               question.gpu,
                               question.world,
                               question.rows,
                               question.headroom};
  const std::optional<Bytes> needed = !document     ? std::nullopt
                                      : layout.mesh ? needed_as_written(written, *layout.mesh)
                                                    : needed_as_written(written, layout);
  if (needed != layout.needed) return cannot;
  std::error_code error;
  if (!std::filesystem::create_directory(folder, error))
    return not_written(folder + ": " + (error ? error.message() : "there is such a folder already"));
  const char* config = toml ? "config.toml" : question.document.syntax == Syntax::json ? "config.json" : "config.yaml";
  std::vector<std::pair<std::string, std::string>> files{{config, *text}};
  if (!layout.mesh) files.insert(files.begin(), {"accelerate.yaml", layout.launcher});
  std::vector<std::string> out;
  for (const auto& [name, content] : files) {
    Result<NewFile> file = NewFile::create((std::filesystem::path(folder) / name).string());
    if (!file) return file.errors();
    file->write(content);
    if (Diagnostics problems = file->problems(); !problems.empty()) return problems;
    out.push_back(file->path());
  }
  return out;
}

}  // namespace oomplan::cli
