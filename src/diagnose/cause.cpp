#include "cause.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "oomplan/core/text.hpp"
#include "reader.hpp"

namespace oomplan::diagnose {
namespace {

constexpr std::int64_t mib = std::int64_t{1} << 20;

}  // namespace

std::string shown(std::int64_t bytes) { return to_text(Bytes(bytes)); }

std::string share(std::int64_t part, std::int64_t whole) {
  return fmt::format("{:.1f} %", whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0.0);
}

bool is_gpu_shortage(const Case& c) {
  if (c.root == nullptr || c.survived) return false;
  if (c.root->says == Says::memory_state) return c.root->number("ooms").value_or(0) > 0;
  return c.root->says == Says::gpu_alloc_failed && !(c.find("absurd") != nullptr && names_other_failure(c));
}

bool is_after_many_steps(const Case& c) { return c.moment.step.value_or(0) >= 100 && c.moment.phase != "evaluation"; }

bool request_exceeds_total(const Case& c) {
  const auto ceiling = c.gpu.ceiling();
  return ceiling && c.gpu.requested && *c.gpu.requested > *ceiling;
}

bool free_contradicts(const Case& c) {
  const GpuNumbers& n = c.gpu;
  return n.free && n.requested && !n.limit && !n.is_in_pieces() && *n.free - *n.requested >= 32 * mib;
}

bool asks_overflowed(const Case& c) {
  if (c.root == nullptr || c.root->says > Says::host_alloc_failed) return false;
  const std::int64_t asked = c.number("requested").value_or(0);
  return asked < 0 || asked == std::numeric_limits<std::int64_t>::max();  // what is larger is read so
}

bool refused_by_limit(const Case& c) {
  const GpuNumbers& n = c.gpu;
  if (!n.limit || !n.free || !n.requested || *n.free < *n.requested || !n.allocated) return false;
  const std::int64_t held = saturating_add(*n.allocated, n.unallocated.value_or(0));
  return saturating_add(held, *n.requested) > *n.limit - *n.limit / 50;
}

std::int64_t held_of_ceiling(const Case& c) {
  const GpuNumbers& n = c.gpu;
  if (refused_by_limit(c)) return saturating_add(*n.allocated, n.unallocated.value_or(0));
  return saturating_add(n.own(), n.listed_others);
}

KernelScope kernel_scope(const Case& c) {
  if (c.text_of("scope").find("emory cgroup") != std::string::npos) return KernelScope::cgroup;
  const std::string constraint = c.text_of("constraint");
  if (!constraint.empty()) return constraint == "CONSTRAINT_MEMCG" ? KernelScope::cgroup : KernelScope::host;
  const auto usage = c.number("usage");
  const auto limit = c.number("limit");
  if (c.find("oom_memcg") != nullptr || (usage && limit && *usage >= *limit)) return KernelScope::cgroup;
  const bool host = std::any_of(c.evidence->begin(), c.evidence->end(), [](const Evidence& e) {
    const bool said = e.text.find("Out of memory") != std::string::npos ||
                      e.text.find("Out of Memory: Kill") != std::string::npos;  // before there were cgroups
    return (e.says == Says::kernel_killed || e.says == Says::kernel_detail) && said;
  });
  const bool by_pages = c.find("traced") != nullptr && c.text_of("found_by") == "page allocator";
  return host || by_pages || c.any(Says::kernel_short) ? KernelScope::host : KernelScope::unknown;
}

bool names_other_failure(const Case& c) {
  return std::any_of(c.evidence->begin(), c.evidence->end(),
                     [](const Evidence& e) { return e.says == Says::other_failure && e.find("general") == nullptr; });
}

bool ended_with_0(const Case& c) {
  return std::ranges::any_of(*c.evidence, [](const Evidence& e) {
    return e.says == Says::launcher && e.text_of("of") == "run" &&
           e.number("exitcode").value_or(e.number("exit_code").value_or(1)) == 0;
  });
}

bool finished_well(const Case& c) {
  for (const Evidence& e : *c.evidence)
    if (e.find("finished") != nullptr) return true;
  return ended_with_0(c);
}

namespace {

// The error says itself that it is one of the program's text, or of what the platform can do.
bool names_another_reason(std::string_view text) {
  constexpr auto signs = std::to_array<std::string_view>(
      {"AttributeError: ", "ImportError: ", "IndexError: ", "KeyError: ", "ModuleNotFoundError: ", "NameError: ",
       "NotImplementedError: ", "SyntaxError: ", "TypeError: ", "not supported", "nsupported", "t support ",
       "not support ", "not implemented", "contiguous in memory", "memory format", "memory layout", "memory location"});
  return std::any_of(signs.begin(), signs.end(), [&](std::string_view sign) { return text.find(sign) != text.npos; });
}

}  // namespace

bool is_of_memory_in_unknown_words(const Case& c) {
  return c.root != nullptr && c.root->says == Says::other_failure && c.root->find("general") != nullptr &&
         speaks_of_memory(c.root->text) && !names_another_reason(c.root->text);
}

bool names_no_failure(const Case& c) {
  if (c.survived) return false;
  if (c.root == nullptr) return !finished_well(c);
  if (c.root->says == Says::consequence) return true;
  if (is_of_memory_in_unknown_words(c)) return true;
  const bool vanished = c.root->family == "dataloader_signal" || c.root->find("vanished") != nullptr;
  return c.root->says == Says::launcher && !vanished && signal_of(*c.root).empty();
}

bool is_kernel_kill(const Case& c) {
  return c.root != nullptr && (c.root->says == Says::kernel_killed || c.root->says == Says::kernel_detail);
}

bool is_told_kill(const Case& c) { return c.root != nullptr && c.root->find("told") != nullptr; }

bool is_only_soft(const Case& c) {
  if (c.root == nullptr || c.survived || c.root->find("soft") == nullptr) return false;
  return std::all_of(c.evidence->begin(), c.evidence->end(), [](const Evidence& e) {
    const bool told_beside = e.says == Says::detail || e.says == Says::setting || e.says == Says::memory_state;
    return e.find("soft") != nullptr || told_beside || e.says == Says::progress || e.says == Says::hint;
  });
}

}  // namespace oomplan::diagnose
