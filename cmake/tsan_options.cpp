// Linked into whatever runs Arrow under the thread sanitizer. Arrow's libraries are not instrumented: what orders their
// threads stays unseen, and what they write for each other looks like a race. The runtime has to see it.
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() { return ""; }
