// Every fact of a plan once: its name, how it is read and written, when it matters and what it moves. What lists facts
// (reports, the plain config and --set, gates, the manual, tests) goes by this table.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "oomplan/estimate/footprint.hpp"
#include "oomplan/plan/plan.hpp"
#include "oomplan/read/document.hpp"

namespace oomplan {

/// A fact's value as a report shows it: enumerations by their names.
using FactValue = std::variant<std::int64_t, double, bool, std::string, std::vector<std::string>>;

/// What a fact decides of a bucket: 1 is the fact that moves it most. 0 ends a list of them.
struct Influence {
  Bucket bucket = Bucket::weights;
  int rank = 0;
};
using Influences = std::array<Influence, bucket_count + 1>;

struct FactRow {
  std::string_view name{};      ///< As oomplan.yaml, --set and reports have it.
  std::string_view expected{};  ///< "a positive integer".
  std::span<const std::string_view> choices{};
  /// False where the value is none of the fact's.
  bool (*read)(const Node& value, const Origin& origin, TrainingPlan& plan) = nullptr;
  std::string (*write)(const TrainingPlan& plan) = nullptr;  ///< As YAML: "bf16", "[q_proj, v_proj]".
  FactValue (*value)(const TrainingPlan& plan) = nullptr;
  /// As a dialect's key has it: an enumeration by its number. False where the value is of another type.
  bool (*set)(const FactValue& value, const Origin& origin, TrainingPlan& plan) = nullptr;
  FactValue (*get)(const TrainingPlan& plan) = nullptr;
  const Origin& (*origin)(const TrainingPlan& plan) = nullptr;
  bool (*matters)(const TrainingPlan& plan) = nullptr;  ///< Whether it changes anything in this plan.
  bool of_host = false;                                 ///< Decides memory of the host alone.
  bool of_mesh = false;                                 ///< How ranks share a model.
  Influences influences{};
  std::string_view about{};  ///< The manual's sentence.
};

/// All of them, in the order in which reports list them.
std::span<const FactRow> facts();

/// Null where no fact is called that.
const FactRow* find_fact(std::string_view name);

/// The facts that decide this bucket, the strongest first.
std::vector<const FactRow*> facts_that_move(Bucket bucket);

}  // namespace oomplan
