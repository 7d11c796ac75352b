#pragma once

#include "oomplan/core/sanitized.hpp"

// How often a random test goes round: the sanitizers are after what each path does, and make it ten times as slow.
constexpr int rounds_of(int rounds) {
#if defined(OOMPLAN_SANITIZED)
  return rounds / 10;
#else
  return rounds;
#endif
}
