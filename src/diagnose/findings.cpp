#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cause.hpp"
#include "judge.hpp"
#include "line.hpp"
#include "other_kills.hpp"
#include "series.hpp"
#include "trials.hpp"
#include "wording.hpp"

namespace oomplan::diagnose {
namespace {

constexpr std::int64_t gib = std::int64_t{1} << 30;

using Findings = std::vector<Finding>;

// What is held and asked is at most three quarters of the card.
bool is_over_four_gib_on_a_free_xpu(const Case& c) {
  const GpuNumbers& n = c.gpu;
  return c.text_of("platform") == "XPU" && n.requested && n.total && n.allocated && *n.requested >= 4 * gib &&
         saturating_add(n.own(), *n.requested) <= *n.total - *n.total / 4;
}

void about_request(const Case& c, Findings& out) {
  const GpuNumbers& n = c.gpu;
  if (request_exceeds_total(c))
    out.push_back(
        {"request_exceeds_total",
         fmt::format("the one request of {} is more than the {} that there is: neither an allocator's setting nor "
                     "other processes matter; look for a shape that grew (length squared, a whole dataset)",
                     shown(*n.requested), shown(*n.ceiling()))});
  if (free_contradicts(c))
    out.push_back({"free_exceeds_request",
                   fmt::format("the numbers contradict each other: {} free for a request of {}. A limit outside the "
                               "allocator refused: the commit limit (Windows), MIG, a driver that reports free wrongly "
                               "(WDDM, ROCm), the number of mappings, ulimit -v",
                               shown(*n.free), shown(*n.requested))});
  if (refused_by_limit(c) && c.root->family != "mps" && c.find("per_allocation_limit") == nullptr)
    out.push_back({"per_process_limit",
                   "this process is limited to " + shown(*n.limit) + " (a memory fraction), not by the card"});
  if (c.find("per_allocation_limit") != nullptr)
    out.push_back({"per_allocation_limit", "the driver limits one allocation, whatever is free"});
  else if (is_over_four_gib_on_a_free_xpu(c))
    out.push_back({"per_allocation_limit",
                   "there is room for it, but Intel's driver refuses one allocation of 4 GiB and more unless relaxed "
                   "limits are asked for"});
  if (asks_overflowed(c))
    out.push_back({"absurd_request", "the size is negative, or 8 EiB and more: a count overflowed in the program"});
  else if (c.root->says == Says::host_alloc_failed && c.number("requested").value_or(0) > std::int64_t{1} << 42)
    out.push_back({"absurd_request", "no host has that much: the size is wrong, not the memory short"});
}

// Where they hold so much that the verdict is of them, this says nothing new.
void about_others(const Case& c, Findings& out) {
  const GpuNumbers& n = c.gpu;
  if (refused_by_limit(c) || request_exceeds_total(c) || !n.requested || !n.free || *n.requested <= *n.free) return;
  const std::int64_t missing = *n.requested - *n.free;
  if (n.listed_others < missing || causes::vram_other_process(c).weight > causes::vram_exhausted(c).weight) return;
  out.push_back({"others_hold_enough", fmt::format("{} of other processes that the message lists are as much as was "
                                                   "missing, {}",
                                                   shown(n.listed_others), shown(missing))});
}

void about_holders(const Case& c, Findings& out) {
  const GpuNumbers& n = c.gpu;
  if (n.listed_is_self)
    out.push_back({"listed_process_is_self",
                   "the process that the message lists is this one, seen through a container's PID namespace"});
  if (n.process && n.allocated && *n.process - *n.allocated - n.unallocated.value_or(0) >= 3 * gib / 2)
    out.push_back({"non_pytorch_memory_in_process",
                   shown(*n.process - *n.allocated - n.unallocated.value_or(0)) +
                       " of this process are outside PyTorch: CUDA's context, NCCL, cuBLAS, other libraries"});
  if (n.total && n.allocated && *n.allocated > *n.total)
    out.push_back({"allocated_exceeds_total",
                   "more is allocated than the card has: Windows puts the rest into shared GPU memory in RAM, slowly"});
  if (n.total && n.hidden() * 10 > *n.total)
    out.push_back({"unaccounted_memory", shown(n.hidden()) + " of the GPU are held by nobody that the message names"});
}

// Every rank that did not set its device works on GPU 0.
void about_ranks(const Case& c, Findings& out) {
  const auto gpu = c.number("gpu_index");
  if (c.root->rank && gpu && *gpu == 0 && *c.root->rank != 0 && c.gpu.hidden() > c.gpu.own())
    out.push_back(
        {"rank_gpu_mismatch",
         fmt::format("rank {} is on GPU 0: ranks that do not set their device (torch.cuda.set_device(local_rank)) "
                     "all load onto the first",
                     *c.root->rank)});
}

void about_settings(const Case& c, Findings& out) {
  for (const Evidence& e : *c.evidence) {
    if (e.says != Says::setting || e.find("alloc_conf") == nullptr) continue;
    out.push_back({"allocator_conf_already_set", "the allocator was already configured: " + e.text_of("alloc_conf")});
    break;
  }
}

void about_kernel(const Case& c, Findings& out) {
  if (!is_kernel_kill(c)) return;
  const std::string invoker = c.text_of("invoker");
  if (!invoker.empty() && invoker != c.text_of("comm"))
    out.push_back({"invoker_not_victim",
                   invoker + " asked for the page that was not there; " + c.text_of("comm") + " was killed"});
  const auto rss = c.number("anon_rss");
  if (rss && *rss < 64 * (gib / 1024))
    out.push_back({"victim_not_culprit",
                   "the victim held only " + shown(*rss) + ": another process, or the kernel, used the memory"});
}

// Of nvidia-smi's table: how full each GPU was.
struct GpuRow {
  std::int64_t gpu = 0;
  std::int64_t used = 0;
  std::int64_t total = 0;
};

std::vector<GpuRow> gpu_rows(const Case& c) {
  std::vector<GpuRow> out;
  std::optional<std::int64_t> gpu;
  for (const Evidence& e : *c.evidence) {
    if (e.family != "nvidia_smi") continue;
    if (const auto row = e.number("gpu_row")) gpu = row;
    const auto used = e.number("gpu_used");
    const auto total = e.number("gpu_total");
    if (gpu && used && total) out.push_back({*std::exchange(gpu, std::nullopt), *used, *total});
  }
  return out;
}

void about_free_gpus(const Case& c, Findings& out) {
  const std::vector<GpuRow> rows = gpu_rows(c);
  const auto failed = std::ranges::find_if(rows, [&](const GpuRow& r) { return r.gpu == c.number("gpu_index"); });
  if (failed == rows.end() || failed->used < failed->total / 2) return;
  const auto idle = std::ranges::find_if(rows, [](const GpuRow& r) { return r.used <= r.total / 10; });
  if (idle == rows.end()) return;
  out.push_back(
      {"free_gpu_beside", fmt::format("GPU {} has {} of {} free in nvidia-smi's table, beside GPU {}, which has {}",
                                      idle->gpu, shown(idle->total - idle->used), shown(idle->total), failed->gpu,
                                      shown(failed->total - failed->used))});
}

// What expandable segments give is many mappings, and what registers or shares memory wants one.
void about_registration(const Case& c, Findings& out) {
  const bool failed =
      std::ranges::any_of(*c.evidence, [](const Evidence& e) { return e.find("registers") != nullptr; });
  const bool of_segments = std::ranges::any_of(*c.evidence, [](const Evidence& e) {
    return e.find("of_segments") != nullptr ||
           e.text_of("alloc_conf").find("expandable_segments:True") != std::string::npos;
  });
  if (failed && of_segments)
    out.push_back({"segments_not_registered",
                   "expandable_segments is on, whose memory NCCL, CUDA IPC, RDMA and memory pools cannot register or "
                   "share as one piece: that failed, and memory was not short"});
}

// What PyTorch reserves is what its cache keeps too.
void about_growth(const Case& c, Findings& out) {
  if (const Series rss = memory_series(c, "step_rss"); c.root->place == Where::host && grows(rss))
    out.push_back({"host_memory_grows", "the host memory that the run printed grew from each print to the next, " +
                                            ends_of(rss) + ": what is kept of each step, or by each worker"});
  const Series reserved = memory_series(c, "step_reserved");
  if (!is_gpu_shortage(c) || !grows(reserved) || grows(memory_series(c, "step_peak"))) return;
  const Series allocated = memory_series(c, "step_memory");
  if (allocated.points.empty())
    out.push_back({"reserved_grows", "what PyTorch reserved grew, " + ends_of(reserved) +
                                         ": its cache keeps what batches of new sizes freed, so that this alone is no "
                                         "sign of a leak; torch.cuda.memory_allocated() would tell"});
  else if (!grows(allocated))
    out.push_back({"reserved_grows", "what PyTorch reserved grew, " + ends_of(reserved) +
                                         ", and what is allocated did not: no leak, but blocks of ever new sizes"});
}

bool has_optimizer_state(const Case& c) {
  const Phrases& without = list_of(*c.wordings, Wording::has_no_optimizer_state);
  return std::ranges::none_of(*c.lines, [&](const Line& line) { return without.are_in(line.body); });
}

void about_steps(const Case& c, Findings& out) {
  if (!is_gpu_shortage(c)) return;
  if (is_after_many_steps(c))
    out.push_back({"late_step", fmt::format("{} steps went well before: look at the longest batch, then at what grows",
                                            *c.moment.step)});
  const auto played = c.moment.played;
  const bool is_first_epoch = std::ranges::none_of(
      *c.evidence, [](const Evidence& e) { return e.says == Says::progress && e.number("step").value_or(0) > 1; });
  const bool trains = played == Phase::forward || played == Phase::loss || played == Phase::backward;
  if (c.moment.step == 1 && trains && is_first_epoch && has_optimizer_state(c))
    out.push_back({"second_step",
                   "the first step went well, and the second did not: the optimizer made its state in between, which "
                   "stays"});
}

// The host's log, beside a run that tells its own end.
void about_other_kills(const Case& c, Findings& out) {
  const auto killed = std::ranges::find_if(*c.evidence, [&](const Evidence& e) {
    return is_kill_on_host(*c.wordings, e) && e.says != Says::kernel_detail && e.find("quoted") == nullptr;
  });
  if (killed == c.evidence->end()) return;
  if (c.root != nullptr && (is_kill_on_host(*c.wordings, *c.root) || c.root->says == Says::killed)) return;
  if (c.root != nullptr && c.root->where.file == killed->where.file) return;
  const std::string comm = killed->text_of("comm");
  out.push_back(
      {"other_process_killed", (comm.empty() ? "a process" : comm) +
                                   " was killed for memory on this host, which no line connects with this run's end: " +
                                   killed->where.file + ":" + std::to_string(killed->where.line)});
}

}  // namespace

std::vector<Finding> findings(const Case& c) {
  Findings out;
  about_other_kills(c, out);
  if (const std::optional<Finding> trials = batch_trials(c)) out.push_back(*trials);
  if (c.root == nullptr) return out;
  if (c.survived || c.any(Says::caught)) out.push_back({"oom_caught", "the program catches out-of-memory errors"});
  if (c.root->place == Where::gpu) about_request(c, out);
  if (c.root->says == Says::host_alloc_failed) about_request(c, out);
  if (c.root->place == Where::gpu) about_holders(c, out);
  if (c.root->place == Where::gpu) about_others(c, out);
  about_ranks(c, out);
  about_settings(c, out);
  about_kernel(c, out);
  about_free_gpus(c, out);
  about_registration(c, out);
  about_steps(c, out);
  about_growth(c, out);
  return out;
}

}  // namespace oomplan::diagnose
