#include "pool.hpp"

#include <arrow/status.h>
#include <malloc.h>

#include <algorithm>
#include <string>

#include "oomplan/core/bytes.hpp"

namespace oomplan::measure {

/// Where the pool is nearly full: what malloc keeps of what was freed is no part of the limit.
void LimitedPool::free_what_malloc_keeps(std::int64_t taken) const {
  constexpr std::int64_t large = std::int64_t{1} << 20;
  if (taken >= large && held_ > limit_ / 4 * 3) ::malloc_trim(0);
}

arrow::Status LimitedPool::take(std::int64_t more, std::int64_t copied) {
  const std::int64_t held = held_.fetch_add(more) + more;
  const std::int64_t at_once = saturating_add(held, copied);
  if (at_once > limit_) {
    held_ -= more;
    refused_ = at_once;
    return arrow::Status::OutOfMemory("the budget leaves ", limit_, " bytes, and ", at_once, " are needed");
  }
  for (std::int64_t peak = peak_; at_once > peak && !peak_.compare_exchange_weak(peak, at_once);) continue;
  total_ += std::max<std::int64_t>(more, 0);
  ++count_;
  return arrow::Status::OK();
}

arrow::Status LimitedPool::Allocate(std::int64_t size, std::int64_t alignment, std::uint8_t** out) {
  if (size < 0) return arrow::Status::Invalid("a negative size");
  ARROW_RETURN_NOT_OK(take(size, 0));
  free_what_malloc_keeps(size);
  const arrow::Status status = system_->Allocate(size, alignment, out);
  if (!status.ok()) held_ -= size;
  return status;
}

arrow::Status LimitedPool::Reallocate(std::int64_t old_size, std::int64_t new_size, std::int64_t alignment,
                                      std::uint8_t** pointer) {
  if (new_size < 0) return arrow::Status::Invalid("a negative size");
  ARROW_RETURN_NOT_OK(take(new_size - old_size, std::min(old_size, new_size)));
  free_what_malloc_keeps(new_size);
  const arrow::Status status = system_->Reallocate(old_size, new_size, alignment, pointer);
  if (!status.ok()) held_ -= new_size - old_size;
  return status;
}

void LimitedPool::Free(std::uint8_t* buffer, std::int64_t size, std::int64_t alignment) {
  system_->Free(buffer, size, alignment);
  held_ -= size;
}

}  // namespace oomplan::measure
