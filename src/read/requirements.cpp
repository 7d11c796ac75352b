#include "oomplan/read/requirements.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <system_error>

#include "oomplan/read/byte_source.hpp"
#include "oomplan/read/document.hpp"

namespace oomplan {
namespace {

constexpr std::string_view blanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(blanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string normal(std::string_view name) {
  std::string out(name);
  std::ranges::transform(out, out.begin(), [](unsigned char c) {
    return c == '_' || c == '.' ? '-' : static_cast<char>(std::tolower(c));
  });
  return out;
}

bool is_name(std::string_view text) {
  const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.'; };
  return !text.empty() && std::ranges::all_of(text, fits);
}

/// Of "trl[peft] == 1.16.0 ; python_version > '3.9' --hash=… # why".
void add_line(std::string_view line, const std::string& file, int number, std::vector<Pin>& pins) {
  line = line.substr(0, line.find('#'));
  const auto equals = line.find("==");
  if (equals == line.npos) return;
  const std::string_view left = line.substr(0, equals);
  const std::string_view name = trimmed(left.substr(0, left.find('[')));
  const std::string_view right = line.substr(equals);
  std::string_view version = trimmed(right.substr(std::min(right.find_first_not_of('='), right.size())));
  version = version.substr(0, version.find_first_of(" \t;,\\"));
  if (!is_name(name) || version.empty()) return;
  const int column = static_cast<int>(line.find_first_not_of(blanks)) + 1;
  pins.push_back({normal(name), std::string(version), {file, number, column}});
}

void add_packages(const Document& document, std::string_view key, std::vector<Pin>& pins) {
  const Node* packages = document.root.find(key);
  if (packages == nullptr) return;
  for (const Node& one : packages->items) {
    const Node* name = one.find("name");
    const Node* version = one.find("version");
    if (name == nullptr || version == nullptr || !name->is_scalar() || !version->is_scalar()) continue;
    pins.push_back({normal(name->text), version->text, document.at(*version)});
  }
}

bool is_toml(const std::string& path) { return path.ends_with(".lock") || path.ends_with(".toml"); }

// PEP 621's [project] dependencies, and those of its groups.
void add_requirements(const Document& document, const Node* list, std::vector<Pin>& pins) {
  if (list == nullptr) return;
  for (const Node& one : list->items) {
    for (Pin& pin : pins_of_requirements(one.is_scalar() ? one.text : std::string(), document.file)) {
      pin.where = document.at(one);
      pins.push_back(std::move(pin));
    }
  }
}

void add_project(const Document& document, std::vector<Pin>& pins) {
  const Node* project = document.root.find("project");
  if (project != nullptr) add_requirements(document, project->find("dependencies"), pins);
  const Node* extras = project == nullptr ? nullptr : project->find("optional-dependencies");
  for (const Node* groups : {extras, document.root.find("dependency-groups")}) {
    if (groups == nullptr) continue;
    for (const Entry& group : groups->entries) add_requirements(document, &group.value, pins);
  }
}

// A lock file has three values for each file of each package.
constexpr int most_nodes = 1'000'000;

Result<std::vector<Pin>> pins_of_lock(std::string text, const std::string& path) {
  const auto document = parse_document(std::move(text), path, Syntax::toml, {.nodes = most_nodes});
  if (!document) return document.errors();
  std::vector<Pin> out;
  add_packages(*document, "package", out);
  add_packages(*document, "packages", out);
  add_project(*document, out);
  return out;
}

namespace fs = std::filesystem;

constexpr std::string_view metadata = ".dist-info";
constexpr std::size_t most_entries = 100'000;

/// Of the folder of installed metadata "trl-1.16.0.dist-info".
std::optional<Pin> installed(const fs::path& folder) {
  const std::string name = folder.filename().string();
  const auto dash = name.find('-');
  if (!name.ends_with(metadata) || dash == name.npos || dash + 1 >= name.size() - metadata.size()) return std::nullopt;
  const std::string version = name.substr(dash + 1, name.size() - metadata.size() - dash - 1);
  if (!is_name(name.substr(0, dash))) return std::nullopt;
  return Pin{normal(name.substr(0, dash)), version, {folder.string(), 0, 0}};
}

/// What is in a folder, by name; nothing of one that cannot be read.
std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> out;
  std::error_code error;
  for (fs::directory_iterator at(folder, error); !error && at != fs::directory_iterator() && out.size() < most_entries;
       at.increment(error))
    out.push_back(at->path());
  std::ranges::sort(out);
  return out;
}

void add_installed(const fs::path& folder, std::vector<Pin>& pins) {
  for (const fs::path& entry : entries_of(folder)) {
    if (auto pin = installed(entry)) pins.push_back(*std::move(pin));
  }
}

Result<std::vector<Pin>> pins_of_environment(const std::string& path) {
  std::vector<Pin> out;
  add_installed(path, out);
  for (const fs::path& python : entries_of(fs::path(path) / "lib")) add_installed(python / "site-packages", out);
  if (!out.empty()) return out;
  return Diagnostic{Severity::error,
                    "read/no-packages",
                    "no package is installed in this folder",
                    {path},
                    "give a file that pins versions, a virtual environment ($VIRTUAL_ENV), or its site-packages folder",
                    {}};
}

}  // namespace

std::vector<Pin> pins_of_requirements(const std::string& text, const std::string& file) {
  std::vector<Pin> out;
  std::vector<Pin> marked;
  std::string_view rest = text;
  if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);
  for (int number = 1; !rest.empty(); ++number) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const bool has_marker = line.substr(0, line.find('#')).find(';') != line.npos;
    add_line(line, file, number, has_marker ? marked : out);
  }
  out.insert(out.end(), marked.begin(), marked.end());
  return out;
}

Result<std::vector<Pin>> read_pins(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return pins_of_environment(path);
  auto source = read::open_bytes(path);
  if (!source) return source.errors();
  constexpr std::size_t most = ReadBudget{}.bytes;
  auto text = read::first_bytes(**source, most + 1);
  if (!text) return text.errors();
  if (text->size() > most)
    return Diagnostic{Severity::error, "read/too-large", "too large for a list of pins", {path}, {}, {}};
  if (text->starts_with("\xFF\xFE") || text->starts_with("\xFE\xFF"))
    return Diagnostic{Severity::error, "read/encoding",    "the file is UTF-16, not UTF-8",
                      {path},          "save it as UTF-8", {}};
  return is_toml(path) ? pins_of_lock(*std::move(text), path)
                       : Result<std::vector<Pin>>(pins_of_requirements(*text, path));
}

}  // namespace oomplan
