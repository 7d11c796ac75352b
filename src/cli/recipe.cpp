#include "recipe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "input.hpp"
#include "oomplan/ingest/ingest.hpp"

namespace oomplan::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view script = "trl sft";

/// An argument of the script; a flag where it has no value.
struct Argument {
  std::string_view name{};
  std::string value{};
};

// TRL loads weights in float32 where nobody names a dtype, which few want, and stops where peft has no targets.
std::vector<Argument> arguments_of(const std::string& name, const Architecture& model, const RecipeAsked& asked) {
  std::vector<Argument> out{{"model_name_or_path", name}, {"dtype", "bfloat16"}};
  if (asked.method != "full") {
    out.push_back({"use_peft", {}});
    if (!has_default_targets(model.model_type)) out.push_back({"lora_target_modules", "all-linear"});
  }
  if (asked.method == "qlora") out.push_back({"load_in_4bit", {}});
  if (asked.batch) out.push_back({"per_device_train_batch_size", std::to_string(*asked.batch)});
  if (asked.length) out.push_back({"max_length", std::to_string(*asked.length)});
  return out;
}

std::string command_of(const std::vector<Argument>& arguments) {
  std::string out(script);
  for (const Argument& one : arguments)
    out += fmt::format(" --{}{}{}", one.name, one.value.empty() ? "" : " ", one.value);
  return out;
}

/// As YAML quotes what a name may hold.
std::string in_quotes(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string text_of(const std::vector<Argument>& arguments) {
  std::string out = "trainer: sft\n";
  for (const Argument& one : arguments) {
    out += fmt::format("{}: {}\n", one.name, one.value.empty() ? "true" : in_quotes(one.value));
  }
  return out;
}

bool is_named_as_file(std::string_view config) {
  constexpr std::array<std::string_view, 4> endings{".yaml", ".yml", ".json", ".toml"};
  return config.empty() || std::string_view("-/.~").find(config.front()) != std::string_view::npos ||
         std::ranges::any_of(endings, [&](std::string_view ending) { return config.ends_with(ending); });
}

bool is_model_folder(const std::string& config) {
  std::error_code ignored;
  return fs::is_directory(config, ignored) && fs::exists(fs::path(config) / "config.json", ignored);
}

/// Neither a file nor a model: its user may have meant either. Of a model's id the hub knows an owner.
Diagnostics neither(Diagnostics errors, bool has_owner) {
  for (Diagnostic& error : errors) {
    if (error.code != "catalog/unknown-model") continue;
    error.message = "there is no such file, and " + error.message;
    if (!has_owner) error.code = "read/missing";
  }
  return errors;
}

Diagnostic no_recipe() {
  return {.code = "cli/usage",
          .message = "--method, --batch and --length are of a model that is named in place of a config",
          .hint = "for a config, --set changes its own keys"};
}

Result<ReadConfig> recipe_of(const std::string& name, const Architecture& model, const RecipeAsked& asked) {
  const std::vector<Argument> arguments = arguments_of(name, model, asked);
  Result<Document> document = parse_document(text_of(arguments), std::string(script), Syntax::yaml);
  if (!document) return document.errors();
  return ReadConfig{std::move(*document), command_of(arguments)};
}

}  // namespace

void add_recipe_options(const ArgumentParser& app, RecipeAsked& recipe) {
  app.option("--method", recipe.method, "Of a model in place of a config: full, lora (as it is) or qlora")
      .among({"full", "lora", "qlora"})
      .type_name("NAME");
  app.option("--batch", recipe.batch, "Of a model in place of a config: rows of a batch, else as TRL has it")
      .positive()
      .type_name("ROWS");
  app.option("--length", recipe.length, "Of a model in place of a config: tokens of a row, else as TRL has it")
      .positive()
      .type_name("TOKENS");
}

Result<ReadConfig> config_or_recipe(const std::string& config, const RecipeAsked& recipe, const Catalog& catalog) {
  std::error_code ignored;
  const bool is_file = !is_model_folder(config) && (is_named_as_file(config) || fs::exists(config, ignored));
  if (is_file && recipe.is_asked()) return no_recipe();
  if (is_file) {
    Result<Document> document = read_config(config);
    if (!document) return document.errors();
    return ReadConfig{std::move(*document), {}};
  }
  const Result<Architecture> model = find_model(config, catalog);
  if (!model) return neither(model.errors(), config.find('/') != std::string::npos);
  return recipe_of(config, *model, recipe);
}

}  // namespace oomplan::cli
