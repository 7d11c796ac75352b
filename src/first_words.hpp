// Before the libraries of a program begin: what is said where they find no memory.
#pragma once

#include "oomplan/last_words.hpp"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // theirs is not set up so early
namespace {
// An entry of the program's own, which the loader calls before any library's initialisers.
__attribute__((section(".preinit_array"),
               used)) void (*const first_words)() = oomplan::end_with_words_where_memory_ends;
}  // namespace
#endif
