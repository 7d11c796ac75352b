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

/// Of "\"trl[peft] >= 0.19, < 0.20 ; python_version > '3.9'\",  # why".
void add_range(std::string_view line, const std::string& file, int number, std::vector<PinRange>& ranges) {
  line = line.substr(0, line.find('#'));
  const auto first = line.find_first_not_of(" \t\r\"'");
  if (first == line.npos) return;
  const std::string_view text = line.substr(first);
  const auto at = text.find_first_of("<>=!~");
  if (at == text.npos) return;
  const std::string_view name = trimmed(text.substr(0, text.substr(0, at).find('[')).substr(0, at));
  const auto marker = text.find(';');
  std::string range;
  for (const char c : text.substr(at, marker == text.npos ? marker : marker - at)) {
    const bool part = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                      std::string_view("<>=!~.,*+-_").find(c) != std::string_view::npos;
    if (part) range += c;
  }
  while (range.ends_with(',')) range.pop_back();
  const bool one = range.starts_with("==") && range.find_first_of("*,") == range.npos;
  if (!is_name(name) || one) return;
  ranges.push_back({normal(name), range, marker != text.npos, {file, number, static_cast<int>(first) + 1}});
}

/// The lines of a text, each with its number.
template <class Line>
void each_line(std::string_view rest, Line line) {
  if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);
  for (int number = 1; !rest.empty(); ++number) {
    const std::string_view one = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
    line(one, number);
  }
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

// PEP 621's [project] dependencies, and those of its groups. `of_text`: pins_of_requirements or its like.
template <class Out>
void add_requirements(const Document& document, const Node* list,
                      std::vector<Out> (*of_text)(const std::string&, const std::string&), std::vector<Out>& out) {
  if (list == nullptr) return;
  for (const Node& one : list->items) {
    for (Out& pin : of_text(one.is_scalar() ? one.text : std::string(), document.file)) {
      pin.where = document.at(one);
      out.push_back(std::move(pin));
    }
  }
}

template <class Out>
void add_project(const Document& document, std::vector<Out> (*of_text)(const std::string&, const std::string&),
                 std::vector<Out>& out) {
  const Node* project = document.root.find("project");
  if (project != nullptr) add_requirements(document, project->find("dependencies"), of_text, out);
  const Node* extras = project == nullptr ? nullptr : project->find("optional-dependencies");
  for (const Node* groups : {extras, document.root.find("dependency-groups")}) {
    if (groups == nullptr) continue;
    for (const Entry& group : groups->entries) add_requirements(document, &group.value, of_text, out);
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
  add_project(*document, pins_of_requirements, out);
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
  each_line(text, [&](std::string_view line, int number) {
    const bool has_marker = line.substr(0, line.find('#')).find(';') != line.npos;
    add_line(line, file, number, has_marker ? marked : out);
  });
  out.insert(out.end(), marked.begin(), marked.end());
  return out;
}

std::vector<PinRange> ranges_of_requirements(const std::string& text, const std::string& file) {
  std::vector<PinRange> out;
  each_line(text, [&](std::string_view line, int number) { add_range(line, file, number, out); });
  return out;
}

namespace {

Result<std::string> text_of(const std::string& path) {
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
  return text;
}

}  // namespace

std::vector<PinRange> read_ranges(const std::string& path) {
  std::error_code error;
  const bool lock = path.ends_with(".lock") || path.ends_with("pylock.toml");
  if (lock || fs::is_directory(path, error)) return {};
  auto text = text_of(path);
  if (!text) return {};
  if (!is_toml(path)) return ranges_of_requirements(*text, path);
  const auto document = parse_document(*std::move(text), path, Syntax::toml, {.nodes = most_nodes});
  std::vector<PinRange> out;
  if (document) add_project(*document, ranges_of_requirements, out);
  return out;
}

Result<std::vector<Pin>> read_pins(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return pins_of_environment(path);
  auto text = text_of(path);
  if (!text) return text.errors();
  return is_toml(path) ? pins_of_lock(*std::move(text), path)
                       : Result<std::vector<Pin>>(pins_of_requirements(*text, path));
}

}  // namespace oomplan
