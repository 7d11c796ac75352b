#include "preset_file.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "errors.hpp"
#include "fields.hpp"

namespace oomplan::catalog {
namespace {

constexpr std::array<std::string_view, 4> known_keys{"aliases", "parameters", "source", "config"};
constexpr std::string_view slash_in_names = "--";

char lowered(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lowered(x) == lowered(y); });
}

std::vector<std::string> ids_in(const DataFile& file, Fields& fields) {
  std::vector<std::string> out{id_of(file)};
  for (std::string& alias : fields.texts("aliases")) out.push_back(std::move(alias));
  return out;
}

/// The preset that the file holds under `id`, or nothing where it does not list it.
std::optional<Result<Preset>> read_preset(const DataFile& file, std::string_view id) {
  Result<Document> document = parse(file);
  if (!document) return Result<Preset>(document.errors());
  Diagnostics errors;
  Fields fields(*document, document->root, errors);
  fields.only(known_keys);
  const std::vector<std::string> ids = ids_in(file, fields);
  const auto found = std::find_if(ids.begin(), ids.end(), [&](const std::string& known) { return same(known, id); });
  if (found == ids.end()) return std::nullopt;
  Preset out{*found, fields.count("parameters", false).value_or(0), {}};
  const Node* config = fields.required("config");
  if (config != nullptr && !config->is_mapping())
    fields.refuse(*config, "\"config\" must be a mapping of keys, not " + shown(*config));
  if (!errors.empty()) return Result<Preset>(errors);
  Node root = *config;
  out.config = *std::move(document);
  out.config.root = std::move(root);
  return Result<Preset>(std::move(out));
}

}  // namespace

std::string id_of(const DataFile& file) {
  std::string out(file.name);
  if (const std::size_t at = out.find(slash_in_names); at != std::string::npos)
    out.replace(at, slash_in_names.size(), "/");
  return out;
}

std::optional<Result<Preset>> find_preset(std::string_view id, const Catalog& catalog) {
  const std::vector<DataFile> files = files_in("presets", catalog);
  for (const DataFile& file : files)
    if (same(id_of(file), id)) return read_preset(file, id);
  for (const DataFile& file : mentioning(id, files))
    if (std::optional<Result<Preset>> preset = read_preset(file, id)) return preset;
  return std::nullopt;
}

std::vector<std::string> ids_of(const DataFile& file) {
  const Result<Document> document = parse(file);
  if (!document) return {id_of(file)};
  Diagnostics ignored;
  Fields fields(*document, document->root, ignored);
  return ids_in(file, fields);
}

}  // namespace oomplan::catalog
