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
#include "script_arguments.hpp"

namespace oomplan::cli {
namespace {

namespace fs = std::filesystem;

ScriptArgument number(std::string key, std::int64_t value) { return {std::move(key), {std::to_string(value)}}; }

/// TRL makes a text of a list of one, which peft takes for an expression of a whole name.
std::vector<std::string> targets_of(const Architecture& model) {
  if (model.linear_layers.empty()) return {"all-linear"};
  return model.linear_layers.size() == 1 ? std::vector{".*" + model.linear_layers.front()} : model.linear_layers;
}

/// Peft stops where it has no targets and nobody names some, at all linear layers of Mamba's blocks, and at dropout
/// over the parameters of experts.
void add_adapter(const Architecture& model, std::vector<ScriptArgument>& out) {
  out.push_back({"use_peft", {}});
  if (has_default_targets(model.model_type)) return;
  out.push_back({"lora_target_modules", targets_of(model)});
  if (model.linear_layers.empty() && !model.expert_names.empty()) out.push_back(number("lora_dropout", 0));
}

std::int64_t usual_length(const Architecture& model) {
  constexpr std::int64_t ten_seconds = 160'000;
  constexpr std::int64_t usual = 512;
  if (model.rows == Rows::sound) return ten_seconds;
  return model.max_positions > 0 ? std::min(model.max_positions, usual) : usual;
}

struct Script {
  std::string_view name{};
  std::string_view trainer{};
  std::vector<ScriptArgument> arguments{};
};

// TRL loads weights in float32 where nobody names a dtype, which few want. What predicts no next token none of its
// trainers takes; neither the length nor LoRA's rank is the Trainer's own.
Script script_of(const std::string& name, const Architecture& model, const RecipeAsked& asked) {
  const bool by_trl = model.task == Task::causal_lm;
  Script out{by_trl ? "trl sft" : "Trainer", by_trl ? "sft" : "trainer", {{"model_name_or_path", {name}}}};
  std::vector<ScriptArgument>& arguments = out.arguments;
  arguments.push_back(by_trl ? ScriptArgument{"dtype", {"bfloat16"}} : ScriptArgument{"bf16", {}});
  if (asked.method != "full") add_adapter(model, arguments);
  if (asked.method != "full" && !by_trl) arguments.push_back(number("lora_r", 16));
  if (asked.method == "qlora") arguments.push_back({"load_in_4bit", {}});
  if (asked.batch) arguments.push_back(number("per_device_train_batch_size", *asked.batch));
  if (asked.length || !by_trl) {
    const std::int64_t length = asked.length.value_or(usual_length(model));
    arguments.push_back(number(by_trl ? "max_length" : "max_seq_length", length));
  }
  return out;
}

std::string command_of(const Script& script) {
  std::string out(script.name);
  for (const ScriptArgument& one : script.arguments) {
    out += fmt::format(" --{}", one.key);
    for (const std::string& value : one.values) out += " " + value;
  }
  return out;
}

std::string text_of(const Script& script) {
  return fmt::format("trainer: {}\n", script.trainer) + yaml_text(script.arguments);
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

Result<ReadConfig> recipe_of(const std::string& name, const Architecture& model, const RecipeAsked& asked) {
  const Script script = script_of(name, model, asked);
  Result<Document> document = parse_document(text_of(script), std::string(script.name), Syntax::yaml);
  if (!document) return document.errors();
  return ReadConfig{std::move(*document), command_of(script)};
}

}  // namespace

Diagnostic no_recipe() {
  return {.code = "cli/usage",
          .message = "--method, --batch and --length are of a model that is named in place of a config",
          .hint = "for a config, --set changes its own keys"};
}

bool names_file(const std::string& config) {
  std::error_code ignored;
  return !is_model_folder(config) && (is_named_as_file(config) || fs::exists(config, ignored));
}

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
  const bool is_file = names_file(config);
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
