#include <algorithm>

#include "case.hpp"

namespace oomplan::diagnose {
namespace {

constexpr std::int64_t no_limit = std::int64_t{1} << 60;  // cudaMallocAsync prints 2^64 for "none"
constexpr std::int64_t gib = std::int64_t{1} << 30;

std::optional<std::int64_t> bytes(const std::vector<Reading>& facts, std::string_view name) {
  for (const Reading& fact : facts)
    if (fact.name == name && fact.kind == Reading::Kind::bytes) return fact.integer;
  return std::nullopt;
}

bool has(const std::vector<Reading>& facts, std::string_view name) {
  return std::any_of(facts.begin(), facts.end(), [&](const Reading& fact) { return fact.name == name; });
}

std::optional<std::int64_t> unallocated_in(const std::vector<Reading>& facts, std::optional<std::int64_t> allocated) {
  if (const auto told = bytes(facts, "reserved_unallocated")) return told;
  if (const auto cached = bytes(facts, "cached")) return cached;
  const auto reserved = bytes(facts, "reserved");
  if (reserved && allocated) return std::max<std::int64_t>(0, *reserved - *allocated);
  return std::nullopt;
}

// NVML says nearly 2^64 of a process whose memory it does not know.
bool is_no_size(std::int64_t bytes, const GpuNumbers& of) { return of.total && bytes / 2 > *of.total; }

// A container sees its own process under another number, and then the message has no "this process" clause.
void add_others(const std::vector<Reading>& facts, GpuNumbers& out) {
  std::int64_t count = 0;
  for (const Reading& fact : facts) {
    if (fact.name != "other_bytes" || is_no_size(fact.integer, out)) continue;
    out.listed_others = saturating_add(out.listed_others, fact.integer);
    ++count;
  }
  // Metal counts what it holds beside the allocator's buffers.
  if (const auto beside = bytes(facts, "other_allocations")) {
    out.listed_others = saturating_add(out.listed_others, *beside);
    return;
  }
  if (count != 1 || out.process || !out.allocated) return;
  const std::int64_t pytorch = *out.allocated + out.unallocated.value_or(0);
  const std::int64_t beside = out.listed_others - pytorch;
  out.listed_is_self = beside > -gib / 8 && beside < std::max(2 * gib, pytorch / 16);
  if (!out.listed_is_self) return;
  out.process = out.listed_others;
  out.listed_others = 0;
}

}  // namespace

std::int64_t GpuNumbers::own() const { return process.value_or(allocated.value_or(0) + unallocated.value_or(0)); }

std::optional<std::int64_t> GpuNumbers::ceiling() const {
  if (total && limit) return std::min(*total, *limit);
  return total ? total : limit;
}

std::int64_t GpuNumbers::hidden() const {
  if (!total || !free) return 0;
  return std::max<std::int64_t>(0, *total - *free - own() - listed_others);
}

bool GpuNumbers::is_in_pieces() const {
  return requested && free && largest_free && *free >= *requested && *largest_free < *requested;
}

GpuNumbers gpu_numbers(const std::vector<Reading>& facts) {
  GpuNumbers out;
  out.requested = bytes(facts, "requested");
  out.total = bytes(facts, "total");
  out.limit = bytes(facts, "limit");
  if (out.limit && *out.limit >= no_limit) out.limit.reset();
  out.free = bytes(facts, "free");
  out.largest_free = bytes(facts, "largest_free");
  out.allocated = bytes(facts, "allocated");
  if (!out.allocated) out.allocated = bytes(facts, "in_use");
  out.unallocated = unallocated_in(facts, out.allocated);
  out.process = bytes(facts, "process_in_use");
  // Where NVML does not see the process, PyTorch prints that it has 0 bytes.
  const bool nothing = out.process == 0 && out.allocated.value_or(0) > 0;
  const bool unseen = out.process && (nothing || is_no_size(*out.process, out));
  if (unseen) out.process.reset();
  out.own_is_known = out.allocated || out.process || has(facts, "holds_nothing");
  add_others(facts, out);
  return out;
}

}  // namespace oomplan::diagnose
