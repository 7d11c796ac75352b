// The ranks of a run, by what they hold.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "oomplan/catalog/architecture.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/estimate/estimate.hpp"
#include "oomplan/plan/plan.hpp"

namespace oomplan {

/// Ranks whose tensors are alike.
struct RankKind {
  /// "all"; by the shards that they hold: "shards 0 to 2", "shard 3"; where they share rows, by their place among those
  /// that share one: "part 0 of each row", "parts 1 to 2 of each row"; of a pipeline by its stages: "stage 0
  /// (embedding)".
  std::string name{};
  std::int64_t shard = 0;  ///< The first of those; of a pipeline its rank.
  std::int64_t count = 1;  ///< Ranks.

  friend bool operator==(const RankKind&, const RankKind&) = default;
};

/// What ranks of one kind need.
struct RankAnswer {
  RankKind kind{};
  PhasePeak peak{};
  std::vector<std::optional<Bytes>> needed{};  ///< Of each GPU asked for; nothing where that is undecided.
};

/// Of the ranks that share each row, one for each way in which they take part: the first has half of its queries in all
/// steps of ring attention but the first, the last half of the keys, those between them both. {0} where each has whole
/// rows.
std::vector<std::int64_t> context_ranks(const MeshFacts& mesh);

/// The kinds of a plan that estimate() takes. The first holds the most, and is the one whose footprint estimate()
/// gives: DDP's ranks are all alike, those of a pipeline are one kind each; FSDP2 cuts dimension 0 of each parameter
/// into as many chunks as ranks, of which the last are shorter or empty where they do not divide it. Errors as
/// estimate().
Result<std::vector<RankKind>> rank_kinds(const TrainingPlan& plan, const Architecture& architecture);

/// estimate(), of the ranks that hold `shard`.
Result<Footprint> estimate_shard(const TrainingPlan& plan, const Architecture& architecture, std::int64_t shard,
                                 Detail detail = Detail::events);

}  // namespace oomplan
