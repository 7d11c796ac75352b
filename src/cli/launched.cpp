#include "launched.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "oomplan/plan/trainer.hpp"

namespace oomplan::cli {
namespace {

constexpr std::string_view trl_module = "trl.scripts.";

// transformers' and TRL's examples that are not called as their trainer is.
constexpr std::array<std::array<std::string_view, 2>, 6> examples{{{"run_clm.py", "trainer"},
                                                                   {"run_mlm.py", "trainer"},
                                                                   {"run_fim.py", "trainer"},
                                                                   {"run_clm_no_trainer.py", ""},
                                                                   {"run_mlm_no_trainer.py", ""},
                                                                   {"reward_modeling.py", "reward"}}};

std::string_view file_of(std::string_view word) { return word.substr(word.rfind('/') + 1); }

std::string_view by_script(std::string_view file) {
  const auto* example = std::ranges::find(examples, file, [](const auto& row) { return row[0]; });
  if (example != examples.end()) return (*example)[1];
  if (!file.ends_with(".py")) return {};
  const TrainerName* trainer = find_trainer(file.substr(0, file.size() - 3));
  return trainer == nullptr || trainer->name == "trainer" ? std::string_view() : trainer->name;
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
    if (const std::string_view name = by_script(file_of(word)); !name.empty()) return {std::string(name), command[i]};
  }
  return {};
}

}  // namespace oomplan::cli
