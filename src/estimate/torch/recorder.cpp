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
  if (first_unheard_ == all_heard) events.push_back({id, scope.layer, true});
  return id;
}

void Recorder::mark(Phase phase) {
  scope.phase = phase;
  marks.push_back({static_cast<std::int32_t>(events.size()), phase, step});
}

void Recorder::unmute() {
  if (first_unheard_ != all_heard) storages.resize(static_cast<std::size_t>(first_unheard_));
  first_unheard_ = all_heard;
}

void Recorder::repeat(const Position& from, const Position& to) {
  const Position now = position();
  const auto later = static_cast<std::int32_t>(now.storage - from.storage);
  storages.resize(now.storage + to.storage - from.storage);
  std::copy_n(storages.begin() + from.storage, to.storage - from.storage, storages.begin() + now.storage);
  events.resize(now.event + to.event - from.event);
  for (std::size_t i = from.event; i < to.event; ++i) {
    Event& e = events[now.event + i - from.event];
    e = events[i];
    e.storage = static_cast<StorageId>(static_cast<std::int32_t>(e.storage) + later);
  }
  for (std::size_t i = from.mark; i < to.mark; ++i) {
    const Mark m = marks[i];
    marks.push_back({m.first + static_cast<std::int32_t>(now.event - from.event), m.phase, step});
  }
  scope.phase = marks.back().phase;
}

void Recorder::clear() {
  storages.clear();
  events.clear();
  marks.clear();
  scope = {};
  step = 0;
}

}  // namespace oomplan::estimator
