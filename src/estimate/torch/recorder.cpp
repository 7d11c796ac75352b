#include "torch/recorder.hpp"

namespace oomplan::estimator {

StorageId Recorder::allocate(const Dims& shape, DType dtype, const char* op) {
  const std::int64_t bytes = saturating_mul(shape.product(), bytes_of(dtype));
  const auto id = static_cast<StorageId>(storages.size());
  Storage& s = storages.emplace_back();
  s.bytes = Bytes(bytes).rounded_up(512).count();
  s.op = op;
  s.module = scope.module;
  s.layer = scope.layer;
  s.born = scope.phase;
  s.bucket = scope.bucket;
  s.dtype = dtype;
  s.refs = 1;
  s.shape = shape;
  events.push_back({id, scope.layer, true});
  return id;
}

void Recorder::mark(Phase phase) {
  scope.phase = phase;
  marks.push_back({static_cast<std::int32_t>(events.size()), phase, step});
}

}  // namespace oomplan::estimator
