// Writes down every allocation and free of a played run, in order.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "dims.hpp"
#include "oomplan/core/dtype.hpp"
#include "oomplan/estimate/footprint.hpp"

namespace oomplan::estimator {

/// The index of a storage in Recorder::storages.
enum class StorageId : std::int32_t { none = -1 };

/// How a parameter came by a storage that it holds as its gradient.
enum class HeldAs : std::uint8_t { nothing, gradient_taken, gradient_made };

/// One storage: what the caching allocator hands out for a tensor and those that share its memory.
struct Storage {
  std::int64_t bytes = 0;  ///< Rounded up to 512, as the CUDA caching allocator does.
  const char* op = "";
  std::int32_t module = -1;  ///< Index into the modules' names; -1 outside any.
  std::int16_t layer = -1;
  Phase born = Phase::load;
  Bucket bucket = Bucket::temporaries;
  DType dtype = DType::fp32;
  HeldAs held = HeldAs::nothing;
  std::uint8_t stream = 0;
  Bucket otherwise = Bucket::temporaries;  ///< Of a gradient taken: its bucket, had it not been.
  std::int32_t refs = 0;
  Dims shape{};
};

/// Whether it is a tensor in the allocator's pool.
constexpr bool is_tensor(const Storage& storage) {
  return storage.bucket != Bucket::paged && storage.bucket != Bucket::runtime;
}

/// An allocation or a free. `layer` is the block at work, which for a free need not be the storage's own.
struct Event {
  StorageId storage = StorageId::none;
  std::int16_t layer = -1;
  bool allocates = false;
};

/// Events from `first` on belong to this phase of this step.
struct Mark {
  std::int32_t first = 0;
  Phase phase = Phase::load;
  int step = 0;
};

/// What is at work now; goes into each storage born.
struct Scope {
  std::int16_t layer = -1;
  std::int32_t module = -1;
  Phase phase = Phase::load;
  Bucket bucket = Bucket::temporaries;  ///< Of what is born here and not known to be something else.
  std::uint8_t stream = 0;              ///< CUDA's current one; the allocator keeps the memory of each apart.
};

/// What the allocator gives for a tensor: whole blocks of 512.
std::int64_t storage_bytes(const Dims& shape, DType dtype);

class Recorder {
 public:
  StorageId allocate(const Dims& shape, DType dtype, const char* op);
  void retain(StorageId id) { ++at(id).refs; }
  void release(StorageId id) {
    Storage& s = at(id);
    if (--s.refs > 1) return;
    if (s.refs == 1 ? s.held == HeldAs::gradient_taken : id < first_unheard_) let_go(id);
  }
  Storage& at(StorageId id) { return storages[static_cast<std::size_t>(id)]; }
  const Storage& at(StorageId id) const { return storages[static_cast<std::size_t>(id)]; }
  /// A phase of the step at hand begins.
  void mark(Phase phase);
  /// The loss is a phase of its own where the forward pass is one.
  void begin_loss() {
    if (scope.phase == Phase::forward) mark(Phase::loss);
  }
  /// torch.cuda.empty_cache(): of what is allocated it changes nothing.
  void empty_cache() { emptied.push_back(static_cast<std::int32_t>(events.size())); }

  /// A product of matrices, its result allocated: each thread's first makes a cuBLAS handle. Backward has a thread of
  /// its own.
  void multiply();
  /// Whether no handle is made yet for the thread that runs this phase.
  bool awaits_handle() const { return !multiplied_[scope.phase == Phase::backward ? 1 : 0]; }

  /// What is allocated until unmute() is not written down; all of it is gone by then.
  void mute() { first_unheard_ = static_cast<StorageId>(storages.size()); }
  void unmute();
  bool muted() const { return first_unheard_ != all_heard; }

  /// A parameter that had no gradient holds the storage as its own from now on.
  void hold_gradient(StorageId id, HeldAs how);

  /// A place in what is written.
  struct Position {
    std::size_t event = 0;
    std::size_t storage = 0;
    std::size_t mark = 0;
    std::size_t spare = 0;
    std::size_t emptied = 0;
  };
  Position position() const { return {events.size(), storages.size(), marks.size(), spare_.size(), emptied.size()}; }
  /// Writes down what stands in [from, to) again, with storages of its own, as of the step at hand; `accumulates`: as
  /// it would be had every parameter had its gradient before.
  void repeat(const Position& from, const Position& to, bool accumulates);
  /// Nothing is written and nothing at work.
  void clear();

  std::vector<Storage> storages{};
  std::vector<Event> events{};
  std::vector<Mark> marks{};
  std::vector<std::int32_t> emptied{};  ///< The events before which the cache is emptied.
  std::vector<std::int32_t> handles{};  ///< The events before which cuBLAS handles are made.
  Scope scope{};
  int step = 0;  ///< From 1; 0 while loading.

 private:
  static constexpr auto all_heard = StorageId{std::numeric_limits<std::int32_t>::max()};
  /// A gradient that only its parameter still holds: had the parameter had one before, this would be freed here.
  struct Spare {
    std::size_t event = 0;  ///< Before this one.
    StorageId storage = StorageId::none;
    std::int16_t layer = -1;
  };

  void let_go(StorageId id);

  StorageId first_unheard_ = all_heard;
  std::array<bool, 2> multiplied_{};  ///< In the main thread, in backward's.
  std::vector<Spare> spare_{};
};

}  // namespace oomplan::estimator
