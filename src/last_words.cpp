#include "last_words.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>

#include "oomplan/core/sanitized.hpp"

namespace oomplan {
namespace {

std::terminate_handler before = nullptr;

/// With nothing allocated, and nothing run at the exit.
[[noreturn]] void end_without_memory() {
  std::fputs("error: the system has no more memory [cli/no-memory]\n", stderr);
  std::_Exit(3);
}

[[noreturn]] void last_words() {
  if (std::current_exception() != nullptr) {
    try {
      throw;
    } catch (const std::bad_alloc&) {
      end_without_memory();
    } catch (...) {
    }
  }
  if (before != nullptr) before();
  std::abort();
}

// With sanitizers theirs is not set up so early; macOS has no such place, and main() is early enough.
#if defined(__ELF__) && !defined(OOMPLAN_SANITIZED)
// An entry of the program's own, which the loader calls before any library's initialisers.
__attribute__((section(".preinit_array"), used)) void (*const first_words)() = end_with_words_where_memory_ends;
#endif

}  // namespace

void end_with_words_where_memory_ends() noexcept {
  const std::terminate_handler old = std::set_terminate(last_words);
  if (old != last_words) before = old;
}

}  // namespace oomplan
