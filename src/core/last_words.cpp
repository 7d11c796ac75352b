#include "oomplan/last_words.hpp"

#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>

namespace oomplan {
namespace {

std::terminate_handler before = nullptr;

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

}  // namespace

void end_with_words_where_memory_ends() noexcept {
  const std::terminate_handler old = std::set_terminate(last_words);
  if (old != last_words) before = old;
}

void end_without_memory() noexcept {
  constexpr std::string_view words = "error: the system has no more memory [cli/no-memory]\n";
  static_cast<void>(!::write(STDERR_FILENO, words.data(), words.size()));
  ::_exit(3);
}

}  // namespace oomplan
