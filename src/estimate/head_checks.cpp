#include "head_checks.hpp"

#include <fmt/format.h>

#include <string_view>

#include "facts.hpp"
#include "oomplan/core/pattern.hpp"
#include "weight_checks.hpp"

namespace oomplan::estimator {
namespace {

bool has_head(const Architecture& architecture, Task task) {
  if (task == architecture.task) return true;
  const bool scores = architecture.task == Task::causal_lm && architecture.sequence_classifier;
  const bool embeds = scores && architecture.body.size() == 1;
  if (embeds && task == Task::sentence_embedding) return true;
  return (scores && task == Task::sequence_classification) || head_for(architecture, task) != nullptr;
}

/// Whether the file says it of its head for the task.
bool is_said(const Architecture& architecture, Task task, std::string_view attribute) {
  const OpSpec* head = head_for(architecture, task);
  return head != nullptr && head->find(attribute) != nullptr;
}

/// A script asks for the head of its checkpoint as a rule, and no key of a trainer says so.
Diagnostic other_head(const TrainingPlan& plan, const Architecture& architecture) {
  Diagnostic d = unmodelled(
      fmt::format("{}: {} is not the one that the config asks for", architecture.source, architecture.other_head),
      plan.model.name.origin);
  d.hint =
      "head says what is trained: sequence_classifier, token_classifier, image_classifier, question_answering, "
      "multiple_choice or language_model";
  return d;
}

/// Of how many texts a row is.
void check_choices(const TrainingPlan& plan, Diagnostics& errors) {
  if (plan.model.head.value != HeadKind::multiple_choice || plan.model.choices.value > 0) return;
  Diagnostic d =
      unmodelled("multiple choice, where nothing says of how many texts each row is,", plan.model.head.origin);
  d.hint = "choices says it (--set choices=4)";
  errors.push_back(std::move(d));
}

/// The head's columns are an answer's first token and its last one: transformers' code splits them in two.
void check_answers(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  if (plan.model.head.value != HeadKind::question_answering) return;
  const Setting<std::int64_t>& said = plan.model.labels;
  const std::int64_t labels = said.value > 0 ? said.value : architecture.labels;
  if (labels == 2 || is_said(architecture, Task::question_answering, "sets_labels")) return;
  errors.push_back(unmodelled(fmt::format("question answering with {} labels, which stops the run,", labels),
                              said.value > 0 ? said.origin : plan.model.name.origin));
}

/// Some classes name the base model otherwise than the one that the file is of: expressions and parts of names were
/// written for theirs.
void check_names(const TrainingPlan& plan, const Architecture& architecture, Task task, Diagnostics& errors) {
  if (!is_said(architecture, task, "renames")) return;
  const auto check = [&](bool asked, const Origin& origin) {
    if (!asked) return;
    errors.push_back(unmodelled(fmt::format("names of parameters of a {} of {} are not modelled yet",
                                            task_names[static_cast<std::size_t>(task)], architecture.model_type),
                                origin));
  };
  check(!plan.recipe.frozen.value.empty(), plan.recipe.frozen.origin);
  check(!plan.recipe.trained.value.empty(), plan.recipe.trained.origin);
  const auto& targets = plan.adapter.targets;
  check(plan.adapter.kind.value != Adapter::none && is_expression(targets.value), targets.origin);
}

}  // namespace

void check_head(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  const Setting<HeadKind>& head = plan.model.head;
  const Task task = task_of(plan, architecture);
  const auto cannot = [&](const std::string& what, const Origin& origin) {
    errors.push_back(unmodelled(what + " is not modelled yet", origin));
  };
  const bool embeds = task == Task::sentence_embedding;
  if (!architecture.other_head.empty() && head.value == HeadKind::language_model && !embeds) {
    const bool said = head.origin.is_said();
    if (!said) errors.push_back(other_head(plan, architecture));
  }
  const std::string name(embeds ? name_of(plan.recipe.kind.value) : head_names[static_cast<std::size_t>(head.value)]);
  const Origin& asked = embeds ? plan.recipe.kind.origin : head.origin;
  if (!has_head(architecture, task)) cannot(fmt::format("a {} of {}", name, architecture.model_type), asked);
  check_choices(plan, errors);
  check_answers(plan, architecture, errors);
  check_names(plan, architecture, task, errors);
  if (task == Task::causal_lm || task == Task::masked_lm) return;
  if (plan.recipe.kind.value != RecipeKind::supervised && !embeds) {
    cannot(fmt::format("{} of a model for {}", name_of(plan.recipe.kind.value),
                       task_names[static_cast<std::size_t>(task)]),
           plan.recipe.kind.origin);
  }
  if (plan.recipe.label_smoothing.value) {
    cannot("label smoothing of a classifier or an encoder-decoder", plan.recipe.label_smoothing.origin);
  }
  if (is_fsdp(plan.mesh.sharding.value)) {
    cannot("FSDP of a classifier or an encoder-decoder", plan.mesh.sharding.origin);
  }
}

}  // namespace oomplan::estimator
