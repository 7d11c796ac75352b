#include "layout_files.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "new_file.hpp"

namespace oomplan::cli {
namespace {

Diagnostic not_written(std::string message, std::string hint = {}) {
  return {.code = "cli/not-written", .message = std::move(message), .hint = std::move(hint)};
}

std::string_view key_of(std::string_view text, char mark) { return text.substr(0, text.find(mark)); }

/// The lines of a mapping with each setting ("key=value") in place of the line of its key, or behind them.
std::string with_settings(std::string_view text, const std::vector<std::string>& settings) {
  std::string out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const auto sets = [&](const std::string& setting) { return key_of(setting, '=') == key_of(line, ':'); };
    if (std::ranges::none_of(settings, sets)) out += std::string(line) + "\n";
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const auto again = [&](const std::string& later) { return key_of(later, '=') == key_of(settings[i], '='); };
    if (std::any_of(settings.begin() + static_cast<std::ptrdiff_t>(i) + 1, settings.end(), again)) continue;
    out += std::string(key_of(settings[i], '=')) + ": " + settings[i].substr(settings[i].find('=') + 1) + "\n";
  }
  return out;
}

}  // namespace

Result<std::vector<std::string>> write_layout(const std::string& folder, const LayoutQuestion& question,
                                              const std::vector<std::string>& overrides, const Layout& layout) {
  std::vector<std::string> settings = overrides;
  settings.insert(settings.end(), layout.settings.begin(), layout.settings.end());
  const std::string text = with_settings(question.document.text, settings);
  const Result<Document> document = parse_document(text, "config.yaml", Syntax::yaml);
  IngestOptions plain = question.ingest;
  plain.overrides = {};
  const LayoutQuestion written{document ? *document : question.document,
                               plain,
                               question.architecture,
                               question.gpu,
                               question.world,
                               question.rows,
                               question.headroom};
  if (!document || needed_as_written(written, layout) != layout.needed)
    return not_written("the settings of the first layout, or of --set, cannot be put into this config",
                       "config.yaml has keys of its first level; leave --set out, or change the config itself");
  std::error_code error;
  if (!std::filesystem::create_directory(folder, error))
    return not_written(folder + ": " + (error ? error.message() : "there is such a folder already"));
  const std::array<std::pair<std::string, std::string>, 2> files{
      {{"accelerate.yaml", layout.launcher}, {"config.yaml", text}}};
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
