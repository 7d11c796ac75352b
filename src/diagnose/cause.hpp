// A cause argues for itself: each file in causes/ defines the one that it is named after.
#pragma once

#include <cstdint>
#include <string>

#include "case.hpp"
#include "oomplan/diagnose/evidence.hpp"

namespace oomplan::diagnose {

namespace causes {
/// How well the cause explains the case, with its arithmetic and what speaks against it; weight 0 where it does not
/// apply.
#define OOMPLAN_ENTRY(name) Judgement name(const Case& c);
#include "registry/causes.inc"
#undef OOMPLAN_ENTRY
}  // namespace causes

/// "7.83 GiB" of the arithmetic.
std::string shown(std::int64_t bytes);
/// "33 %" of `part` in `whole`.
std::string share(std::int64_t part, std::int64_t whole);

/// The size that was refused is below zero, or 8 EiB and more: a count overflowed.
bool asks_overflowed(const Case& c);

/// Whether the root is a failed allocation on the GPU that the run did not survive.
bool is_gpu_shortage(const Case& c);
/// A hundred steps of training and more went well before; those of an evaluation are counted anew.
bool is_after_many_steps(const Case& c);
/// The request is larger than the GPU, or than this process may have.
bool request_exceeds_total(const Case& c);
/// The GPU reports clearly more free memory than was asked for, and no limit explains the refusal.
bool free_contradicts(const Case& c);
/// The card has room for the request, and a limit set for this process (a memory fraction) has none, or next to none:
/// who else is on the card does not matter.
bool refused_by_limit(const Case& c);
/// What is held of the ceiling: a limit is of what PyTorch holds, a card of what all processes do.
std::int64_t held_of_ceiling(const Case& c);
/// For whose sake the kernel killed; unknown where the line that says it is not in the log.
enum class KernelScope { cgroup, host, unknown };
KernelScope kernel_scope(const Case& c);
/// No failure is named: nothing failed, or only an exit code or what follows from another's death is told.
bool names_no_failure(const Case& c);
/// An error of a kind that is not known, which speaks of memory.
bool is_of_memory_in_unknown_words(const Case& c);
/// A failure other than of memory, in words that are known.
bool names_other_failure(const Case& c);
/// Whoever ran it says of the run as a whole that it ended with exit code 0.
bool ended_with_0(const Case& c);
/// The last word of the log is that the run finished.
bool finished_well(const Case& c);
/// The root is a line of the kernel's OOM killer.
bool is_kernel_kill(const Case& c);
/// The root says that something was killed for memory, and is no line of the kernel's.
bool is_told_kill(const Case& c);
/// All that is told is a limit that was met at some point: no line says that anything died.
bool is_only_soft(const Case& c);

}  // namespace oomplan::diagnose
