// OOMPLAN_SANITIZED is defined where the program is compiled with AddressSanitizer or ThreadSanitizer, which bring a
// heap of their own and make it ten times as slow. gcc says so by macros, clang by features.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OOMPLAN_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define OOMPLAN_SANITIZED
#endif
#endif
