#include "oomplan/estimate/ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "facts.hpp"
#include "model.hpp"
#include "pipeline/order.hpp"
#include "play.hpp"
#include "policies/policies.hpp"
#include "repetition.hpp"

namespace oomplan {
namespace {

using estimator::Parameters;

/// The shards from which on a trained parameter's chunk is shorter than the one before: one with what is left, and
/// those with nothing. Only what follows a chunk's own size differs, and of frozen parameters nothing does: all ranks
/// give a shard the memory of a whole chunk (torch.distributed.fsdp: FSDPParam._init_sharded_param).
std::set<std::int64_t> first_shards(const Parameters& parameters, std::int64_t ranks) {
  std::set<std::int64_t> out{0};
  for (const estimator::Parameter& p : parameters) {
    if (!p.trained || p.sizes.size() == 0) continue;
    const std::int64_t chunk = std::max<std::int64_t>(divided_up(p.sizes[0], ranks), 1);
    for (const std::int64_t shard : {p.sizes[0] / chunk, divided_up(p.sizes[0], chunk)}) {
      if (shard < ranks) out.insert(shard);
    }
  }
  return out;
}

std::string name_of_shards(std::int64_t first, std::int64_t end) {
  return end - first == 1 ? fmt::format("shard {}", first) : fmt::format("shards {} to {}", first, end - 1);
}

std::vector<RankKind> kinds_of(const std::set<std::int64_t>& firsts, std::int64_t ranks, std::int64_t replicas) {
  if (firsts.size() == 1) return {{"all", 0, ranks * replicas}};
  std::vector<RankKind> out;
  for (auto first = firsts.begin(); first != firsts.end(); ++first) {
    const std::int64_t end = std::next(first) == firsts.end() ? ranks : *std::next(first);
    out.push_back({name_of_shards(*first, end), *first, (end - *first) * replicas});
  }
  return out;
}

/// What a partition of ZeRO's holds of gradients, in elements: those of its parameters that are whole, and of one that
/// is cut the whole too.
std::int64_t gradients_of(const std::vector<std::int64_t>& sizes, std::int64_t partition, std::int64_t rank) {
  std::int64_t out = 0;
  std::int64_t from = 0;
  for (const std::int64_t size : sizes) {
    const bool held = from < (rank + 1) * partition && from + size > rank * partition;
    if (held) out = saturating_add(out, size);
    from = saturating_add(from, size);
  }
  return out;
}

// Past so many a partition is smaller than most parameters.
constexpr std::int64_t most_looked_at = 4096;

/// Stages 1 and 2 divide a flat tensor wherever its parameters end. Of the ranks after the first, that with the most
/// gradients stands for all.
std::vector<RankKind> kinds_of_zero(const Parameters& parameters, std::int64_t ranks) {
  std::vector<std::int64_t> sizes;
  std::int64_t all = 0;
  for (const estimator::Parameter& p : parameters) {
    if (!p.trained) continue;
    sizes.push_back(p.sizes.product());
    all = saturating_add(all, sizes.back());
  }
  const std::int64_t partition = std::max<std::int64_t>(divided_up(all, ranks), 1);
  std::int64_t worst = 1;
  std::int64_t most = -1;
  for (std::int64_t rank = 1; rank < std::min({ranks, divided_up(all, partition), most_looked_at}); ++rank) {
    const std::int64_t held = gradients_of(sizes, partition, rank);
    if (held > most) worst = rank;
    most = std::max(most, held);
  }
  return {{name_of_shards(0, 1), 0, 1}, {name_of_shards(1, ranks), worst, ranks - 1}};
}

std::string name_of_rank(const estimator::PipelineShape& shape, std::int64_t rank) {
  std::string out;
  for (const std::int64_t stage : estimator::stages_of_rank(shape, rank)) {
    const bool first = stage == 0;
    const bool last = stage + 1 == shape.stages();
    out += fmt::format("{}{}{}", out.empty() ? "" : ", ", stage, first ? " (embedding)" : last ? " (head)" : "");
  }
  return (shape.stages_each == 1 ? "stage " : "stages ") + out;
}

/// The one with the most first.
std::vector<RankKind> by_peak(std::vector<std::pair<Bytes, RankKind>> kinds) {
  std::ranges::stable_sort(kinds, std::greater(), &std::pair<Bytes, RankKind>::first);
  std::vector<RankKind> out;
  for (auto& [peak, kind] : kinds) out.push_back(std::move(kind));
  return out;
}

/// Each rank of a pipeline has other layers, or other micro-batches in flight. Of those that share its data, the first
/// shard stands for all.
Result<std::vector<RankKind>> kinds_of_pipeline(const TrainingPlan& plan, const Architecture& architecture) {
  const estimator::PipelineShape shape = estimator::pipeline_shape(plan.mesh);
  std::vector<std::pair<Bytes, RankKind>> kinds;
  for (std::int64_t rank = 0; rank < shape.ranks; ++rank) {
    const Result<Footprint> footprint = estimate_shard(plan, architecture, rank, Detail::peaks);
    if (!footprint) return footprint.errors();
    kinds.push_back({footprint->peak.total, {name_of_rank(shape, rank), rank, data_ranks(plan.mesh)}});
  }
  return by_peak(std::move(kinds));
}

/// The place of a rank among those that share a row, as context_ranks() tells them apart.
struct ContextPlace {
  std::int64_t first = 0;
  std::int64_t end = 1;  ///< One past the last.

