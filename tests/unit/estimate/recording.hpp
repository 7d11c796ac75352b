// What a stretch of play wrote down, for the tests of torch/ and modules/.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "torch/torch.hpp"

namespace oomplan::estimator {

/// The events of a Torch from now on.
class Watch {
 public:
  explicit Watch(const Torch& torch) : recorder_(torch.recorder), first_(torch.recorder.events.size()) {}

  /// The ops that allocated, in order.
  std::vector<std::string> made() const {
    std::vector<std::string> out;
    for (const Event& e : events()) {
      if (e.allocates) out.emplace_back(storage(e).op);
    }
    return out;
  }

  /// The bytes of what was allocated, in order.
  std::vector<std::int64_t> sizes() const {
    std::vector<std::int64_t> out;
    for (const Event& e : events()) {
      if (e.allocates) out.push_back(storage(e).bytes);
    }
    return out;
  }

  /// Of them the bytes of what kernels took for themselves.
  std::vector<std::int64_t> scratch() const {
    std::vector<std::int64_t> out;
    for (const Event& e : events()) {
      if (e.allocates && storage(e).bucket == Bucket::runtime) out.push_back(storage(e).bytes);
    }
    return out;
  }

  /// Bytes allocated less bytes freed.
  std::int64_t net() const {
    std::int64_t level = 0;
    for (const Event& e : events()) level += e.allocates ? storage(e).bytes : -storage(e).bytes;
    return level;
  }

  /// The highest that memory stood above where it began.
  std::int64_t peak() const {
    std::int64_t level = 0;
    std::int64_t highest = 0;
    for (const Event& e : events()) {
      level += e.allocates ? storage(e).bytes : -storage(e).bytes;
      highest = std::max(highest, level);
    }
    return highest;
  }

  bool nothing() const { return events().empty(); }

 private:
  std::vector<Event> events() const {
    return {recorder_.events.begin() + static_cast<std::ptrdiff_t>(first_), recorder_.events.end()};
  }
  const Storage& storage(const Event& e) const { return recorder_.storages[static_cast<std::size_t>(e.storage)]; }

  const Recorder& recorder_;
  std::size_t first_;
};

inline Bucket bucket_of(Torch& t, const Tensor& x) { return t.recorder.at(x->storage).bucket; }

/// Whether the storage still has a tensor.
inline bool alive(Torch& t, StorageId id) { return t.recorder.at(id).refs > 0; }

/// An input that asks for no gradient.
inline Tensor input(Torch& t, const Dims& sizes, DType dtype = DType::fp32) { return t.empty(sizes, dtype, "input"); }

/// A leaf that asks for one.
inline Tensor leaf(Torch& t, const Dims& sizes, DType dtype = DType::fp32) { return t.parameter(sizes, dtype, true); }

}  // namespace oomplan::estimator
