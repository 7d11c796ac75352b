#include "preset_file.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "errors.hpp"
#include "fields.hpp"
#include "oomplan/core/text.hpp"
#include "preset_ids.hpp"

namespace oomplan::catalog {
namespace {

constexpr std::array<std::string_view, 6> known_keys{"aliases",    "variants", "not_played",
                                                     "parameters", "source",   "config"};

bool same(std::string_view a, std::string_view b) { return lowered(a) == lowered(b); }

std::vector<std::string> ids_in(const DataFile& file, const Node& preset) {
  std::vector<std::string> out = other_ids_in(preset);
  out.insert(out.begin(), id_of(file));
  return out;
}

/// That lists of ids are such.
void check_ids(Fields& fields) {
  (void)fields.texts("aliases");
  const Node* variants = fields.find("variants");
  for (std::size_t i = 0; variants != nullptr && i < variants->entries.size(); ++i) {
    const Node& own = variants->entries[i].value;
    if (!own.is_mapping() && own.kind != Node::Kind::string)
      fields.refuse(own, "a variant is a mapping of keys of config.json, or a text, not " + shown(own));
  }
}

/// What is different of the variant that the preset was asked for as.
void vary(Preset& preset, Node& config, const Fields& fields) {
  const Node* variants = fields.find("variants");
  const Node* own = variants == nullptr ? nullptr : variants->find(preset.id);
  if (own == nullptr) return;
  if (!own->is_mapping()) preset.not_played = own->text;
  for (const Entry& entry : own->entries) put(config, entry.key, entry.value);
}

/// The preset that the file holds under `id`, or nothing where it does not list it.
std::optional<Result<Preset>> read_preset(const DataFile& file, std::string_view id) {
  Result<Document> document = parse(file);
  if (!document) return Result<Preset>(document.errors());
  Diagnostics errors;
  Fields fields(*document, document->root, errors);
  fields.only(known_keys);
  check_ids(fields);
  const std::vector<std::string> ids = ids_in(file, document->root);
  const auto found = std::find_if(ids.begin(), ids.end(), [&](const std::string& known) { return same(known, id); });
  if (found == ids.end()) return std::nullopt;
  Preset out{*found, fields.count("parameters", false).value_or(0), {}, fields.text("not_played", false)};
  const Node* config = fields.required("config");
  if (config != nullptr && !config->is_mapping())
    fields.refuse(*config, "\"config\" must be a mapping of keys, not " + shown(*config));
  if (!errors.empty()) return Result<Preset>(errors);
  Node root = *config;
  vary(out, root, fields);
  out.config = *std::move(document);
  out.config.root = std::move(root);
  return Result<Preset>(std::move(out));
}

/// Of the user's own `files`, by name first.
std::optional<Result<Preset>> find_own(std::string_view id, const std::vector<DataFile>& files) {
  for (const DataFile& file : files)
    if (same(id_of(file), id)) return read_preset(file, id);
  for (const DataFile& file : mentioning(id, files))
    if (std::optional<Result<Preset>> preset = read_preset(file, id)) return preset;
  return std::nullopt;
}

}  // namespace

std::string id_of(const DataFile& file) { return id_of_name(file.name); }

std::optional<Result<Preset>> find_preset(std::string_view id, const Catalog& catalog) {
  if (std::optional<Result<Preset>> own = find_own(id, own_files_in("presets", catalog))) return own;
  const std::optional<DataFile> file = find_listing(id, catalog);
  return file ? read_preset(*file, id) : std::nullopt;
}

std::vector<std::string> ids_of(const DataFile& file) {
  const Result<Document> document = parse(file);
  if (!document) return {id_of(file)};
  return ids_in(file, document->root);
}

}  // namespace oomplan::catalog
