// PyTorch's own words for an allocation that failed, as torch 2.11 has them, with one process on GPU 0.
#include <fmt/format.h>

#include "state.hpp"

namespace oomplan::allocator {
namespace {

/// In PyTorch's units: "512 bytes", "1.00 KiB", "22.03 GiB".
std::string size_text(std::int64_t size) {
  const auto value = static_cast<double>(size);
  if (size <= kib) return fmt::format("{} bytes", size);
  if (size <= mib) return fmt::format("{:.2f} KiB", value / static_cast<double>(kib));
  if (size <= kib * mib) return fmt::format("{:.2f} MiB", value / static_cast<double>(mib));
  return fmt::format("{:.2f} GiB", value / static_cast<double>(kib * mib));
}

}  // namespace

std::string out_of_memory_message(const Machine& m, std::int64_t size) {
  if (size >= refused_from) return "CUDA out of memory. Tried to allocate more than 1EB memory.";
  const std::int64_t segment = segment_size(block_size(size, m.settings), m.settings);
  const Device& device = m.device;
  const std::int64_t allocated = m.statistics.allocated.count();
  return fmt::format(
      "CUDA out of memory. Tried to allocate {}. GPU 0 has a total capacity of {} of which {} is free. "
      "Including non-PyTorch memory, this process has {} memory in use. {}Of the allocated memory {} is allocated by "
      "PyTorch, and {} is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting "
      "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation for Memory "
      "Management  (https://docs.pytorch.org/docs/stable/notes/cuda.html#optimizing-memory-usage-with-pytorch-cuda-"
      "alloc-conf)",
      size_text(segment), size_text(device.total), size_text(device.free()), size_text(device.context + device.used),
      m.allowed ? size_text(*m.allowed) + " allowed; " : "", size_text(allocated),
      size_text(m.statistics.reserved.count() - allocated));
}

}  // namespace oomplan::allocator
