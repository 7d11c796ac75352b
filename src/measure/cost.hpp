// What this process took so far.
#pragma once

#include <chrono>

#include "oomplan/measure/measure.hpp"

namespace oomplan::measure {

class Stopwatch {
 public:
  Cost cost() const;

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// Our own bug, where the promise was not kept; nothing where it was.
Diagnostics broken_promise(Bytes budget, const Cost& cost);

}  // namespace oomplan::measure
