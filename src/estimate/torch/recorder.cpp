#include "torch/recorder.hpp"

#include <algorithm>
#include <utility>

namespace oomplan::estimator {

std::int64_t storage_bytes(const Dims& shape, DType dtype) {
  return Bytes(saturating_mul(shape.product(), bytes_of(dtype))).rounded_up(512).count();
}

StorageId Recorder::allocate(const Dims& shape, DType dtype, const char* op) {
  const auto id = static_cast<StorageId>(storages.size());
  Storage& s = storages.emplace_back();
  s.bytes = storage_bytes(shape, dtype);
  s.op = op;
  s.module = scope.module;
  s.layer = scope.layer;
  s.born = scope.phase;
  s.bucket = scope.bucket;
  s.dtype = dtype;
  s.stream = scope.stream;
  s.refs = 1;
  s.shape = shape;
  if (first_unheard_ == all_heard) events.push_back({id, scope.layer, true});
  return id;
}

void Recorder::mark(Phase phase) {
  scope.phase = phase;
  marks.push_back({static_cast<std::int32_t>(events.size()), phase, step});
}

void Recorder::multiply() {
  bool& multiplied = multiplied_[scope.phase == Phase::backward ? 1 : 0];
  if (multiplied || first_unheard_ != all_heard) return;
  multiplied = true;
  handles.push_back(static_cast<std::int32_t>(events.size()));
}

void Recorder::unmute() {
  if (first_unheard_ != all_heard) storages.resize(static_cast<std::size_t>(first_unheard_));
  first_unheard_ = all_heard;
}

void Recorder::let_go(StorageId id) {
  if (at(id).refs == 0) {
    events.push_back({id, scope.layer, false});
  } else {
    spare_.push_back({events.size(), id, scope.layer});
  }
}

void Recorder::hold_gradient(StorageId id, HeldAs how) {
  Storage& s = at(id);
  s.held = how;
  s.otherwise = std::exchange(s.bucket, Bucket::gradients);
}

void Recorder::repeat(const Position& from, const Position& to, bool accumulates) {
  std::vector<StorageId> renamed(to.storage - from.storage, StorageId::none);
  const auto name = [&](StorageId id) -> StorageId& { return renamed[static_cast<std::size_t>(id) - from.storage]; };
  // None moves while another is made after it.
  const std::size_t enough = storages.size() + renamed.size();
  if (enough > storages.capacity()) storages.reserve(std::max(enough, 2 * storages.capacity()));
  std::size_t mark = from.mark;
  std::size_t spare = from.spare;
  std::size_t empty = from.emptied;
  for (std::size_t i = from.event; i <= to.event; ++i) {
    for (; accumulates && spare < to.spare && spare_[spare].event == i; ++spare) {
      events.push_back({name(spare_[spare].storage), spare_[spare].layer, false});
    }
    for (; empty < to.emptied && emptied[empty] == static_cast<std::int32_t>(i); ++empty) empty_cache();
    for (; mark < to.mark && marks[mark].first == static_cast<std::int32_t>(i); ++mark) this->mark(marks[mark].phase);
    if (i == to.event) break;
    Event e = events[i];
    StorageId& storage = name(e.storage);
    if (e.allocates) {
      if (accumulates && at(e.storage).held == HeldAs::gradient_made) continue;
      storage = static_cast<StorageId>(storages.size());
      Storage& copy = storages.emplace_back(at(e.storage));
      if (accumulates && copy.held == HeldAs::gradient_taken) copy.bucket = copy.otherwise;
      if (accumulates) copy.held = HeldAs::nothing;
      copy.refs = 0;
    }
    e.storage = storage;
    events.push_back(e);
  }
}

void Recorder::clear() {
  storages.clear();
  events.clear();
  marks.clear();
  emptied.clear();
  handles.clear();
  multiplied_ = {};
  spare_.clear();
  scope = {};
  step = 0;
}

}  // namespace oomplan::estimator
