// A framework with a recipe for one GPU, and others that share the model (torchtune: recipes/*_single_device.py and
// *_distributed.py).
#include "sharding_keys.hpp"
#include "steps.hpp"

namespace oomplan::ingestion {
namespace {

/// No key names the recipe.
void warn_of_recipe(const Dialect& dialect, const Document& document, Draft& draft) {
  const std::string name(dialect.name);
  draft.plan.warnings.push_back(
      {Severity::warning,
       "ingest/assumed-trainer",
       "read as a config of " + name + "'s recipe for one GPU; no key says which recipe it is for",
       {document.file, 0, 0},
       "its recipes for several GPUs shard the model, so that each needs less than this: --gpu 8xh100",
       {}});
}

}  // namespace

void choose_recipe(const Dialect& dialect, const Document& document, Draft& draft) {
  if (!dialect.shards) return;
  MeshFacts& mesh = draft.plan.mesh;
  if (mesh.sharding.origin.is_said()) return need_world(draft, document, dialect.name);
  if (mesh.world_size.value > 1) {
    mesh.sharding = {Sharding::fsdp2, mesh.world_size.origin};
    mesh.ddp_find_unused.value = false;
  } else if (draft.errors.empty() && draft.missing.empty()) {
    warn_of_recipe(dialect, document, draft);
  }
}

}  // namespace oomplan::ingestion
