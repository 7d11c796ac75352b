// What the checks of ways to share a model or a row have in common.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "oomplan/catalog/architecture.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/plan/plan.hpp"
#include "weight_checks.hpp"

namespace oomplan::estimator {

class ParallelChecks {
 protected:
  /// `way`: "tensor parallelism".
  ParallelChecks(std::string_view way, const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors)
      : plan_(plan), architecture_(architecture), errors_(errors), way_(way) {}

  /// estimate/unmodelled: held against no truth.
  void cannot(const std::string& what, const Origin& origin) {
    errors_.push_back(unmodelled(fmt::format("{} under {} is not modelled yet", what, way_), origin));
  }
  /// estimate/bad-mesh: sizes that do not go together, and what the framework refuses.
  void bad(std::string message, const Origin& origin, std::string hint = {}) {
    errors_.push_back(error_of("estimate/bad-mesh", std::move(message), origin));
    errors_.back().hint = std::move(hint);
  }
  void measured(const Setting<bool>& fact, const char* what) {
    if (fact.value) cannot(what, fact.origin);
  }
  /// False, once it is said, where the world is not so many ranks times a whole number. `none`: "no group of".
  bool is_multiple_of(std::int64_t ranks, std::string_view fact, std::string_view none, const Origin& origin) {
    const std::int64_t world = mesh_.world_size.value;
    if (world % ranks == 0) return true;
    bad(fmt::format("{}: {} {} {} {}", fact, world, world == 1 ? "rank makes" : "ranks make", none, ranks), origin,
        fmt::format("add --gpu {0}xh100 or --set plan.world_size={0}", ranks));
    return false;
  }

  const TrainingPlan& plan_;
  const MeshFacts& mesh_ = plan_.mesh;
  const Architecture& architecture_;
  Diagnostics& errors_;

 private:
  std::string_view way_;
};

}  // namespace oomplan::estimator
