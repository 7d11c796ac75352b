#include <fmt/format.h>

#include "../cause.hpp"

namespace oomplan::diagnose {
namespace {

constexpr std::int64_t gib = std::int64_t{1} << 30;

// XLA says how much its program needs: a small one cannot fill a card.
Judgement from_small_plan(const Case& c) {
  const std::int64_t plan = c.number("total_allocation").value_or(0);
  if (plan <= 0 || plan > gib || c.gpu.requested.value_or(gib) > gib) return {};
  Judgement out{.cause = Cause::vram_other_process, .weight = 70, .confidence = Confidence::likely};
  out.reason = "a program this small cannot fill a card: another process holds it, JAX preallocates 75 % by default";
  out.arithmetic.push_back(fmt::format("the whole program needs {}", shown(plan)));
  return out;
}

// Metal shares one memory: what is beside the allocator's buffers is other tensors of this process or other programs.
Judgement from_metal(const Case& c) {
  const GpuNumbers& n = c.gpu;
  if (!n.limit || !n.allocated || !n.requested) return {};
  const std::int64_t others = n.listed_others;
  if (others < std::max(*n.requested, *n.limit / 4) || others <= *n.allocated) return {};
  Judgement out{.cause = Cause::vram_other_process, .weight = 70, .confidence = Confidence::possible};
  out.reason = "most of what Metal counts is not the allocator's";
  out.arithmetic.push_back(fmt::format("{} of other allocations, {} of PyTorch's, {} allowed", shown(others),
                                       shown(*n.allocated), shown(*n.limit)));
  out.against.push_back("it may be this process outside PyTorch's allocator");
  return out;
}

// A server that compares its cards when it starts says whose they are.
Judgement from_server() {
  Judgement out{.cause = Cause::vram_other_process, .weight = 70, .confidence = Confidence::likely};
  out.reason = "the server found less free memory on one card than on the others when it started";
  out.against.push_back("cards of different sizes are told in the same words");
  return out;
}

}  // namespace

Judgement causes::vram_other_process(const Case& c) {
  const GpuNumbers& n = c.gpu;
  if (!is_gpu_shortage(c) || refused_by_limit(c)) return {};
  if (c.find("others_hold") != nullptr) return from_server();
  if (c.root->family == "xla") return from_small_plan(c);
  if (c.root->family == "mps") return from_metal(c);
  if (request_exceeds_total(c) || !n.total || !n.own_is_known) return {};
  const std::int64_t others = n.listed_others + n.hidden();
  if (!n.requested && (!n.free || others < *n.total / 2)) return {};
  const std::int64_t requested = n.requested.value_or(0);
  const bool starts = c.find("holds_nothing") != nullptr;  // and its whole need is what it asks for
  const std::int64_t missing = starts ? requested - n.free.value_or(0) : requested;
  const bool enough = others >= std::max(missing, *n.total / 4);
  const bool small = starts ? requested <= *n.total : (n.own() + requested) * 4 <= *n.total * 3;
  if (!enough || (!small && others * 10 < *n.total * 2)) return {};
  Judgement out{.cause = Cause::vram_other_process, .weight = small ? 70 : 30};
  out.confidence = n.listed_others > 0 && n.listed_others * 2 > others ? Confidence::proved : Confidence::likely;
  // Those that are listed may be this process under another number, or hold what others hold too.
  const bool adds_up = saturating_add(n.own(), n.listed_others) <= *n.total - n.free.value_or(0) + *n.total / 50;
  if (!adds_up) {
    out.confidence = Confidence::possible;
    out.against.push_back("the log's numbers come to more than the card has: a process that it lists may be this one");
  }
  out.reason =
      n.listed_others > 0 ? "the message lists who else holds memory" : "most of the GPU is held by nobody in this log";
  if (adds_up)
    out.arithmetic.push_back(fmt::format("{} in all - {} free - {} of this process = {} held by others",
                                         shown(*n.total), shown(n.free.value_or(0)), shown(n.own()), shown(others)));
  if (!n.requested) {
    out.confidence = Confidence::possible;
    out.against.push_back("the log does not say how much was asked for");
  }
  if (!small) out.against.push_back("this process itself holds most of the GPU");
  if (n.listed_others == 0)
    out.against.push_back("the log does not name the holder; it may be this process outside PyTorch");
  return out;
}

}  // namespace oomplan::diagnose
