#include "oomplan/plan/fact_table.hpp"

#include <algorithm>
#include <utility>

#include "loader_rows.hpp"
#include "members.hpp"
#include "mesh_rows.hpp"
#include "run_rows.hpp"
#include "step_rows.hpp"

namespace oomplan {
namespace {

using namespace planning;

/// All of them; a row's place is where the manual has it.
constexpr auto rows = [] {
  std::array<FactRow, run_rows.size() + step_rows.size() + mesh_rows.size() + loader_rows.size()> out{};
  auto at = std::ranges::copy(run_rows, out.begin()).out;
  at = std::ranges::copy(step_rows, at).out;
  at = std::ranges::copy(mesh_rows, at).out;
  std::ranges::copy(loader_rows, at);
  return out;
}();

// dialect, framework, unmodelled and warnings are about the plan, not in it; the other members are groups.
static_assert(members<Plan>() == 15 + 7, "a group of TrainingPlan is not counted below");
static_assert(facts_in<RecipeFacts, ModelFacts, BatchFacts, ImageFacts, PrecisionFacts, AdapterFacts, KernelFacts,
                       QuantizationFacts, OptimizerFacts, CheckpointingFacts, EvaluationFacts, SavingFacts,
                       RuntimeFacts, MeshFacts, LoaderPlan> == rows.size(),
              "a fact of a group has no row in the table");

int rank_of(const FactRow& row, Bucket bucket) {
  for (const Influence& one : row.influences) {
    if (one.rank > 0 && one.bucket == bucket) return one.rank;
  }
  return 0;
}

}  // namespace

std::span<const FactRow> facts() { return rows; }

const FactRow* find_fact(std::string_view name) {
  const auto* found = std::ranges::find(rows, name, &FactRow::name);
  return found == rows.end() ? nullptr : found;
}

std::vector<const FactRow*> facts_that_move(Bucket bucket) {
  std::vector<const FactRow*> out;
  for (const FactRow& row : rows) {
    if (rank_of(row, bucket) > 0) out.push_back(&row);
  }
  std::ranges::stable_sort(out, {}, [&](const FactRow* row) { return rank_of(*row, bucket); });
  return out;
}

}  // namespace oomplan
