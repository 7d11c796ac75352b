// What is said where memory ends and no answer can be made any more.
#pragma once

namespace oomplan {

/// From now on an uncaught std::bad_alloc, before main() and in any thread too, ends the process with a message on
/// standard error and exit code 3, as cli/no-memory. All other exceptions abort it as before. Allocates nothing.
void end_with_words_where_memory_ends() noexcept;

}  // namespace oomplan
