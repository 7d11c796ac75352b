#include "training_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "launched.hpp"
#include "launcher_words.hpp"
#include "script_arguments.hpp"

namespace oomplan::cli {
namespace {

using Words = std::span<const std::string>;

Diagnostic refused(std::string message, std::string hint) {
  return {.code = "cli/usage", .message = std::move(message), .hint = std::move(hint)};
}

bool is_config(std::string_view word) {
  constexpr std::array<std::string_view, 4> endings{".yaml", ".yml", ".json", ".toml"};
  return std::ranges::any_of(endings, [&](std::string_view ending) { return word.ends_with(ending); });
}

/// The file that `config_key` names, or that stands first; the other arguments are over its keys.
Result<TrainingCommand> of_file(TrainingCommand out, Words rest, std::string_view config_key, bool takes_pairs) {
  if (!rest.empty() && is_config(rest.front())) {
    out.config = rest.front();
    rest = rest.subspan(1);
  }
  std::vector<std::string> named;
  for (const std::string& word : rest) {
    const bool awaited = !named.empty() && is_option(named.back()) && named.back().find('=') == std::string::npos;
    const bool pair = takes_pairs && !awaited && !is_option(word) && word.find('=') != word.npos;
    pair ? out.overrides.push_back(word) : named.push_back(word);
  }
  const Result<std::vector<ScriptArgument>> arguments = script_arguments(named);
  if (!arguments) return arguments.errors();
  for (const ScriptArgument& one : *arguments) {
    if (one.key == config_key && one.values.size() == 1) {
      out.config = one.values.front();
      continue;
    }
    const auto [key, value] = one.as_yaml();
    out.overrides.push_back(key + "=" + value);
  }
  return out;
}

/// Of a script with transformers' arguments: LLaMA-Factory's own (src/train.py) has two of its own that none is
/// without.
std::string dialect_of(const std::vector<ScriptArgument>& arguments) {
  const auto is_its_own = [](const ScriptArgument& one) { return one.key == "stage" || one.key == "finetuning_type"; };
  return std::ranges::any_of(arguments, is_its_own) ? "llamafactory" : "hf";
}

/// The arguments alone, or those of a file.
Result<TrainingCommand> of_arguments(TrainingCommand out, Words rest, std::string_view config_key) {
  if (rest.size() == 1 && is_config(rest.front())) return of_file(std::move(out), rest, config_key, false);
  const Result<std::vector<ScriptArgument>> arguments = script_arguments(rest);
  if (!arguments) return arguments.errors();
  if (!config_key.empty() && std::ranges::count(*arguments, config_key, &ScriptArgument::key) > 0)
    return of_file(std::move(out), rest, config_key, false);
  if (arguments->empty()) return refused(out.name + " is given no arguments", {});
  out.text = yaml_text(*arguments);
  out.dialect = dialect_of(*arguments);
  return out;
}

/// A program whose config is a file, and what its command names before it.
struct Program {
  std::string_view name{};
  std::vector<std::string_view> words{};    ///< As a program, or as a module.
  std::string_view config_key{};            ///< "" where the file stands first.
  bool takes_pairs = false;                 ///< "key=value" among its arguments.
  std::string_view dialect{};               ///< Whose arguments it takes in place of a file; "" where it takes none.
  std::vector<std::string_view> recipes{};  ///< Of which it names one first; those that are read.
};

const std::vector<Program>& programs() {
  static const std::vector<Program> all{
      {"axolotl train", {"axolotl", "train"}},
      {"axolotl train", {"axolotl.cli.train"}},
      {"llamafactory-cli train", {"llamafactory-cli", "train"}, {}, true, "llamafactory"},
      {"tune run",
       {"tune", "run"},
       "config",
       true,
       {},
       {"full_finetune_single_device", "full_finetune_distributed", "lora_finetune_single_device",
        "lora_finetune_distributed"}},
      {"torchtitan", {"torchtitan.train"}, "job.config_file"},
  };
  return all;
}

const Program* program_at(Words words) {
  const auto found = std::ranges::find_if(programs(), [&](const Program& one) {
    if (words.size() < one.words.size()) return false;
    const std::string_view first = std::string_view(words[0]).substr(words[0].rfind('/') + 1);
    return first == one.words[0] && (one.words.size() < 2 || words[1] == one.words[1]);
  });
  return found == programs().end() ? nullptr : &*found;
}

Diagnostic names_no_file(std::string_view program) {
  return refused(std::string(program) + " names no config here", "the file stands where the program wants it");
}

/// torchtune's own launcher stands within its command (torchtune/_cli/run.py).
Result<TrainingCommand> of_program(const Program& program, TrainingCommand out, Words rest) {
  if (rest.empty()) return names_no_file(program.name);
  std::vector<std::string> words(rest.begin(), rest.end());
  if (program.name == "tune run") {
    words.insert(words.begin(), "torchrun");
    const Result<LauncherWords> launcher = read_launcher(words);
    if (!launcher) return launcher.errors();
    out.world = launcher->world;
    out.world.said = "tune run";
    words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(launcher->script));
  }
  if (!program.recipes.empty()) {
    if (std::ranges::count(program.recipes, words.front()) == 0)
      return refused(fmt::format("{}: the recipe {} is not read", program.name, words.front()),
                     "name the config in place of the command");
    words.erase(words.begin());
  }
  if (words.empty()) return names_no_file(program.name);
  out.name = program.name;
  const bool by_arguments = !program.dialect.empty() && !is_config(words.front());
  Result<TrainingCommand> read = by_arguments ? of_arguments(std::move(out), words, program.config_key)
                                              : of_file(std::move(out), words, program.config_key, program.takes_pairs);
  if (read && by_arguments) read->dialect = program.dialect;
  if (read && read->config.empty() && read->text.empty()) return names_no_file(program.name);
  return read;
}

Diagnostic not_read(const std::string& program) {
  return refused(
      fmt::format("the arguments of {} are not read", program),
      "read are scripts with transformers' arguments, trl, axolotl train, llamafactory-cli train, tune run and "
      "torchtitan.train, started by accelerate launch, torchrun, deepspeed or python");
}

}  // namespace

Result<TrainingCommand> read_training_command(const std::vector<std::string>& words) {
  const Result<LauncherWords> launcher = read_launcher(words);
  if (!launcher) return launcher.errors();
  TrainingCommand out{.launch = launcher->launch, .launcher = launcher->config, .world = launcher->world};
  const Words rest = Words(words).subspan(launcher->script);
  if (const Program* program = program_at(rest))
    return of_program(*program, std::move(out), rest.subspan(program->words.size()));
  Launched launched =
      launched_by({rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(rest.size(), 2))});
  out.trainer = std::move(launched.trainer);
  out.trainer_said = launched.words;
  out.overrides = std::move(launched.facts);
  const bool by_trl = out.trainer_said.starts_with("trl ");
  const bool is_script = rest.front().ends_with(".py") || !out.trainer_said.empty();
  if (!is_script) return not_read(rest.front());
  out.name = out.trainer_said.empty() ? rest.front() : out.trainer_said;
  const Words arguments = rest.subspan(by_trl ? 2 : 1);
  const bool takes_config = !out.trainer.empty() && out.trainer != "trainer";
  return of_arguments(std::move(out), arguments, takes_config ? "config" : "");
}

}  // namespace oomplan::cli
