// What frameworks do where a config says nothing: models/stacks, a version of each in layers.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "oomplan/plan/fact_table.hpp"
#include "oomplan/read/document.hpp"

namespace oomplan::ingestion {

/// A file of models/stacks.
struct StackLayer {
  struct Default {
    std::string fact{};
    Node value{};
    std::string source{};
    std::string of{};  ///< The package whose default it is; empty: the layer's own.
    bool assumed = false;
  };
  std::string name{};     ///< The file's: "trl-1.16".
  std::string package{};  ///< As sources have it: "trl".
  std::string version{};  ///< "1.16.0"; empty where it has none.
  std::string since{};    ///< The oldest version that it was held against and found true of; empty: its own alone.
  bool patches = true;    ///< Whether it stands for later patches of its own version too.
  std::vector<std::string> under{};  ///< The packages on top of the stacks that it is chosen for; empty: any.
  std::vector<std::string> on{};
  std::vector<std::pair<std::string, std::string>>
      with{};                         ///< Packages, and what version goes with it if none is named.
  std::vector<std::string> needed{};  ///< Facts that a config has to give, whatever the layers below have.
  std::vector<Default> defaults{};
  std::vector<std::pair<std::string, std::string>> needs{};  ///< A package, and its oldest version of these defaults.
  std::vector<std::pair<std::string, std::string>>
      before{};  ///< A package, and the first version that it never ran on.
  /// What of it is not played: a condition (condition.hpp) on a config's keys, or on facts by their names; and what
  /// then takes memory.
  std::vector<std::pair<std::string, std::string>> unplayed_keys{};
  std::vector<std::pair<std::string, std::string>> unplayed_facts{};
  std::vector<std::string> families{};        ///< Of transformers: the model_types held against runs; empty: all.
  std::vector<std::string> other_families{};  ///< Of transformers: the model_types whose code takes another amount.
  std::vector<std::pair<std::string, std::vector<std::string>>> targets{};  ///< Of peft: LoRA's modules by model_type.
  /// The model_types that a framework treats alike, by what it does with them.
  std::vector<std::pair<std::string, std::vector<std::string>>> model_types{};

  /// Whether it has the model_type in the list of this name. A list that it has not is empty.
  bool lists(std::string_view list, std::string_view model_type) const;
  /// Whether it is chosen for stacks with this package on top.
  bool is_for(std::string_view top) const { return under.empty() || std::ranges::count(under, top) > 0; }
};

/// Its layers from the top, and their defaults: the topmost layer that has one for a fact counts.
class Stack {
 public:
  explicit Stack(std::vector<StackLayer> layers);

  /// "trl 1.16.0".
  std::string name_of(std::string_view package) const;

  /// The origin of a default that code has worked out: "peft 0.21.2: LoraConfig".
  Origin origin(std::string_view package, std::string_view where) const;

  /// All its defaults; a fact that has none is left without an origin.
  const TrainingPlan& plan() const { return plan_; }

  /// Whether the layer of a package has the model_type in the list of this name. A list that it has not is empty.
  bool lists(std::string_view package, std::string_view list, std::string_view model_type) const;

  const std::vector<StackLayer>& layers() const { return layers_; }

 private:
  const StackLayer* layer_of(std::string_view package) const;
  bool set_default(const FactRow& fact, TrainingPlan& plan) const;

  std::vector<StackLayer> layers_;
  TrainingPlan plan_{};
};

/// The stack whose top is this file ("trl-1.16"), with the versions that are chosen (versions.hpp), read when it is
/// first asked for. Lives as long as the program.
const Stack& stack_of(std::string_view name);

/// Every file of models/stacks. Lives as long as the program.
const std::vector<StackLayer>& stack_layers();

/// The names of the files, for a test that reads them all.
std::vector<std::string> stack_names();

}  // namespace oomplan::ingestion
