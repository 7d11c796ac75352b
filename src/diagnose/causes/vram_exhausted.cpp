#include <fmt/format.h>

#include "../cause.hpp"

namespace oomplan::diagnose {
namespace {

void argue_with_numbers(const Case& c, std::int64_t ceiling, Judgement& out) {
  const GpuNumbers& n = c.gpu;
  out.arithmetic.push_back(fmt::format("held {} + asked {} = {} against {}{}", shown(n.own()), shown(*n.requested),
                                       shown(n.own() + *n.requested), shown(ceiling),
                                       n.limit ? " allowed to this process" : " on the GPU"));
  if (n.free) out.arithmetic.push_back(fmt::format("asked {}, free {}", shown(*n.requested), shown(*n.free)));
}

void argue(const Case& c, Judgement& out) {
  const GpuNumbers& n = c.gpu;
  const auto ceiling = n.ceiling();
  if (request_exceeds_total(c)) {
    out.weight = 95;
    out.confidence = Confidence::proved;
    out.reason = "the one request is larger than all that there is";
    out.arithmetic.push_back(fmt::format("asked {} > {} in all", shown(*n.requested), shown(*ceiling)));
  } else if (n.requested && ceiling) {
    out.confidence = Confidence::proved;
    out.reason = "the allocator's own numbers say so";
    argue_with_numbers(c, *ceiling, out);
  } else {
    out.reason = "the runtime says that the GPU's memory ran out, without numbers to tell by whom";
    if (!n.requested) out.against.push_back("no numbers: another process may hold the memory");
  }
}

}  // namespace

Judgement causes::vram_exhausted(const Case& c) {
  if (!is_gpu_shortage(c)) return {};
  Judgement out{.cause = Cause::vram_exhausted, .weight = 50, .confidence = Confidence::likely};
  argue(c, out);
  if (free_contradicts(c)) {
    out.confidence = Confidence::possible;
    out.against.push_back("the GPU reports " + shown(*c.gpu.free) + " free, more than the " + shown(*c.gpu.requested) +
                          " asked for: a limit outside the allocator refused");
  }
  return out;
}

}  // namespace oomplan::diagnose
