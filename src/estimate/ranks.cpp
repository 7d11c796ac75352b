#include "oomplan/estimate/ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "facts.hpp"
#include "model.hpp"
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

}  // namespace

Result<std::vector<RankKind>> rank_kinds(const TrainingPlan& plan, const Architecture& architecture) {
  const MeshFacts& mesh = plan.mesh;
  if (mesh.sharding.value != Sharding::fsdp2) return std::vector<RankKind>{{"all", 0, mesh.world_size.value}};
  const Result<estimator::Facts> facts = estimator::resolve(plan, architecture);
  if (!facts) return facts.errors();
  estimator::Torch torch;
  const Result<estimator::Model> model =
      estimator::build(torch, *facts, architecture, estimator::Repetition::folded(architecture), estimator::single());
  if (!model) return model.errors();
  const std::int64_t replicas = mesh.fsdp_replicas.value;
  const std::int64_t ranks = mesh.world_size.value / replicas;
  return kinds_of(first_shards(model->parameters, ranks), ranks, replicas);
}

}  // namespace oomplan