  std::string name() const {
    return end - first == 1 ? fmt::format("part {} of each row", first)
                            : fmt::format("parts {} to {} of each row", first, end - 1);
  }
};

std::vector<ContextPlace> places_of(const MeshFacts& mesh) {
  std::vector<ContextPlace> out;
  for (const std::int64_t first : context_ranks(mesh)) {
    if (!out.empty()) out.back().end = first;
    out.push_back({first, mesh.context_parallel.value});
  }
  return out;
}

/// Of each of `kinds` those at each place, the one with the most first. Shards count through the ranks that share a
/// row, one row after the other (accelerate: the mesh dp_shard × cp).
Result<std::vector<RankKind>> kinds_by_place(const TrainingPlan& plan, const Architecture& architecture,
                                             const std::vector<RankKind>& shards) {
  const std::int64_t ranks = plan.mesh.context_parallel.value;
  const std::int64_t replicas = plan.mesh.fsdp_replicas.value;
  std::vector<std::pair<Bytes, RankKind>> kinds;
  for (const RankKind& shard : shards) {
    const std::int64_t end = shard.shard + shard.count / replicas;
    for (const ContextPlace& place : places_of(plan.mesh)) {
      RankKind kind{shards.size() == 1 ? place.name() : shard.name + ", " + place.name(), -1, 0};
      for (std::int64_t at = shard.shard; at < end; ++at) {
        if (at % ranks < place.first || at % ranks >= place.end) continue;
        if (kind.shard < 0) kind.shard = at;
        kind.count += replicas;
      }
      if (kind.count == 0) continue;
      const Result<Footprint> footprint = estimate_shard(plan, architecture, kind.shard, Detail::peaks);
      if (!footprint) return footprint.errors();
      kinds.push_back({footprint->peak.total, std::move(kind)});
    }
  }
  return by_peak(std::move(kinds));
}

}  // namespace

std::vector<std::int64_t> context_ranks(const MeshFacts& mesh) {
  const std::int64_t ranks = mesh.context_parallel.value;
  if (ranks <= 1) return {0};
  return ranks == 2 ? std::vector<std::int64_t>{0, 1} : std::vector<std::int64_t>{0, 1, ranks - 1};
}

Result<std::vector<RankKind>> rank_kinds(const TrainingPlan& plan, const Architecture& architecture) {
  const MeshFacts& mesh = plan.mesh;
  if (is_pipelined(mesh)) return kinds_of_pipeline(plan, architecture);
  const bool zero = mesh.sharding.value == Sharding::zero1 || mesh.sharding.value == Sharding::zero2;
  const bool alike = mesh.sharding.value != Sharding::fsdp2 && !(zero && mesh.world_size.value > 1);
  if (alike) return std::vector<RankKind>{{"all", 0, mesh.world_size.value}};
  const Result<estimator::Facts> facts = estimator::resolve(plan, architecture);
  if (!facts) return facts.errors();
  estimator::Torch torch;
  const Result<estimator::Model> model =
      estimator::build(torch, *facts, architecture,
                       zero ? estimator::Repetition::whole_of(architecture)
                            : estimator::Repetition::folded(architecture, estimator::by_number(plan)),
                       estimator::single());
  if (!model) return model.errors();
  if (zero) return kinds_of_zero(model->parameters, mesh.world_size.value);
  const std::int64_t replicas = mesh.fsdp_replicas.value;
  const std::int64_t ranks = data_ranks(mesh) / replicas;
  std::vector<RankKind> kinds = kinds_of(first_shards(model->parameters, ranks), ranks, replicas);
  return is_context_parallel(mesh) ? kinds_by_place(plan, architecture, kinds) : Result(std::move(kinds));
}

}  // namespace oomplan
