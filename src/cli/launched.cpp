#include "launched.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "oomplan/plan/trainer.hpp"

namespace oomplan::cli {
namespace {

constexpr std::string_view trl_module = "trl.scripts.";

struct Example {
  std::string_view file{};
  std::string_view trainer{};
  std::array<std::string_view, 2> facts{};
};

// transformers' and TRL's examples that are not called as their trainer is. SWAG's rows have four endings.
constexpr std::array<Example, 8> examples{{{"run_clm.py", "trainer"},
                                           {"run_mlm.py", "trainer"},
                                           {"run_fim.py", "trainer"},
                                           {"run_qa.py", "trainer", {"plan.head=question_answering"}},
                                           {"run_swag.py", "trainer", {"plan.head=multiple_choice", "plan.choices=4"}},
                                           {"run_clm_no_trainer.py"},
                                           {"run_mlm_no_trainer.py"},
                                           {"reward_modeling.py", "reward"}}};

std::string_view file_of(std::string_view word) { return word.substr(word.rfind('/') + 1); }

Launched by_script(const std::string& word) {
  const std::string_view file = file_of(word);
  const auto* example = std::ranges::find(examples, file, &Example::file);
  if (example != examples.end()) {
    Launched out{std::string(example->trainer), word};
    for (const std::string_view fact : example->facts)
      if (!fact.empty()) out.facts.emplace_back(fact);
    return out;
  }
  if (!file.ends_with(".py")) return {};
  const TrainerName* trainer = find_trainer(file.substr(0, file.size() - 3));
  if (trainer == nullptr || trainer->name == "trainer") return {};
  return {std::string(trainer->name), word};
}

}  // namespace

Launched launched_by(const std::vector<std::string>& command) {
  for (std::size_t i = 0; i < command.size(); ++i) {
    const std::string_view word = command[i];
    if (file_of(word) == "trl" && i + 1 < command.size() && find_trainer(command[i + 1]) != nullptr) {
      return {command[i + 1], "trl " + command[i + 1]};
    }
    if (word.starts_with(trl_module) && find_trainer(word.substr(trl_module.size())) != nullptr) {
      return {std::string(word.substr(trl_module.size())), command[i]};
    }
    if (Launched script = by_script(command[i]); !script.trainer.empty()) return script;
  }
  return {};
}

}  // namespace oomplan::cli
