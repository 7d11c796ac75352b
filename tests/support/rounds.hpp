#pragma once

// How often a random test goes round: the sanitizers are after what each path does, and make it ten times as slow.
constexpr int rounds_of(int rounds) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return rounds / 10;
#else
  return rounds;
#endif
}
