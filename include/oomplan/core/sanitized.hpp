// Whether the program is compiled with AddressSanitizer (OOMPLAN_ADDRESS_SANITIZED) or with any sanitizer that brings a
// heap of its own and makes it ten times as slow (OOMPLAN_SANITIZED). gcc says so by macros, clang by features.
#pragma once

#if defined(__has_feature)
#define OOMPLAN_HAS_FEATURE(name) __has_feature(name)
#else
#define OOMPLAN_HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || OOMPLAN_HAS_FEATURE(address_sanitizer)
#define OOMPLAN_ADDRESS_SANITIZED
#endif
#if defined(OOMPLAN_ADDRESS_SANITIZED) || defined(__SANITIZE_THREAD__) || OOMPLAN_HAS_FEATURE(thread_sanitizer)
#define OOMPLAN_SANITIZED
#endif
#undef OOMPLAN_HAS_FEATURE
