#include "command_question.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "cards.hpp"
#include "oomplan/core/text.hpp"
#include "recipe.hpp"
#include "training_command.hpp"

namespace oomplan::cli {
namespace {

std::optional<Diagnostic> another_world(const NamedWorld& of_gpus, const NamedWorld& started) {
  const auto all = [](const NamedWorld& world) { return saturating_mul(world.each, world.machines); };
  if (of_gpus.each == 0 || started.each == 0 || all(of_gpus) == all(started)) return std::nullopt;
  return Diagnostic{.code = "cli/usage",
                    .message = fmt::format("{} says {}, and {} starts {}", of_gpus.said, counted(all(of_gpus), "GPU"),
                                           started.said, counted(all(started), "process")),
                    .hint = "leave the number out of --gpu to keep the command's"};
}

}  // namespace

Result<Question> question_of(Question question, const std::vector<std::string>& command) {
  if (question.recipe.is_asked()) return no_recipe();
  Result<TrainingCommand> read = read_training_command(command);
  if (!read) return read.errors();
  question.config = read->config.empty() ? read->name : read->config;
  if (std::error_code error; !read->config.empty() && !std::filesystem::exists(read->config, error))
    return Diagnostic{.code = "read/missing", .message = "there is no such file", .where = {read->config, 0, 0}};
  if (read->config.empty()) {
    Result<Document> document = parse_document(read->text, read->name, Syntax::yaml);
    if (!document) return document.errors();
    question.given = std::move(*document);
  }
  if (!read->launcher.empty()) {
    Result<Document> launcher = parse_document(read->launcher, "accelerate launch", Syntax::yaml);
    if (!launcher) return launcher.errors();
    question.launcher = std::move(*launcher);
  }
  question.overrides.insert(question.overrides.begin(), read->overrides.begin(), read->overrides.end());
  question.launch.insert(question.launch.begin(), read->launch.begin(), read->launch.end());
  if (question.dialect.empty()) question.dialect = std::move(read->dialect);
  question.world = std::move(read->world);
  if (auto other = another_world(world_of(question.gpus), question.world)) return *other;
  if (!question.trainer.empty()) return question;
  question.trainer = std::move(read->trainer);
  question.trainer_said = std::move(read->trainer_said);
  return question;
}

}  // namespace oomplan::cli
