#include "cost.hpp"

#include <sys/resource.h>

#include "oomplan/core/sanitized.hpp"
#include "oomplan/core/text.hpp"
#include "process.hpp"

namespace oomplan::measure {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

Cost Stopwatch::cost() const {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(),
          seconds(usage.ru_utime) + seconds(usage.ru_stime), memory_of_this_process().peak_rss};
}

Diagnostics broken_promise(Bytes budget, const Cost& cost) {
#if defined(OOMPLAN_ADDRESS_SANITIZED)
  const bool ours = false;  // the sanitizer's memory is not
#else
  const bool ours = true;
#endif
  if (!ours || cost.peak_rss <= budget.count()) return {};
  return {
      {.code = "measure/broken-budget",
       .message = "the peak was " + to_text(Bytes(cost.peak_rss)) + ", more than the budget of " + to_text(budget)}};
}

}  // namespace oomplan::measure
