#include <fmt/format.h>

#include "../cause.hpp"

namespace oomplan::diagnose {
namespace {

// A table without the request: fragmentation where a quarter of what is held is not in use.
Judgement from_summary(const Case& c) {
  const std::int64_t reserved = c.number("reserved").value_or(0);
  if (reserved <= 0 || *c.gpu.unallocated * 4 < reserved) return {};
  Judgement out{.cause = Cause::vram_fragmentation, .weight = 60, .confidence = Confidence::likely};
  out.reason = "much of what PyTorch holds is not allocated, and yet an allocation failed";
  out.arithmetic.push_back(fmt::format("reserved {} - allocated {} = {} held but unused, {}", shown(reserved),
                                       shown(c.gpu.allocated.value_or(0)), shown(*c.gpu.unallocated),
                                       share(*c.gpu.unallocated, reserved)));
  return out;
}

// An allocator that prints its largest hole beside what is free in all.
Judgement from_largest(const Case& c) {
  Judgement out{.cause = Cause::vram_fragmentation, .weight = 80, .confidence = Confidence::proved};
  out.reason = "as much as was asked for is free, but not in one piece";
  out.arithmetic.push_back(fmt::format("free {} >= asked {}, the largest piece {}", shown(*c.gpu.free),
                                       shown(*c.gpu.requested), shown(*c.gpu.largest_free)));
  return out;
}

}  // namespace

Judgement causes::vram_fragmentation(const Case& c) {
  const GpuNumbers& n = c.gpu;
  if (!is_gpu_shortage(c) || request_exceeds_total(c)) return {};
  if (n.is_in_pieces()) return from_largest(c);
  if (!n.unallocated) return {};
  if (c.root->says == Says::memory_state) return from_summary(c);
  const auto ceiling = n.ceiling();
  if (!n.requested || !ceiling || *n.unallocated < *n.requested || *n.unallocated * 20 < *ceiling) return {};
  const bool large = *n.unallocated * 10 >= *ceiling;
  const bool lent =
      n.allocated && *n.allocated > *ceiling;  // Windows lends from RAM: the holes need not be on the card
  if (lent && !large) return {};
  const bool many = *n.unallocated / 16 >= *n.requested;  // then a hole of that size is hard to lack by chance
  Judgement out{.cause = Cause::vram_fragmentation, .weight = large ? 80 : free_contradicts(c) && many ? 60 : 51};
  out.confidence = large ? Confidence::proved : Confidence::possible;
  out.reason = "PyTorch holds enough unallocated memory for the request, but not in one piece";
  out.arithmetic.push_back(fmt::format("reserved but unallocated {} >= asked {}, and {} of {}", shown(*n.unallocated),
                                       shown(*n.requested), share(*n.unallocated, *ceiling), shown(*ceiling)));
  if (!large) out.against.push_back("under 10 % of the GPU is unallocated: the card is nearly full as well");
  return out;
}

}  // namespace oomplan::diagnose
