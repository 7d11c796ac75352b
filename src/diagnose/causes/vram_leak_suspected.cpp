#include <fmt/format.h>

#include "../cause.hpp"

namespace oomplan::diagnose {

Judgement causes::vram_leak_suspected(const Case& c) {
  if (!is_gpu_shortage(c) || request_exceeds_total(c) || !c.moment.step || *c.moment.step < 100) return {};
  Judgement out{.cause = Cause::vram_leak_suspected, .weight = 20, .confidence = Confidence::possible};
  out.reason = fmt::format("it ran for {} steps before it failed", *c.moment.step);
  out.against.push_back(
      "a longer batch late in the epoch does the same; a leak shows as memory that grows from step to step");
  return out;
}

}  // namespace oomplan::diagnose
