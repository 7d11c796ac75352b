// What a log says, with the lines that say it, and what follows from it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oomplan/core/bytes.hpp"
#include "oomplan/core/join.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/diagnose/memory_account.hpp"
#include "oomplan/estimate/footprint.hpp"

namespace oomplan {

/// What one sentence testifies to. The names in rules/messages and in JSON are these.
enum class Says {
  gpu_alloc_failed,    ///< An allocation on the GPU failed, with or without numbers.
  gpu_library_failed,  ///< cuBLAS, cuDNN, NCCL could not allocate on the GPU.
  gpu_kernel_limit,    ///< One kernel asked for more shared memory, registers or threads than an SM has.
  host_alloc_failed,   ///< malloc, mmap, fork, pinned memory.
  kernel_killed,       ///< The kernel's OOM killer names its victim.
  kernel_detail,       ///< A line of the kernel's report beside that: limit, usage, constraint, task table.
  kernel_short,        ///< The kernel's report of its memory, without a kill.
  cgroup_killed,       ///< A container runtime or memory.events says that the cgroup's limit killed.
  daemon_killed,       ///< systemd-oomd, earlyoom, Ray, YARN, LSF.
  kubernetes_killed,   ///< OOMKilled, or evicted for memory.
  node_killed,         ///< Kubernetes: the node itself was out of memory.
  slurm_killed,        ///< Slurm's own record of an OOM.
  shm_full,            ///< /dev/shm, or the bus error that goes with it.
  disk_full,           ///< No space, quota, or a writer that failed.
  killed,              ///< SIGKILL (-9, 137) of an unknown sender.
  bus_error,           ///< SIGBUS without a word about shared memory.
  other_failure,       ///< A failure that is not a shortage of memory.
  consequence,         ///< What others print because the first one died.
  launcher,            ///< A launcher's summary of who died, whose cause stands elsewhere.
  harmless,            ///< Says "out of memory" but is no failure.
  caught,              ///< An out-of-memory that the program caught and handled.
  hint,                ///< Advice that mentions memory.
  detail,              ///< Numbers that belong to a failure told elsewhere.
  setting,             ///< Configuration: an environment variable, a limit.
  memory_state,        ///< How full something was at a time: memory_summary, nvidia-smi, df, free.
  progress,            ///< A step, an epoch, an evaluation, a save began or went by.
  frame,               ///< A frame of a traceback.
};
std::string_view name_of(Says says);
std::optional<Says> says_named(std::string_view name);

enum class Where { gpu, host, storage, none };
std::string_view name_of(Where where);
std::optional<Where> where_named(std::string_view name);

/// A value that a sentence holds.
struct Reading {
  enum class Kind { bytes, integer, real, text };
  std::string name{};  ///< "requested", "gpu_index".
  Kind kind = Kind::text;
  std::string text{};        ///< As printed.
  std::int64_t integer = 0;  ///< Bytes or the integer; saturated where the text says more.
  double real = 0;
  friend bool operator==(const Reading&, const Reading&) = default;
};

/// When in the case: files in the order given, then lines, then what no line of a log says. It can be compared and no
/// more, so that what stands at no line cannot be looked up among the lines.
enum class Order : std::int64_t { first = 0, after_lines = std::int64_t{1} << 60 };

/// One sentence of a log, or what a memory snapshot says.
struct Evidence {
  std::string message{};  ///< The sentence's id, "pytorch/oom-2.1".
  std::string family{};   ///< The format that it belongs to, "pt2".
  Says says = Says::detail;
  Where place = Where::none;
  std::string phase{};  ///< The phase that the sentence itself gives away; empty for most.
  Location where{};
  std::string text{};  ///< The line, cleaned, cut to a length that can be shown.
  std::vector<Reading> facts{};
  std::optional<std::int64_t> rank{};  ///< From the line's prefix.
  std::string source{};                ///< Node, container or process from the line's prefix.
  std::string time{};                  ///< As printed in the prefix.
  Order order = Order::first;
  std::optional<std::size_t> line{};  ///< Its index among the case's lines; none where no log says it.

  const Reading* find(std::string_view name) const;
  /// The first fact of that name as bytes or integer.
  std::optional<std::int64_t> number(std::string_view name) const;
  std::string text_of(std::string_view name) const;
};

enum class Cause {
  vram_exhausted,
  vram_fragmentation,
  vram_other_process,
  vram_leak_suspected,
  gpu_library_alloc,
  gpu_shared_mem_limit,
  cgroup_oom,
  global_host_oom,
  userspace_oom_daemon,
  k8s_oomkilled,
  slurm_oom,
  shm_exhausted,
  host_alloc_failed,
  disk_full,
  sigkill_unknown,
  unknown,  ///< The log names no failure, or one that may or may not be of memory.
  not_oom,
};
std::string_view name_of(Cause cause);
std::optional<Cause> cause_named(std::string_view name);

/// How sure: said in these words, with a reason.
enum class Confidence { possible, likely, proved };
std::string_view name_of(Confidence confidence);

/// A secondary finding: `id` is stable ("request_exceeds_total").
struct Finding {
  std::string id{};
  std::string text{};
  friend bool operator==(const Finding&, const Finding&) = default;
};

struct Judgement {
  Cause cause = Cause::not_oom;
  int weight = 0;  ///< Against other causes in the same case; 0 is "does not apply".
  Confidence confidence = Confidence::possible;
  std::string reason{};
  std::vector<std::string> arithmetic{};
  std::vector<std::string> against{};
};

/// When in the run.
struct Moment {
  std::string phase = "unknown";       ///< Else the name of a file of rules/moments.
  std::optional<Phase> played{};       ///< The phase of the estimator that it is, or is part of.
  bool host_memory_peaks = false;      ///< Host memory is at its highest there.
  std::string reason{};                ///< The frame or line that says so.
  Location where{};                    ///< Of that line.
  std::optional<std::int64_t> step{};  ///< The last step that the log counts before the failure.
  Location step_where{};
};

/// What a log shows of its end where it names no failure: "last line", "time", "step", "exit code", "signal", "error".
struct Shown {
  std::string what{};
  std::string text{};
  Location where{};
};

/// Something to do or to leave. A fix of the ladder changes a training plan; an action is anything else.
struct Fix {
  enum class Kind { ladder, action };
  std::string id{};
  std::string text{};
  Kind kind = Kind::action;
};

struct Diagnosis {
  bool out_of_memory = false;
  Judgement verdict{};
  Where place = Where::none;
  std::string headline{};
  Moment moment{};
  std::optional<std::int64_t> rank{};  ///< The first that failed.
  std::optional<Evidence> root{};      ///< The sentence that the verdict rests on.
  std::vector<Reading> facts{};        ///< Of the root, then of what belongs to it.
  std::vector<Evidence> supporting{};
  std::vector<Evidence> consequences{};
  std::vector<Judgement> alternatives{};
  std::vector<Finding> also{};
  std::vector<std::string> meaning{};  ///< What the moment means, and for which fix.
  std::vector<Fix> to_do{};
  std::vector<Fix> not_to_do{};
  std::vector<Shown> shows{};             ///< Where the verdict is unknown.
  std::vector<std::string> to_prove{};    ///< Commands.
  std::vector<MemoryAccount> accounts{};  ///< Of the memory snapshots in the case.
  std::optional<Join> join{};             ///< Where a config was given.
  std::int64_t lines = 0;
  std::int64_t failures = 0;  ///< Sentences that report a failure, all ranks and repetitions.
};

}  // namespace oomplan
