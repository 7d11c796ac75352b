#include <fmt/format.h>

#include "../cause.hpp"

namespace oomplan::diagnose {
namespace {

constexpr std::int64_t mib = std::int64_t{1} << 20;

// The sum, line by line, and what it leaves open.
void add_sum(const Case& c, std::int64_t ceiling, Judgement& out) {
  const GpuNumbers& n = c.gpu;
  const std::int64_t held = held_of_ceiling(c);
  const std::int64_t sum = saturating_add(held, *n.requested);
  if (n.listed_others > 0 && !refused_by_limit(c))
    out.arithmetic.push_back(fmt::format("{} of this process + {} of others = {} held", shown(n.own()),
                                         shown(n.listed_others), shown(held)));
  if (held > 0)
    out.arithmetic.push_back(fmt::format("held {} + asked {} = {} against {}{}", shown(held), shown(*n.requested),
                                         shown(sum), shown(ceiling),
                                         n.limit ? " allowed to this process" : " on the GPU"));
  if (n.free) out.arithmetic.push_back(fmt::format("asked {}, free {}", shown(*n.requested), shown(*n.free)));
  if (held > 0 && sum + 64 * mib < ceiling)
    out.arithmetic.push_back(fmt::format("not explained by these: {}", shown(ceiling - sum)));
}

// Proved is what the numbers alone show: the request does not fit in what is free, or over what is allowed. Who holds
// the rest is another question, and a large rest that nobody in the message holds leaves it open.
Confidence by_numbers(const Case& c, std::int64_t ceiling) {
  const GpuNumbers& n = c.gpu;
  const std::int64_t sum = saturating_add(held_of_ceiling(c), *n.requested);
  const bool over = sum + ceiling / 50 > ceiling;
  const bool no_room = n.free && *n.requested > *n.free;
  if (over) return Confidence::proved;
  if (!no_room) return Confidence::possible;
  return n.hidden() > ceiling / 10 ? Confidence::likely : Confidence::proved;
}

void argue_by_use(std::int64_t used, std::int64_t total, Judgement& out) {
  out.confidence = used > total ? Confidence::proved : Confidence::likely;
  out.reason = "the program as compiled needs more than there is";
  out.arithmetic.push_back(fmt::format("used {} of {}{}", shown(used), shown(total),
                                       used > total ? ": " + shown(used - total) + " too much" : std::string()));
}

void argue(const Case& c, Judgement& out) {
  const GpuNumbers& n = c.gpu;
  const auto ceiling = n.ceiling();
  const auto used = c.number("used");
  if (request_exceeds_total(c)) {
    out.weight = 95;
    out.confidence = Confidence::proved;
    out.reason = "the one request is larger than all that there is";
    out.arithmetic.push_back(fmt::format("asked {} > {} in all", shown(*n.requested), shown(*ceiling)));
  } else if (n.requested && ceiling) {
    out.confidence = by_numbers(c, *ceiling);
    out.reason = refused_by_limit(c) ? "the limit that is set for this process is reached, not the card's"
                                     : "the allocator's own numbers say so";
    add_sum(c, *ceiling, out);
  } else if (used && ceiling && !n.requested) {
    argue_by_use(*used, *ceiling, out);
  } else if (!n.requested && n.total && n.free && n.own_is_known) {
    const bool full = *n.free < *n.total / 10;
    out.confidence = full ? Confidence::likely : Confidence::possible;
    out.reason = "the allocator's own numbers, without how much was asked for";
    out.arithmetic.push_back(
        fmt::format("this process holds {} of {}, {} free", shown(n.own()), shown(*n.total), shown(*n.free)));
    if (!full) out.against.push_back("much is free");
  } else {
    out.reason = n.requested ? "an allocation on the GPU was refused; the message does not say how full it was"
                             : "the runtime says that the GPU's memory ran out, without numbers to tell by whom";
    if (n.requested) out.arithmetic.push_back("asked " + shown(*n.requested));
    if (!n.requested) out.against.push_back("no numbers: another process may hold the memory");
  }
}

}  // namespace

Judgement causes::vram_exhausted(const Case& c) {
  if (!is_gpu_shortage(c)) return {};
  Judgement out{.cause = Cause::vram_exhausted, .weight = 50, .confidence = Confidence::likely};
  argue(c, out);
  if (c.find("general") != nullptr) {
    out.confidence = Confidence::possible;
    out.against.push_back("the words are general, and the runtime that printed them is not known");
  }
  if (c.gpu.requested && *c.gpu.requested >= std::int64_t{1} << 50) {
    out.confidence = Confidence::possible;
    out.against.push_back("no GPU has that much: the size itself is wrong");
  }
  if (free_contradicts(c)) {
    out.confidence = Confidence::possible;
    out.against.push_back("the GPU reports " + shown(*c.gpu.free) + " free, more than the " + shown(*c.gpu.requested) +
                          " asked for: a limit outside the allocator refused");
  }
  return out;
}

}  // namespace oomplan::diagnose
