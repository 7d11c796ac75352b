// Arrow's memory, counted, and refused before it is taken where it would go past a limit.
#pragma once

#include <arrow/memory_pool.h>

#include <atomic>
#include <cstdint>

namespace oomplan::measure {

class LimitedPool final : public arrow::MemoryPool {
 public:
  explicit LimitedPool(std::int64_t limit) : limit_(limit) {}

  using arrow::MemoryPool::Allocate;
  using arrow::MemoryPool::Free;
  using arrow::MemoryPool::Reallocate;
  arrow::Status Allocate(std::int64_t size, std::int64_t alignment, std::uint8_t** out) override;
  arrow::Status Reallocate(std::int64_t old_size, std::int64_t new_size, std::int64_t alignment,
                           std::uint8_t** pointer) override;
  void Free(std::uint8_t* buffer, std::int64_t size, std::int64_t alignment) override;
  std::int64_t bytes_allocated() const override { return held_; }
  std::int64_t max_memory() const override { return peak_; }
  std::int64_t total_bytes_allocated() const override { return total_; }
  std::int64_t num_allocations() const override { return count_; }
  std::string backend_name() const override { return "limited"; }

  /// What is taken elsewhere and counts here: `more` of it, or less where it is negative.
  arrow::Status reserve(std::int64_t more) { return take(more, 0); }
  std::int64_t limit() const { return limit_; }
  /// What would have been held with the last request that was refused; 0 where none was.
  std::int64_t refused() const { return refused_; }
  void forget_refusal() { refused_ = 0; }

 private:
  /// `copied` is held beside it for a moment.
  arrow::Status take(std::int64_t more, std::int64_t copied);
  void free_what_malloc_keeps(std::int64_t taken) const;

  const std::int64_t limit_;
  arrow::MemoryPool* const system_ = arrow::system_memory_pool();
  std::atomic<std::int64_t> held_{0}, peak_{0}, total_{0}, count_{0}, refused_{0};
};

}  // namespace oomplan::measure
