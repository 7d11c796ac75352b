#include "modules/tensor_parallel.hpp"

#include <fmt/format.h>

#include "torch/redistribute.hpp"
#include "weight_checks.hpp"

namespace oomplan::estimator {
namespace {

/// MaskPartial._partition_value: which ids are another rank's, and the others counted from this rank's first.
Tensor own_ids(Torch& t, const Tensor& ids) {
  const char* op = "aten::bitwise_or";
  const Tensor outside = t.empty(ids->sizes, DType::boolean, op);
  const Tensor copy = t.empty(ids->sizes, ids->dtype, "aten::clone");
  return t.empty(ids->sizes, ids->dtype, "aten::sub");
}

}  // namespace

void check_shared_heads(Builder& builder, std::int64_t heads, std::int64_t kv_heads) {
  const std::int64_t ranks = builder.facts.tensor_parallel.ranks;
  if (kv_heads % ranks == 0 && heads % ranks == 0) return;
  builder.add_once(error_of("estimate/bad-mesh",
                            fmt::format("tensor_parallel: {} ranks cannot share {} key-value heads", ranks, kv_heads),
                            {}));
}

Tensor whole_rows(Play& play, const Tensor& x) {
  const TensorParallel& shared = play.facts.tensor_parallel;
  return shared.sequence ? all_gathered(play.torch, x, 1, shared.ranks) : x;
}

Tensor shared_embedding(Play& play, const Tensor& weight, const Tensor& ids) {
  Torch& t = play.torch;
  const TensorParallel& shared = play.facts.tensor_parallel;
  Tensor part;
  {
    const Tensor own = own_ids(t, ids);
    part = t.embedding(weight, ids, shared.ranks);
  }
  return shared.sequence ? reduce_scattered(t, part, 1, shared.ranks) : all_reduced(t, part);
}

}  // namespace oomplan::estimator
