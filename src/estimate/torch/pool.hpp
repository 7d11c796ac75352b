// Objects that are taken and given back many times, and keep their place in memory.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace oomplan::estimator {

template <class T>
class Pool {
 public:
  /// The object last given back, as it was then, or a new one.
  T* take() {
    if (free_.empty()) grow();
    T* object = free_.back();
    free_.pop_back();
    return object;
  }
  void give(T* object) { free_.push_back(object); }
  /// Whether everything taken was given back.
  bool whole() const { return free_.size() == chunks_.size() * chunk; }

 private:
  static constexpr std::size_t chunk = 64;

  void grow() {
    T* first = chunks_.emplace_back(std::make_unique<T[]>(chunk)).get();
    for (std::size_t i = chunk; i > 0; --i) free_.push_back(first + i - 1);
  }

  std::vector<T*> free_{};
  std::vector<std::unique_ptr<T[]>> chunks_{};
};

}  // namespace oomplan::estimator
