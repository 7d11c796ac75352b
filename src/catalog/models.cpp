// find_model, architecture_of, and the lists of what there is.
#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <utility>

#include "architecture_file.hpp"
#include "errors.hpp"
#include "fields.hpp"
#include "files.hpp"
#include "hub_cache.hpp"
#include "oomplan/catalog/catalog.hpp"
#include "oomplan/core/text.hpp"
#include "oomplan/read/named_document.hpp"
#include "preset_file.hpp"

namespace oomplan {
namespace {

using namespace catalog;
namespace fs = std::filesystem;

Diagnostic no_config(const fs::path& directory) {
  std::error_code ignored;
  const bool is_adapter = fs::exists(directory / "adapter_config.json", ignored);
  return error_in({directory.string(), Syntax::json, {}, {}}, "catalog/no-config", "the directory has no config.json",
                  is_adapter ? "it holds an adapter: name the model that the adapter is for." : "");
}

/// architecture_of() with the overrides in the config.
Result<Architecture> overridden(Document config, const Catalog& catalog, const ConfigOverrides& overrides) {
  for (const auto& [key, text] : overrides) {
    Result<Document> value = parse_document(text, key, Syntax::yaml);
    if (!value) return value.errors();
    value->root.line = value->root.column = 0;
    if (config.root.is_mapping()) put(config.root, key, std::move(value->root));
  }
  Result<Architecture> out = architecture_of(config, catalog);
  if (!out) return out;
  for (const auto& [key, text] : overrides) {
    const bool reads = std::ranges::count(out->config, key, [](const auto& row) { return row.first; }) > 0;
    if (!reads && text != "null") out->not_played.push_back("an overridden " + key + " of its config");
  }
  return out;
}

bool is_false(const Node* node) { return node != nullptr && node->as_boolean() == false; }

/// What TRL's trainers say themselves, or what changes no allocation.
bool is_said_by_trainers(std::string_view key) {
  constexpr std::array<std::string_view, 12> keys{
      "_from_model_config", "bos_token_id",       "do_sample",   "eos_token_id", "max_length", "max_new_tokens",
      "pad_token_id",       "repetition_penalty", "temperature", "top_k",        "top_p",      "transformers_version"};
  return std::ranges::count(keys, key) > 0;
}

/// transformers' GenerationConfig.from_pretrained: the file beside config.json, or where there is none, config.json.
std::string generation_asks(const fs::path& config, const Node& values) {
  const fs::path own = config.parent_path() / "generation_config.json";
  std::error_code error;
  if (!fs::exists(own, error)) return is_false(values.find("use_cache")) ? "use_cache: false in config.json" : "";
  const Result<Document> document = read_named_document(own.string());
  if (!document || !document->root.is_mapping()) return "a generation_config.json that cannot be read";
  for (const Entry& entry : document->root.entries) {
    const bool usual = entry.key == "use_cache" && entry.value.as_boolean() == true;
    if (entry.value.kind == Node::Kind::null || usual || is_said_by_trainers(entry.key)) continue;
    return printable(entry.key) + " in generation_config.json";
  }
  return "";
}

Result<Architecture> from_path(const std::string& path, const Catalog& catalog, const ConfigOverrides& overrides) {
  std::error_code error;
  fs::path config = path;
  if (fs::is_directory(config, error)) {
    config /= "config.json";
    if (!fs::exists(config, error) && !error) return no_config(path);
  }
  const Result<Document> document = read_named_document(config.string());
  if (!document) return document.errors();
  Result<Architecture> out = overridden(*document, catalog, overrides);
  if (!out) return out;
  out->generation_asks = generation_asks(config, document->root);
  return out;
}

/// Of a preset's family that is not played its user sees the id, not the preset.
Diagnostics named(Diagnostics errors, const std::string& id) {
  for (Diagnostic& error : errors) {
    if (error.code != "catalog/unknown-architecture") continue;
    error.message = printable(id) + ": " + error.message;
    error.where = {};
    error.excerpt.clear();
  }
  return errors;
}

Result<Architecture> from_preset(Preset preset, const Catalog& catalog, const ConfigOverrides& overrides) {
  Result<Architecture> out = overridden(std::move(preset.config), catalog, overrides);
  if (!out) return named(out.errors(), preset.id);
  out->source = std::move(preset.id);
  if (overrides.empty()) out->parameters = preset.parameters;
  if (!preset.not_played.empty()) out->not_played.push_back(std::move(preset.not_played));
  return out;
}

bool looks_like_path(std::string_view text) {
  return text.starts_with('/') || text.starts_with('.') || text.starts_with('~') || text.ends_with(".json");
}

/// "litgpt" of "litgpt.phi-2", a framework's own model; empty of others.
std::string_view framework_of(std::string_view id) {
  const bool is_own = id.find('/') == id.npos && id.find('.') != id.npos;
  return is_own ? id.substr(0, id.find('.')) : std::string_view();
}

/// A framework's own models are near only to what names the framework.
std::vector<std::string> models_near(std::string_view id, std::vector<std::string> known) {
  std::erase_if(known, [&](const std::string& one) { return !id.starts_with(framework_of(one)); });
  return near_names(id, known);
}

Diagnostic unknown_model(const std::string& id, const Catalog& catalog) {
  constexpr const char* code = "catalog/unknown-model";
  if (looks_like_path(id)) return error_in({}, code, "there is no file or directory " + shown(id));
  const std::vector<std::string> near = models_near(id, known_models(catalog));
  const std::string hint = near.empty() ? "give" : "did you mean " + joined(near) + "? Or give";
  return error_in({}, code, "no model " + shown(id) + " is known",
                  hint + " the path of its config.json, or of the directory that has it.");
}

}  // namespace

Result<Architecture> architecture_of(const Document& config, const Catalog& catalog) {
  if (!config.root.is_mapping())
    return error_in(config, "catalog/bad-value", "a model's config is a mapping of keys, which this is not");
  const Result<DataFile> file = architecture_file(config, catalog);
  if (!file) return file.errors();
  Result<Architecture> out = read_architecture(config, *file, catalog);
  if (out) out->source = config.file;
  return out;
}

Result<Architecture> find_model(const std::string& id_or_path, const Catalog& catalog,
                                const ConfigOverrides& overrides) {
  std::error_code error;
  if (!id_or_path.empty() && fs::exists(id_or_path, error)) return from_path(id_or_path, catalog, overrides);
  std::optional<Result<Preset>> preset = find_preset(id_or_path, catalog);
  if (!preset) {
    if (const auto cached = cached_config(catalog.hub_cache, id_or_path)) return from_path(*cached, catalog, overrides);
    return unknown_model(id_or_path, catalog);
  }
  if (!*preset) return preset->errors();
  return from_preset(**std::move(preset), catalog, overrides);
}

std::vector<std::string> known_models(const Catalog& catalog) {
  std::vector<std::string> out;
  for (const DataFile& file : files_in("presets", catalog))
    for (std::string& id : ids_of(file)) out.push_back(std::move(id));
  std::sort(out.begin(), out.end());
  return out;
}

Result<std::vector<std::string>> known_models_like(std::string_view part, const Catalog& catalog) {
  const std::string wanted = lowered(part);
  std::vector<std::string> out;
  for (std::string& id : known_models(catalog))
    if (lowered(id).find(wanted) != std::string::npos) out.push_back(std::move(id));
  if (out.empty()) return unknown_model(std::string(part), catalog);
  return out;
}

std::vector<Family> known_families(const Catalog& catalog) {
  std::vector<Family> out;
  for (const DataFile& file : files_in("architectures", catalog))
    for (Family& family : families_of(file)) out.push_back(std::move(family));
  std::ranges::sort(out, {}, &Family::model_type);
  return out;
}

std::vector<std::string> known_model_types(const Catalog& catalog) {
  std::vector<std::string> out;
  for (const DataFile& file : files_in("architectures", catalog))
    for (std::string& type : model_types_of(file)) out.push_back(std::move(type));
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace oomplan
