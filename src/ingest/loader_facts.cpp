#include "loader_facts.hpp"

#include "dialect.hpp"

namespace oomplan::ingestion {

void stream_rows(const Arg<bool>& streaming, LoaderPlan& loader) {
  if (!streaming.value) return;
  if (*streaming.value) loader.rows_as.value = RowsAs::stream;
  loader.rows_as.origin = streaming.origin;
}

void finish_loader(bool worker_a_rank, TrainingPlan& plan) {
  LoaderPlan& loader = plan.loader;
  if (worker_a_rank && loader.workers.origin.kind == Origin::Kind::framework_default) {
    loader.workers.value = loader.ranks.value;
  }
  if (loader.padded.value || loader.padded.origin.kind != Origin::Kind::assumed) return;
  const auto pad = [&](const Setting<bool>& fact, std::string_view how) {
    loader.padded = {true, fact.origin};
    derive(loader.padded.origin, how);
  };
  if (plan.batch.padding_mask.value)
    return pad(plan.batch.padding_mask, "whose rows are padded, to sequence_length at most");
  if (loader.packed.value) pad(loader.packed, "whose rows fill sequence_length");
}

}  // namespace oomplan::ingestion
