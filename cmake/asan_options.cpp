// Linked into whatever runs Arrow under the address sanitizer. Arrow's libraries are not instrumented: a std::vector
// that grows there and is read here looks overrun to this one check. Freed memory is kept back only a little, or it
// would be more than any budget. The runtime is a library of its own, so what it calls has to be visible to it.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "detect_container_overflow=0:quarantine_size_mb=8"; }
