#include "heap.hpp"

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "oomplan/core/sanitized.hpp"

namespace {

constexpr std::size_t step = std::size_t{256} << 10;
constexpr std::int64_t margin = std::int64_t{2} << 20;  // what threads take between two looks

std::atomic<std::int64_t> limit{INT64_MAX};  // of resident bytes
std::atomic<bool> refused{false};
int statm = -1;
thread_local std::size_t since_look = 0;

/// The second number of /proc/self/statm, in pages; 0 where it cannot be read.
std::int64_t resident() noexcept {
  char text[64];
  const ssize_t got = ::pread(statm, text, sizeof text - 1, 0);
  std::int64_t pages = 0;
  int word = 0;
  for (ssize_t i = 0; i < got && word < 2; ++i) {
    if (text[i] == ' ') ++word;
    if (word == 1 && text[i] != ' ') pages = pages * 10 + (text[i] - '0');
  }
  return pages * ::sysconf(_SC_PAGESIZE);
}

bool passes(std::int64_t size) noexcept {
  if (resident() + size <= limit) return false;
  ::malloc_trim(0);
  return resident() + size > limit;
}

[[maybe_unused]] void look(std::size_t size) {  // not where sanitizers have their own heap
  since_look = 0;
  if (limit == INT64_MAX || !passes(static_cast<std::int64_t>(size))) return;
  refused = true;
  throw std::bad_alloc();
}

}  // namespace

#if !defined(OOMPLAN_SANITIZED)  // they have their own
void* operator new(std::size_t size) {
  since_look += size;
  if (since_look >= step) [[unlikely]]
    look(size);
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

namespace oomplan::data {

void keep_heap_within(Bytes budget) {
  statm = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  constexpr std::int64_t least = std::int64_t{8} << 20;  // where there is less, the budget is refused for what it is
  if (statm >= 0 && resident() + least < budget.count()) limit = budget.count() - margin;
}

bool heap_was_refused() { return refused; }

}  // namespace oomplan::data
